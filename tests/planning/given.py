"""Where a run stands: a definition, and the messages that brought the run there, folded as they would be in a store.

A row of a test says `given(PROGRAM, started(), done(0))`; its test asks for the state. Rules that are looked at between
two decisions of one message get the state right there, with `before(...)` or `at(...)`.
"""

from collections.abc import Iterator

import msgspec
import yaml

from jeton.actor.advance import LiveRun, advance
from jeton.apply.draft import Draft
from jeton.apply.fold import fold
from jeton.definitions import library_from
from jeton.model import decision as d
from jeton.model.failure import TaskFailed
from jeton.model.ids import GroupId, RunId, SlotId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import Message, StartRun, TaskFinished
from jeton.model.state.phase import Pending
from jeton.model.state.run import Head, RunState, Token
from jeton.planning.program.compile import compile_definition
from jeton.planning.program.workflow import Program

RUN = RunId("r")
TIMEOUT_MS = 1000
RETRY: JsonObject = {"max_attempts": 3, "backoff": "linear", "initial_delay_ms": 5}
MOCK: JsonObject = {"kind": "mock"}
TASKS: JsonObject = {
    "work": {"timeout_ms": TIMEOUT_MS, "steps": [{"ref": "s", "action": MOCK}]},
    "patient": {"timeout_ms": TIMEOUT_MS, "retry": RETRY, "steps": [{"ref": "s", "action": MOCK}]},
}
BOOM = TaskFailed("boom", "it broke", "s")
CHILD: JsonObject = {"initial_node": "a", "nodes": {"a": {}}}


def workflow(text: str, settings: JsonObject | None = None) -> Program:
    """The workflow `w` with these keys, checked and compiled; it begins at its first node.

    It may name the tasks `work` and `patient`, which is tried three times, and the workflow `child`."""
    keys = yaml.safe_load(text)
    return _compiled("workflows", {"child": CHILD, "w": {"initial_node": next(iter(keys["nodes"])), **keys}}, settings)


def flow(text: str, settings: JsonObject | None = None) -> Program:
    """The flow `w` with these keys, checked and compiled; `work` and `patient` are node types."""
    return _compiled("flows", {"w": yaml.safe_load(text)}, settings)


def _compiled(section: str, definitions: JsonObject, settings: JsonObject | None) -> Program:
    source: dict[str, object] = {
        "workflows": {"child": CHILD},
        section: definitions,
        "tasks": TASKS,
        "project": {"settings": settings or {}},
    }
    return compile_definition(library_from(source).require(), "w")


class Given(msgspec.Struct, frozen=True):
    """A run that was told these messages, whole or up to a point within what they led to."""

    program: Program
    messages: tuple[Message, ...]
    kind: type[d.Decision] | None = None
    node: str | None = None

    def state(self) -> RunState:
        """The run's state, folded anew from its journal each time."""
        run = LiveRun(RunState(Head(RUN, "w")))
        entries = self.journal()
        for number, decisions in enumerate(entries):
            draft = Draft(run.state, run.timers)
            for decision in decisions:
                if self.kind is not None and number == len(entries) - 1 and isinstance(decision, self.kind):
                    return run.state
                fold(draft, decision)
                if self.node is not None and any(_pending_at(run.state, self.node)):
                    return run.state
            run.state.head.entries += 1
        assert (self.kind, self.node) == (None, None), f"it never came so far: {entries}"
        return run.state

    def journal(self) -> list[tuple[d.Decision, ...]]:
        """The decisions of each message that led to any."""
        run = LiveRun(RunState(Head(RUN, "w")))
        entries = [advance(self.program, run, [message]).entry for message in self.messages]
        journal = [entry.decisions for entry in entries if entry is not None]
        assert not any(isinstance(each, d.EndRun) and each.broken for made in journal for each in made), journal[-1]
        return journal


def given(program: Program, *messages: Message) -> Given:
    """The run after these messages."""
    return Given(program, messages)


def before(kind: type[d.Decision], program: Program, *messages: Message) -> Given:
    """The run right before the first decision of a kind that the last message led to."""
    return Given(program, messages, kind=kind)


def at(node: str, program: Program, *messages: Message) -> Given:
    """The run as soon as a token is at the node, which has not begun."""
    return Given(program, messages, node=node)


def token_at(state: RunState, node: str) -> Token:
    """The first token at a node."""
    return next(token for token in state.tokens.values() if token.node == node)


def _pending_at(state: RunState, node: str) -> Iterator[Token]:
    return (token for token in state.tokens.values() if token.node == node and isinstance(token.phase, Pending))


def started(input: Json = None, at: int = 0, credits: int | None = None) -> StartRun:
    """The run begins."""
    return StartRun(at, {} if input is None else input, credits=credits)


def done(token: int, result: Json = None, at: int = 5, attempt: int = 1) -> TaskFinished:
    """The token's task succeeded."""
    return TaskFinished(at, TokenId(token), attempt, result)


def failed(token: int, failure: TaskFailed = BOOM, at: int = 5, attempt: int = 1) -> TaskFinished:
    """The token's task failed."""
    return TaskFinished(at, TokenId(token), attempt, failure=failure)


def slot(group: int, index: int) -> SlotId:
    """A branch, by its group and its index."""
    return GroupId(group), index

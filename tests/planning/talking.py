"""Where a conversation stands: an agent, and what it was told, folded as it would be in a store.

A row of a test says `talk(BOB, chat("hi"), says("Hello."))`. A step that answers a call finds the call's token by its
node, so that rows need no numbers.
"""

from collections.abc import Callable
from typing import TypeVar

import msgspec
import yaml

from jeton.actor.advance import Commit, LiveRun, advance
from jeton.definitions import library_from
from jeton.definitions.bundle import bundle_of
from jeton.model import decision as d
from jeton.model import message as m
from jeton.model.chat import CalledTool, ModelAnswer, ModelFailed, ModelReply, TokenUsage, ToolErrorCode, ToolResult
from jeton.model.definition.agent import agent_bundle
from jeton.model.failure import RunError, TaskFailed
from jeton.model.ids import RunId, TokenId, child_run_id
from jeton.model.json import Json, JsonObject
from jeton.model.message import Message
from jeton.model.state.phase import Dispatched, Executing, WaitingForGate
from jeton.model.state.run import Head, RunState, RunStatus, Token
from jeton.model.state.talk import Caller, TurnError, TurnStatus, WhenBusy
from jeton.model.transcript import messages_of, unpaired
from jeton.planning.program.compile import compile_definition
from jeton.planning.program.workflow import Program
from tests.planning.given import CHILD, RUN, TASKS

NOW = 5
BOOM = TaskFailed("boom", "it broke", "s")
OBJECT = "input_schema: {type: object, properties: {q: {type: string}}, additionalProperties: false}"
TOOLS = {
    "look": f"{{task: work, {OBJECT}}}",
    "pay": "{task: work, needs_approval: true, input_schema: {type: object, required: [sum], properties: "
    "{sum: {type: integer}}}}",
    "slow": "{task: work, async: true}",
    "alone": "{task: work, exclusive: true}",
    "once": "{task: work, once: true}",
    "web": "{task: work, untrusted: true}",
    "count": "{workflow: child, timeout_ms: 50}",
    "ask_amy": "{agent: amy}",
    "invite": "{agent: amy, mode: loop_in}",
}
PROFILES = {"fake": "{provider: scripted, script: [{text: Hello.}]}"}


def agent(
    persona: str = "",
    tools: dict[str, str] | None = None,
    profile: str | None = None,
    settings: JsonObject | None = None,
) -> Program:
    """The agent `bob`, compiled. He has a tool of each kind, and these keys in his persona; `amy` has no tools."""
    bodies = {**TOOLS, **(tools or {})}
    usual = {"model_profile": "fake", "tools": list(bodies)}
    source: dict[str, object] = {
        "model_profiles": {"fake": yaml.safe_load(profile or PROFILES["fake"])},
        "tasks": TASKS,
        "workflows": {"child": CHILD},
        "tools": {name: {"description": name, **yaml.safe_load(body)} for name, body in bodies.items()},
        "personas": {"helper": {**usual, **yaml.safe_load(f"{{{persona}}}")}, "quiet": {"model_profile": "fake"}},
        "agents": {"bob": {"persona": "helper"}, "amy": {"persona": "quiet"}},
        "project": {"settings": settings or {}},
    }
    library = library_from(source).require()
    name = agent_bundle("bob")
    return compile_definition(bundle_of(library, name), name)


BOB = agent()

Step = Message | Callable[[RunState], Message]
_D = TypeVar("_D", bound=d.Decision)


class Talk(msgspec.Struct, frozen=True):
    """A conversation with an agent that was told these steps."""

    program: Program
    steps: tuple[Step, ...]

    def run(self) -> LiveRun:
        """The conversation, told everything anew each time."""
        return self._told()[0]

    def state(self) -> RunState:
        return self.run().state

    def last(self) -> list[d.Decision]:
        """What the last step led to."""
        entry = self._told()[1].entry
        return [] if entry is None else [each for each in entry.decisions if not isinstance(each, d.SetStatus)]

    def commit(self) -> Commit:
        """The commit of the last step."""
        return self._told()[1]

    def made(self, kind: type[_D]) -> list[_D]:
        """The decisions of a kind that the last step led to."""
        return [each for each in self.last() if isinstance(each, kind)]

    def then(self, *steps: Step) -> "Talk":
        """The conversation, told more."""
        return Talk(self.program, (*self.steps, *steps))

    def _told(self) -> tuple[LiveRun, Commit]:
        run = LiveRun(RunState(Head(RUN, agent_bundle("bob"))))
        commit = advance(self.program, run, [m.StartRun(0, {})])
        for step in self.steps:
            commit = advance(self.program, run, [step(run.state) if callable(step) else step])
            check_sound(run.state)
        return run, commit


def check_sound(state: RunState) -> None:
    """Nothing came to a contradiction, and whatever a model would be given now has its pairs."""
    error = state.head.error
    assert error is None or error.type != "broken_invariant", error
    for number in state.talk.turns:
        assert unpaired(messages_of(state.talk, number)) is None


def talk(program: Program, *steps: Step) -> Talk:
    """A conversation that was told these steps."""
    return Talk(program, steps)


# what people and runs say


def chat(
    text: str = "hi",
    *,
    key: str | None = None,
    when_busy: WhenBusy = "queue",
    to: str | None = None,
    caller: Caller | None = None,
    at: int = NOW,
) -> m.ChatSent:
    """Somebody says something."""
    return m.ChatSent(at, "m", text, caller or Caller(user="ann"), key=key, when_busy=when_busy, to=to)


def stop(turn: int | None = None, reason: str = "") -> m.StopTurn:
    """Somebody stops a turn, or all."""
    return m.StopTurn(NOW, "m", turn, reason=reason)


def answers(decision: str, by: str | None = None, node: str | None = None, **value: Json) -> Step:
    """A person answers the first open gate, or the one of a node."""

    def message(state: RunState) -> Message:
        gates = [each for each in state.tokens.values() if isinstance(each.phase, WaitingForGate)]
        token = next(each for each in gates if node in (None, each.node))
        return m.AnswerGate(NOW, "m", {"decision": decision, **value}, by, token.id)

    return message


# what calls answer


def at_node(state: RunState, node: str) -> Token:
    """The first token at a node."""
    return next(token for token in state.tokens.values() if token.node == node)


def working(state: RunState, node: str) -> Token:
    """The first token at a node whose task is under way."""
    found = [each for each in state.tokens.values() if isinstance(each.phase, Dispatched | Executing)]
    return next(token for token in found if token.node == node)


def call(name: str, **input: Json) -> CalledTool:
    """A tool call of a model; of an agent with a message, if no other input is given."""
    asks = name in ("ask_amy", "invite") and not input
    return CalledTool(name, {"message": "How?"} if asks else input)


def replies(reply: ModelReply, node: str = "model") -> Step:
    """The model call gives this reply."""
    return returns(node, msgspec.to_builtins(reply))


def says(text: str = "", *calls: CalledTool, tokens: int = 0, node: str = "model") -> Step:
    """The model answers."""
    return replies(ModelAnswer(text, calls, TokenUsage(tokens), profile="fake", model="m"), node)


def model_fails(type: str = "model_error", message: str = "it is down") -> Step:
    """The model call gives no answer."""
    return replies(ModelFailed(type, message))


def returns(node: str, result: Json, at: int = NOW) -> Step:
    """The task of a call succeeds."""

    def message(state: RunState) -> Message:
        token = working(state, node)
        return m.TaskFinished(at, token.id, token.attempt, result)

    return message


def fails(node: str, failure: TaskFailed = BOOM, at: int = NOW) -> Step:
    """The task of a call fails."""

    def message(state: RunState) -> Message:
        token = working(state, node)
        return m.TaskFinished(at, token.id, token.attempt, failure=failure)

    return message


def lost(node: str) -> Step:
    """The worker of a call dies."""

    def message(state: RunState) -> Message:
        token = working(state, node)
        return m.TaskLost(NOW, token.id, token.attempt)

    return message


def child_ends(node: str, output: Json = None, status: RunStatus = "completed", error: RunError | None = None) -> Step:
    """The run that a call started ends."""

    def message(state: RunState) -> Message:
        token = at_node(state, node)
        return m.ChildEnded(NOW, token.id, child_run_id(RUN, token.id), status, output, error)

    return message


def turn_over(
    node: str,
    text: str = "",
    status: TurnStatus = "completed",
    error: TurnError | None = None,
    data: Json = None,
    *,
    tainted: bool = False,
) -> Step:
    """The turn that a call asked for is over."""

    def message(state: RunState) -> Message:
        token = at_node(state, node)
        return m.TurnOver(NOW, token.id, child_run_id(RUN, token.id), 1, status, text, data, error, tainted)

    return message


def rings(at: int) -> m.AlarmRang:
    """Time passes."""
    return m.AlarmRang(at)


# what is in a conversation


def results(state: RunState, turn: int = 1) -> list[tuple[str, Json]]:
    """The results of a turn's calls, in order: by name, the code of an error or the value."""
    found = sorted((place, each.result) for place, each in state.talk.results.items() if place[0] == turn)
    return [(result.name, _outcome(result)) for _, result in found]


def _outcome(result: ToolResult) -> Json:
    code: ToolErrorCode | None = None if result.error is None else result.error.code
    return result.result if code is None else code


def nodes(state: RunState) -> list[str]:
    """The nodes at which calls are under way."""
    return [token.node for token in state.tokens.values()]


def at_work(state: RunState) -> list[str]:
    """The nodes at which workers are."""
    return [token.node for token in state.tokens.values() if isinstance(token.phase, Dispatched | Executing)]


def texts(state: RunState, turn: int) -> list[str]:
    """What the model of a turn would be given, as `role: text`, without the time."""
    found = [
        f"{type(each).__name__.removesuffix('Message').lower()}: {getattr(each, 'text', '')}"
        for each in messages_of(state.talk, turn)
    ]
    return [each for each in found if not each.startswith("user: (It is ")]


def caller_run(run: str = "p", token: int = 7) -> Caller:
    """A token of another run, which waits for the answer."""
    return Caller(run=RunId(run), token=TokenId(token), depth=1)

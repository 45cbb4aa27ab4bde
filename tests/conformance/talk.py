"""What a conformance case of a conversation is, and how it is played through an engine, whichever host is below it."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

import msgspec

from jeton.definitions import library_from
from jeton.engine.build.source import KINDS
from jeton.engine.talk.conversation import Conversation
from jeton.engine.views.conversation import ToolCallView, TurnView
from jeton.model import decision as d
from jeton.model.definition.workflow import Library
from jeton.model.entry import Entry
from jeton.model.failure import Refused
from jeton.model.ids import RunId, TokenId
from jeton.model.state.talk import WhenBusy
from jeton.model.transcript import messages_of, unpaired
from tests.conformance.case import Data, tag
from tests.conformance.hosts import Opened

LONGEST_S = 20
PLAIN_ENTRY = ("text", "tool_calls", "error", "transient", "when", "delay_ms", "usage")

Act = Callable[["Table", Any], Awaitable[None]]


class On(msgspec.Struct, frozen=True):
    """Something that somebody does once a decision of the conversation, or of one below it, is durable."""

    when: str  # the decision's tag
    act: Act
    node: str | None = None  # only a decision about this node
    nth: int = 0  # which of those that fit
    after_ms: int = 0


class Ended(msgspec.Struct, frozen=True):
    """How a turn should have ended."""

    replies: list[str]
    status: Literal["completed", "failed", "cancelled", "exhausted"] = "completed"
    error: str | None = None
    issues: Data = {}


class Talked(msgspec.Struct, frozen=True):
    """Everything a host shows of a conversation."""

    turns: tuple[TurnView, ...]
    entries: tuple[Entry, ...]
    below: Mapping[str, str]  # runs and conversations that were called, and their status
    told: tuple[str, ...]  # what people were told who asked for something impossible

    def call(self, turn: int = 1, move: int = 0, position: int = 0) -> ToolCallView:
        return self.turns[turn - 1].moves[move].tool_calls[position]

    def code(self, turn: int = 1, move: int = 0, position: int = 0) -> str:
        error = self.call(turn, move, position).error
        return "" if error is None else error.code

    def decisions(self, kind: type[Any] | None = None) -> list[Any]:
        found = [decision for entry in self.entries for decision in entry.decisions]
        return found if kind is None else [decision for decision in found if isinstance(decision, kind)]

    def tags(self) -> list[str]:
        return [tag(decision) for decision in self.decisions()]


def nothing(_: Talked) -> None:
    """No more to check than how the turns ended."""


class TalkCase(msgspec.Struct, frozen=True):
    """Given an agent, when this is said to it, one after the other, then its turns end like this."""

    id: str
    made: Data
    says: tuple[str, ...]
    ends: tuple[Ended, ...]
    also: Callable[[Talked], None] = nothing
    acts: tuple[On, ...] = ()


# short ways to write agents down


def agent(*script: Data, tools: Data | None = None, tasks: Data | None = None, **more: Any) -> Data:
    """An agent called bob, whose model answers by this script. `persona` has more keys of his persona."""
    tools = tools or {}
    persona = {"instructions": "Help.", "model_profile": "fake", "tools": list(tools), **more.pop("persona", {})}
    profiles = more.pop("profiles", {})
    made: Data = {
        "model_profiles": {"fake": {"provider": "scripted", "script": list(script), **more.pop("profile", {})}},
        "tasks": {"work": mocked({"v": 1}), **(tasks or {})},
        "tools": {name: {"description": name, **tool} for name, tool in {**tools, **more.pop("others", {})}.items()},
        "personas": {"helper": persona, **more.pop("personas", {})},
        "agents": {"bob": {"persona": "helper"}, **more.pop("agents", {})},
        **more,
    }
    made["model_profiles"] |= profiles
    return {section: entries for section, entries in made.items() if entries}


def mocked(output: Any = None, delay_ms: int = 0, fail: str | None = None) -> Data:
    """A task."""
    implementation: Data = {"output": {} if output is None else output}
    if delay_ms:
        implementation["delay_ms"] = delay_ms
    if fail is not None:
        implementation["fail"] = {"times": 99, "message": fail, "transient": False}
    return {"steps": [{"ref": "s", "action": {"kind": "mock", "implementation": implementation}}]}


def calls(*names: str, text: str = "", when: str | None = None, **rest: Any) -> Data:
    """An answer that calls tools, each with an empty input."""
    entry: Data = {"tool_calls": [{"name": name, "input": {}} for name in names], **rest}
    entry |= {"text": text} if text else {}
    return entry if when is None else {**entry, "when": when}


def says(text: str, when: str | None = None, **rest: Any) -> Data:
    """An answer that is a text."""
    return {"text": text, **rest} if when is None else {"text": text, "when": when, **rest}


def library_of(made: Data) -> Library:
    """The definitions, read and checked like anybody's. Entries of scripts that no file may have are put in later."""
    scripts = {name: profile["script"] for name, profile in made.get("model_profiles", {}).items()}
    plain = {
        name: {**profile, "script": [entry if _is_plain(entry) else {"text": "x"} for entry in profile["script"]]}
        for name, profile in made.get("model_profiles", {}).items()
    }
    library = library_from({**made, "model_profiles": plain}, kinds=KINDS).require()
    profiles = {
        name: msgspec.structs.replace(profile, script=tuple(scripts[name]))
        for name, profile in library.model_profiles.items()
    }
    return msgspec.structs.replace(library, model_profiles=profiles)


def _is_plain(entry: Data) -> bool:
    return set(entry) <= set(PLAIN_ENTRY) and all("raw" not in call for call in entry.get("tool_calls", ()))


# what people do


def sends(text: str, when_busy: WhenBusy = "queue", *, key: str | None = None, to: str | None = None) -> Act:
    async def act(table: "Table", _: Any) -> None:
        await table.talk.send(text, when_busy=when_busy, key=key, to=to)

    return act


def stops(turn: int | None = None) -> Act:
    async def act(table: "Table", _: Any) -> None:
        await table.talk.cancel(turn, "enough")

    return act


def answers(value: Data, *, by: str | None = None) -> Act:
    """Answer the gate that has just opened, or the one that opened last."""

    async def act(table: "Table", decision: Any) -> None:
        token = decision.token if isinstance(decision, d.OpenGate) else table.last_gate
        await table.opened.face.answer(table.talk.id, value, gate=f"{table.talk.id}:{token}", by=by)

    return act


class Table:
    """The people around a conversation: they look on, and each acts once, when a decision calls for it."""

    def __init__(self, case: TalkCase, opened: Opened, talk: Conversation, tasks: asyncio.TaskGroup) -> None:
        self.opened = opened
        self.talk = talk
        self.told: list[str] = []
        self.last_gate: TokenId | None = None
        self._watching: list[asyncio.Task[None]] = []
        self._acting: list[asyncio.Task[None]] = []
        self._acts = case.acts
        self._met: Counter[int] = Counter()
        self._tasks = tasks

    def watch(self, run: RunId) -> None:
        """Look on, until `leave`."""
        self._watching.append(self._tasks.create_task(self._look_on(run)))

    def leave(self) -> None:
        """Stop looking."""
        for task in self._watching:
            task.cancel()

    async def settle(self) -> None:
        """Wait until everybody has acted, and no turn is active."""
        done = -1
        while done < len(self._acting):
            done = len(self._acting)
            await asyncio.gather(*self._acting)
            await all_ended(self.opened, self.talk)

    async def _look_on(self, run: RunId) -> None:
        """Follow a conversation or run, and those it calls."""
        while await self.opened.host.reads.row(run) is None:
            await self.opened.sleep(1)
        async for entry in self.opened.engine.journal(run, follow=True):
            for decision in entry.decisions:
                if isinstance(decision, d.OpenGate):
                    self.last_gate = decision.token
                for on in self._called_for(decision):
                    self._acting.append(self._tasks.create_task(self._act(on, decision)))
                if isinstance(decision, d.CallWorkflow):
                    self.watch(decision.child)
                if isinstance(decision, d.CallAgent) and decision.new:
                    self.watch(decision.conversation)

    def _called_for(self, decision: d.Decision) -> list[On]:
        found: list[On] = []
        for number, on in enumerate(self._acts):
            if on.when == tag(decision) and on.node in (None, getattr(decision, "node", None)):
                if self._met[number] == on.nth:
                    found.append(on)
                self._met[number] += 1
        return found

    async def _act(self, on: On, decision: d.Decision) -> None:
        if on.after_ms:
            await self.opened.sleep(on.after_ms)
        try:
            await on.act(self, decision)
        except Refused as refused:
            self.told.append(f"{refused.code}: {refused.problem}")


async def play_talk(case: TalkCase, opened: Opened) -> Talked:
    """Say everything, each after the turn before it has ended, and wait until nothing moves."""
    await opened.engine.deploy_library(library_of(case.made), None)
    talk = await opened.face.converse("bob", user="ann")
    async with asyncio.timeout(LONGEST_S), asyncio.TaskGroup() as tasks:
        table = Table(case, opened, talk, tasks)
        table.watch(talk.id)
        for text in case.says:
            turn = await talk.send(text)
            await turn.result()
            await table.settle()
        table.leave()
    return await look_at(opened, talk, tuple(table.told))


async def all_ended(opened: Opened, talk: Conversation) -> None:
    """Wait until no turn is active."""
    await opened.engine.idle()
    while any(turn.status == "active" for turn in await talk.turns()):
        await opened.sleep(5)
        await opened.engine.idle()


async def look_at(opened: Opened, talk: Conversation, told: tuple[str, ...] = ()) -> Talked:
    """What a reader can tell. Whatever a model would be given now is paired."""
    engine = opened.engine
    entries = [entry async for entry in engine.journal(talk.id)]
    called = [decision for entry in entries for decision in entry.decisions]
    below = [call.child for call in called if isinstance(call, d.CallWorkflow)]
    below += [call.conversation for call in called if isinstance(call, d.CallAgent) and call.new]
    live = await opened.host.reads.live(talk.id)
    assert live is not None
    for number, turn in live.state.talk.turns.items():
        assert turn.began_at is None or unpaired(messages_of(live.state.talk, number)) is None
    statuses = {run.rpartition(".")[2]: (await opened.face.get(run)).status for run in below}
    return Talked(await talk.turns(), tuple(entries), statuses, told)

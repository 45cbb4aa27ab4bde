"""Starts of runs: new ones, by a key or a name; children; runs of triggers; forks.

The rules of a second start, and of a start that is impossible. Hosts look up rows and store the results.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from jeton.actor.advance import LiveRun
from jeton.actor.fork import history_before, shared_history
from jeton.actor.journal import JournalEntry, chained
from jeton.actor.replay import replay
from jeton.actor.rows import RunRow
from jeton.actor.storable import check_storable
from jeton.model.entry import Entry
from jeton.model.failure import Refused, RunError
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import (
    ChatSent,
    ChildEnded,
    ContinueRun,
    ForkRun,
    Message,
    StartRun,
    StopTurn,
    TurnOver,
    WaitersAdded,
    turned_away,
)
from jeton.model.state.run import FiredBy, Head, RunState
from jeton.model.state.talk import TalkFork
from jeton.model.trace_parent import TraceParent

_canonical = msgspec.json.Encoder(order="deterministic").encode


class NewRun(msgspec.Struct, frozen=True):
    """A start. One run per workflow and `key`; `run` is its name, or chosen by the host.

    `overrides` are inputs of a flow's nodes, by node and handle; `trigger` is what started it; `credits` is all that it
    may cost; `under` is the span of another system that it was started under."""

    workflow: str
    version: int
    input: Json
    key: str | None = None
    run: RunId | None = None
    overrides: dict[str, JsonObject] = {}
    trigger: FiredBy | None = None
    credits: int | None = None
    under: TraceParent | None = None


class Started(NamedTuple):
    """The run of a start, and whether this start made it."""

    run: RunId
    new: bool


class StartKey(msgspec.Struct, frozen=True):
    """A key that started a run, as it is stored, with the hash of the run's input."""

    workflow: str
    key: str
    run: RunId
    input_hash: bytes


class NewFork(msgspec.Struct, frozen=True):
    """A fork of a run at an entry, with edits of its state. `again`: nodes of a flow that failed are run again."""

    run: RunId
    entry: int
    writes: dict[str, Json] = {}
    again: bool = False
    credits: int = 0
    talk: TalkFork | None = None  # of a conversation: the turn it goes on with; `entry` is then not used


def check_start(new: NewRun) -> None:
    """Raise Refused for a start that could not be stored. The input may be any JSON, and is checked when stored."""
    if new.overrides or new.credits is not None:
        check_storable(StartRun(0, None, overrides=new.overrides, credits=new.credits))


def start_message(new: NewRun, at: int) -> StartRun:
    """The first message of a new run."""
    return StartRun(
        at,
        new.input,
        trigger=new.trigger,
        overrides=new.overrides,
        credits=new.credits,
        key=new.key,
        under=new.under,
    )


def input_hash(new: NewRun) -> bytes:
    """A hash that is the same for starts with the same input."""
    return hashlib.sha256(_canonical([new.input, new.overrides] if new.overrides else new.input)).digest()


def check_same_input(known: StartKey, given: bytes) -> None:
    """Raise Refused if a key that started a run comes with other input."""
    if known.input_hash != given:
        problem = f"the key '{known.key}' has started run {known.run} with other input"
        raise Refused("key_conflict", problem, "use another key, or the same input")


def check_same_run(run: RunId, workflow: str, input: Json, new: NewRun) -> None:
    """Raise Refused if the run that has this name already is not the one that is to be started."""
    if workflow != new.workflow or _canonical(input) != _canonical(new.input):
        raise run_exists(run)


def run_exists(run: RunId) -> Refused:
    """The refusal of a name that another run has."""
    return Refused("run_exists", f"there is a run {run} already, and it is another one", "choose another name")


def unknown_run(run: RunId) -> Refused:
    """The refusal of a run that is not there."""
    return Refused("unknown_run", f"there is no run {run} in this store", "list the runs there are")


def fresh_run(run: RunId, workflow: str, version: int) -> LiveRun:
    """A run before its first message."""
    return LiveRun(RunState(Head(run, workflow, version)))


def undeliverable(run: RunId, message: Message, at: int) -> tuple[RunId, TurnOver | ContinueRun] | None:
    """The message to the run that sent something to a run which does not exist, with that run; None if it needs none.

    A token that waits for an agent would wait for ever. The answer to anything else changes nothing, but the message
    that nobody takes leaves the inbox with the commit that handles it."""
    if isinstance(message, StopTurn | WaitersAdded) and message.run is not None:
        return message.run, ContinueRun(at)
    if not isinstance(message, ChatSent):
        return None
    return turned_away(message, run, "unknown_run", f"there is no conversation {run} in this store", at)


def impossible_start(run: RunId, message: Message, refused: Refused, at: int) -> tuple[RunId, ChildEnded] | None:
    """The message to the caller of a run that cannot be started, with the caller; None if no run called it."""
    if not isinstance(message, StartRun) or message.parent is None:
        return None
    error = RunError(refused.code, refused.problem)
    return message.parent.run, ChildEnded(at, message.parent.token, run, "failed", error=error)


# forks


class PlannedFork(msgspec.Struct, frozen=True):
    """A fork before its first message: its state, the history it shares, and the message it begins with.

    `sleeping` are tokens whose functions sleep, with the sleep: the steps they took before it are shared too."""

    live: LiveRun
    shared: tuple[JournalEntry, ...]
    message: ForkRun
    sleeping: dict[TokenId, str]


def plan_fork(fork: NewFork, row: RunRow, entries: Sequence[Entry], name: RunId, at: int) -> PlannedFork:
    """Everything a host stores for a fork. Raises Refused if the run cannot be forked there."""
    if row.parent is not None and fork.talk is None:
        problem = f"run {row.run} was called by run {row.parent.run}, and goes on only with it"
        raise Refused("child_run", problem, f"fork its root, {row.parent.root}")
    if len(entries) != row.entries:
        problem = f"the first entries of run {row.run} were pruned"
        raise Refused("history_pruned", problem, "start a new run")
    talk = fork.talk
    history = shared_history(entries, fork.entry) if talk is None else history_before(entries, talk.turn)
    last = fork.entry if talk is None else history[-1].number
    message = ForkRun(at, fork.run, last, history[-1].at, fork.writes, fork.again, fork.credits, talk)
    check_storable(message)
    live = replay(Head(name, row.workflow, row.version), history)
    slept = {token.id: sleep for token in live.state.tokens.values() if (sleep := token.last_sleep) is not None}
    # with an edited state, work that was under way begins anew
    return PlannedFork(live, chained(name, history), message, {} if fork.writes else slept)

"""The story of a simulated run: its events and the faults, in order."""

from collections.abc import Iterator
from typing import cast

import msgspec

from jeton.actor.journal import decode_entry
from jeton.actor.replay import replay
from jeton.apply.record import events_of
from jeton.engine.views.explain.text import awaited
from jeton.engine.views.explain.views import Wait
from jeton.engine.views.explain.waits import waits
from jeton.engine.views.tokens import token_views
from jeton.hosts.simulated.clock import EPOCH_MS
from jeton.hosts.simulated.faults import Fault, FaultKind
from jeton.hosts.simulated.observer import Step
from jeton.hosts.simulated.world import World
from jeton.model.entry import Entry
from jeton.model.event import Event, TokenCreated, TokenWaiting
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import Head

LEFT_OUT = frozenset(
    {"run.started", "run.waiting", "run.resumed"}
    | {f"token.{word}" for word in ("created", "dispatched", "executing", "waiting", "completed", "failed")}
    | {f"task.{word}" for word in ("progress", "log", "missing")}
)
"""Events left out of stories, because others next to them say the same."""


class StoryRecorder:
    """Every commit of a world, with its time and the number of faults injected before it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._commits: list[tuple[int, int, RunId, Entry]] = []
        self._nodes: dict[tuple[RunId, TokenId], tuple[str, str]] = {}

    @property
    def commits(self) -> int:
        """The number of commits."""
        return len(self._commits)

    def committed(self, step: Step) -> None:
        if step.entry is not None:
            world = self._world
            self._commits.append((world.clock.steady, len(world.faults.struck), step.run, step.entry))

    def story(self) -> list[JsonObject]:
        """`{at_ms, type, …}` for each event and each fault, in order."""
        found: list[JsonObject] = []
        shown = 0
        for at, struck, run, entry in self._commits:
            found += self._faults(shown, struck)
            shown = max(shown, struck)
            for event in events_of(run, entry):
                found += self._event(at, event)
        return [*found, *self._faults(shown, len(self._world.faults.struck))]

    def _faults(self, first: int, behind: int) -> Iterator[JsonObject]:
        faults = self._world.faults
        for at, (kind, fault) in zip(faults.struck_at[first:behind], faults.struck[first:behind], strict=True):
            yield {"at_ms": at, "type": "fault", "fault": kind, "nth": fault.nth, "by_ms": fault.by_ms}

    def _event(self, at: int, event: Event) -> Iterator[JsonObject]:
        fact = event.fact
        if isinstance(fact, TokenCreated):
            self._nodes[event.run, fact.token] = (fact.node, fact.path)
        fields = cast("dict[str, Json]", msgspec.to_builtins(fact))
        kind = str(fields.pop("type"))
        arrives = isinstance(fact, TokenWaiting) and fact.wait == "siblings"
        if kind in LEFT_OUT and not arrives:
            return
        due = fields.get("due")
        if isinstance(due, int):
            fields["due"] = due - EPOCH_MS
        token = fields.get("token")
        known = self._nodes.get((event.run, TokenId(token))) if isinstance(token, int) else None
        if known is not None:
            fields = {**fields, "node": fields.get("node") or known[0], "path": known[1]}
        yield {"at_ms": at, "run_id": event.run, "type": kind, **fields}


def fault_list(struck: list[tuple[FaultKind, Fault]]) -> list[JsonObject]:
    """Faults as plain data."""
    return [{"fault": kind, "nth": fault.nth, "by_ms": fault.by_ms} for kind, fault in struck]


def waiting(world: World) -> Iterator[tuple[str, str]]:
    """What each token of an unfinished run waits for: a key, which is the same for every seed, and a sentence."""
    for run in world.unfinished():
        entries = [decode_entry(body) for body in world.store.journal(run)]
        if not entries:
            yield f"{world.store.workflow(run)}: start", f"run {run} has not begun"
            continue
        state = replay(Head(run, world.store.workflow(run)), entries).state
        if state.head.paused:
            yield f"{state.head.workflow}: paused", f"run {run} is paused"
        for wait in waits(world.program(run), state, {view.id: view for view in token_views(entries)}):
            yield f"{state.head.workflow}: {wait.node} {wait.kind}", f"run {run}: {_sentence(wait)}"


def _sentence(wait: Wait) -> str:
    since = round(wait.since.timestamp() * 1000) - EPOCH_MS
    return f"token {wait.token} at '{wait.node}' waits for {awaited(wait)} since {since} ms"

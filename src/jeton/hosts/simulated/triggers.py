"""What starts by itself in a simulated world: for events that were published, and for runs that ended.

Other causes come from outside, and whoever wants one starts the run as a trigger would.
"""

from collections.abc import Iterator

import msgspec

from jeton.actor.firings import by_end, by_event
from jeton.hosts.simulated.store import Store
from jeton.model.definition.trigger import OnEvent, OnRunFinished, Trigger
from jeton.model.definition.workflow import Library
from jeton.model.ids import RunId
from jeton.planning.triggers.firing import Planned, Startable, plan_event, plan_firing, startable_in


class Due(msgspec.Struct, frozen=True):
    """What is to be fired now, and what was seen to with it."""

    planned: tuple[Planned, ...]
    heard: int  # events, from the first
    ended: tuple[RunId, ...]


class Triggers:
    """Those of one library, on one store; all that they remember is there."""

    def __init__(self, library: Library, store: Store) -> None:
        self._library = library
        self._store = store
        self._listening = [(each, each.on) for each in library.triggers.values() if isinstance(each.on, OnEvent)]
        self._awaiting: dict[str, list[Trigger]] = {}
        for each in library.triggers.values():
            if isinstance(each.on, OnRunFinished):
                self._awaiting.setdefault(each.on.workflow, []).append(each)
        store.awaited = frozenset(self._awaiting)

    def are_due(self) -> bool:
        """Whether there is anything that nobody has seen to."""
        return len(self._store.published) != self._store.heard or bool(self._store.finished)

    def due(self, now: int) -> Due:
        """All of it."""
        heard, ended = len(self._store.published), tuple(self._store.finished)
        return Due((*self._events(now), *self._ends(ended, now)), heard, ended)

    def _events(self, now: int) -> Iterator[Planned]:
        for emitted in self._store.events(self._store.heard):
            delivery = by_event(emitted, self._store.row(emitted.run), now)
            for trigger, on in self._listening:
                if on.name == emitted.event:
                    heard = plan_event(trigger, on, delivery, self._startable(trigger))
                    if heard is not None:
                        yield heard

    def _ends(self, ended: tuple[RunId, ...], now: int) -> Iterator[Planned]:
        for run in ended:
            row = self._store.row(run)
            assert row is not None, "a run that ended has a row"
            for trigger in self._awaiting[row.workflow]:
                delivery = by_end(row, now)
                yield Planned(trigger, delivery, plan_firing(trigger, delivery, self._startable(trigger)))

    def _startable(self, trigger: Trigger) -> Startable | None:
        """There is one version of everything here, whichever is asked for."""
        return startable_in(self._library, trigger.start.partition("@")[0], 1)

"""Which triggers are due, worked out from what is stored."""

import msgspec

from jeton.actor.definitions import Bundles
from jeton.actor.triggers import NEVER, TriggerTable, plan_published
from jeton.hosts.simulated.clock import ManualClock
from jeton.hosts.simulated.memory.store import Store
from jeton.model.ids import RunId
from jeton.planning.triggers.firing import Planned


class Due(msgspec.Struct, frozen=True):
    """Deliveries that are due, how far they bring their triggers, and the ends of runs among their causes."""

    planned: list[Planned]
    seen: dict[str, int]
    ended: tuple[RunId, ...]


class Firing:
    """The triggers of a store, in memory."""

    def __init__(self, store: Store, bundles: Bundles, clock: ManualClock) -> None:
        self._store = store
        self._bundles = bundles
        self._clock = clock
        self.reload()

    def reload(self) -> None:
        """Read the triggers again."""
        self._table = TriggerTable(self._store.triggers.rows())

    def is_due(self) -> bool:
        """Whether anything is due."""
        triggers = self._store.triggers
        events = (bool(triggers.published(event=each.on.name, after=each.seen)) for each in self._table.events.values())
        return bool(triggers.ended) or any(events) or self._table.next_at <= self._clock.wall()

    @property
    def next_at(self) -> int | None:
        """The monotonic time when the next schedule fires, if the wall clock does not jump."""
        at = self._table.next_at
        return None if at == NEVER else self._clock.steady_when(at)

    def take_due(self) -> Due:
        """Everything that is due. Reload once it is stored."""
        now, find = self._clock.now(), self._bundles.startable
        planned, seen = self._table.plan_schedules(now, self._clock.wall(), find)
        for name, listening in self._table.events.items():
            for event in self._store.triggers.published(event=listening.on.name, after=listening.seen):
                heard = plan_published(listening, event, self._store.row(event.emitted.run), now, find)
                planned += [] if heard is None else [heard]
                seen[name] = event.number
        ended = tuple(self._store.triggers.ended.values())
        planned += self._table.plan_ends(ended, now, find)
        return Due(planned, seen, tuple(row.run for row in ended))

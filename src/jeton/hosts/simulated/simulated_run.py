"""One run of a simulated world, as it is now."""

import msgspec

from jeton.actor.journal import decode_entry
from jeton.actor.sections import load_run
from jeton.apply.record import events_of
from jeton.hosts.simulated.world import World
from jeton.model.event import Event
from jeton.model.failure import Refused, RunError
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunStatus


class SimulatedRun(msgspec.Struct, frozen=True):
    """A run on the simulated host: its status, output, error, state and events."""

    run: RunId
    status: RunStatus
    output: Json
    error: RunError | None
    state: JsonObject
    events: tuple[Event, ...]
    took_ms: int


def simulated_run(world: World, run: RunId) -> SimulatedRun:
    """The run as it is now. Raises Refused if it has not begun."""
    row, sections = world.store.row(run), world.store.sections(run)
    if row is None or sections is None:
        raise Refused("not_started", f"run '{run}' has not begun", "let time pass: call run()")
    entries = [decode_entry(body) for body in world.store.journal(run)]
    return SimulatedRun(
        run=run,
        status=row.status,
        output=row.output,
        error=row.error,
        state=load_run(sections).state.state,
        events=tuple(event for entry in entries for event in events_of(run, entry)),
        took_ms=(row.ended_at or world.clock.now()) - row.submitted_at,
    )

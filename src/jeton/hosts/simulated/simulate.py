"""Simulation of one run in virtual time, for tests of workflows."""

from collections.abc import Mapping

import msgspec

from jeton.actor.journal import decode_entry
from jeton.actor.sections import load_run
from jeton.apply.record import events_of
from jeton.hosts.simulated.faults import FaultPlan
from jeton.hosts.simulated.script import Script, ScriptedAnswer
from jeton.hosts.simulated.world import World
from jeton.model.definition.workflow import Library
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


def simulate(
    library: Library,
    workflow: str,
    input: Json = None,
    *,
    script: Script | Mapping[str, ScriptedAnswer] | None = None,
    seed: int = 0,
    plan: FaultPlan | None = None,
) -> SimulatedRun:
    """Run a workflow to its end in virtual time.

    `script` has the results of tasks: a `Script`, or answers by node. `seed` decides how long tasks take, and the order
    of what happens in the same millisecond. `plan` adds faults.
    """
    answers = script if isinstance(script, Script) else Script(script, seed)
    world = World(library, seed=seed, plan=plan, script=answers)
    run = world.start(workflow, {} if input is None else input)
    world.run()
    return simulated_run(world, run)


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

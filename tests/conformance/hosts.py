"""The hosts that the suite runs on: each plays a case to its end and says what it saw."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from jeton.actor.ports import RunRow, decode_entry
from jeton.definitions import library_from
from jeton.definitions.bundle import bundle_of
from jeton.engine.events import events_in
from jeton.engine.tokens import token_views
from jeton.executor import Executor, ReadyTask, Resources, TaskCall, Threads, VirtualClock, compile_task, run_task
from jeton.executor.once import MemoryKeys
from jeton.hosts.simulated.script import Answer, Call, Reply, Script
from jeton.hosts.simulated.world import World
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.verify import verify
from jeton.model.entry import Entry
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.workflow import Library
from jeton.planning.program import compile_program
from tests.conformance.case import Case, Outcome, TokenSeen

Play = Callable[[Case], Outcome]


def library_of(case: Case) -> Library:
    """The case's definitions, read and checked like anybody's."""
    data = {"workflows": {"w": case.workflow}, **({"tasks": case.tasks} if case.tasks else {})}
    return library_from(data).require()


def play_simulated(case: Case) -> Outcome:
    """In virtual time, with the real executor running every task."""
    library = library_of(case)
    script = Script(really_run(library))
    world = World(library, script=script)
    run = world.start("w", case.input)
    world.run()
    row = world.store.row(run)
    assert row is not None
    entries = [decode_entry(body) for body in world.store.journal(run)]
    return seen(row, entries, tuple(world.store.sections(run) or ()))


def play_sqlite(case: Case) -> Outcome:
    """On a real file, in real time."""
    with TemporaryDirectory() as folder:
        outcome = asyncio.run(_play_sqlite(case, Path(folder, "store.db")))
        assert verify(Path(folder, "store.db")).problems == ()
        return outcome


async def _play_sqlite(case: Case, path: Path) -> Outcome:
    workers = Executor()
    host = await SqliteHost.open(path, workers=workers)
    workers.use(path.parent, host.artifacts, host.keys, host.outlet)
    try:
        version = await host.deploy(bundle_of(library_of(case), "w"), "w")
        run, _ = await host.start("w", version, case.input)
        row = await asyncio.wait_for(host.ended(run), 20)
        kept = _kept(host, run)
        return seen(row, host.entries(run), kept)
    finally:
        await host.close(0)


def _kept(host: SqliteHost, run: RunId) -> tuple[str, ...]:
    """The names of the sections a stored run still has."""
    live = host.live(run)
    assert live is not None
    state = live.state
    left = [f"tokens/{n}" for n in state.tokens] + [f"group/{n}" for n in state.groups]
    return (*left, *(f"slots/{slot}" for slot in state.slots), *(f"arrived/{a}" for a in state.arrived))


def really_run(library: Library) -> dict[str, Reply]:
    """Answers worked out by the executor, on a clock that passes at once."""
    program = compile_program(library.workflows["w"], library)
    keys = MemoryKeys()

    def answer(call: Call) -> Answer:
        task = program.places[call.node].task
        assert task is not None
        clock = VirtualClock()
        asked = TaskCall(call.run, TokenId(0), call.node, call.attempt, call.input)
        result = _at_once(asked, compile_task(task, library), Resources(clock, Threads(1), keys=keys))
        if isinstance(result, TaskFailed):
            return Answer(failure=result, takes_ms=clock.now())
        return Answer(result, takes_ms=clock.now())

    return {name: answer for name, place in program.places.items() if place.task is not None}


def _at_once(call: TaskCall, task: ReadyTask, resources: Resources) -> Json | TaskFailed:
    work = run_task(call, task, resources)
    try:
        work.send(None)
    except StopIteration as end:
        answer: Json | TaskFailed = end.value
        return answer
    raise AssertionError("a task on a virtual clock never waits")


def seen(row: RunRow, entries: list[Entry], sections: tuple[str, ...]) -> Outcome:
    """What a reader of the store can tell."""
    tokens = tuple(TokenSeen(t.node, t.status, t.path, t.branch_index) for t in token_views(entries))
    return Outcome(
        status=row.status,
        output=row.output,
        error_type=None if row.error is None else row.error.type,
        error_message="" if row.error is None else row.error.message,
        tokens=tokens,
        events=tuple(events_in(row.run, entries)),
        took_ms=(row.ended_at or 0) - row.submitted_at,
        sections=sections,
    )

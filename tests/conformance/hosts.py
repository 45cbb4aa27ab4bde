"""The hosts that the suite runs on: each plays a case to its end and says what it saw."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import msgspec

from jeton.actor.journal import decode_entry, encode_entry
from jeton.actor.rows import FiringRow, RunRow
from jeton.actor.sections import load_run
from jeton.actor.starts import NewRun
from jeton.definitions import library_from
from jeton.definitions.bundle import bundle_of, joined
from jeton.engine.build.source import KINDS
from jeton.engine.views.events import events_in
from jeton.engine.views.flows import node_views
from jeton.engine.views.tokens import token_views
from jeton.executor import (
    Executor,
    Resources,
    TaskCall,
    ThreadPool,
    VirtualClock,
    action_functions,
    compile_task,
    run_task,
)
from jeton.executor.artifacts import Artifacts
from jeton.executor.event_sink import MemoryEventSink
from jeton.executor.limits.idempotency import MemoryIdempotencyStore
from jeton.hosts.simulated.observer import Nobody, Step
from jeton.hosts.simulated.script import Answer, Script, ScriptedAnswer, ScriptedCall, answer_of
from jeton.hosts.simulated.world import World
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.host import wall_ms
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.decision import CallWorkflow, Decision, ReplyTo
from jeton.model.definition.workflow import Library
from jeton.model.entry import Entry
from jeton.model.ids import RunId, TokenId
from jeton.model.state.flow_run import NodeView
from jeton.planning.credits import balance_of
from jeton.planning.program.compile import compile_definition
from tests.conformance.case import Act, Case, FiringSeen, Outcome, ReplySeen, RunSeen, TokenSeen, tag

Play = Callable[[Case], Outcome]


def library_of(case: Case) -> Library:
    """The case's definitions, read and checked like anybody's."""
    flows = {} if case.flow is None else {"flows": {"w": case.flow}}
    workflows = {**({"w": case.workflow} if case.flow is None else {}), **case.others}
    project = {"project": {"settings": case.settings}} if case.settings else {}
    data = {"workflows": workflows, "tasks": case.tasks, "actions": case.actions, **flows, **project}
    known = Library(actions=action_functions(), triggers={trigger.name: trigger for trigger in case.triggers})
    loaded = library_from({name: section for name, section in data.items() if section}, known, kinds=KINDS)
    return joined(known, loaded.require())


class Audience:
    """Which acts a decision calls for; each is done once."""

    def __init__(self, case: Case) -> None:
        self._acts = case.acts
        self._met: Counter[int] = Counter()

    def called_for(self, decision: Decision) -> list[Act]:
        found: list[Act] = []
        for number, act in enumerate(self._acts):
            if act.when == tag(decision) and act.node in (None, getattr(decision, "node", None)):
                if self._met[number] == act.nth:
                    found.append(act)
                self._met[number] += 1
        return found


class _Onlooker(Nobody):
    """Does what the case says people do, in virtual time."""

    def __init__(self, case: Case) -> None:
        self._audience = Audience(case)
        self.world: World | None = None
        self.root = RunId("")

    def committed(self, step: Step) -> None:
        assert self.world is not None
        for decision in step.entry.decisions if step.entry is not None else ():
            for act in self._audience.called_for(decision):
                run = step.run if act.to == "there" else self.root
                self.world.tell(run, act.tell(decision), after_ms=act.after_ms)


def play_simulated(case: Case) -> Outcome:
    """In virtual time, with the real executor running every task."""
    library = library_of(case)
    onlooker = _Onlooker(case)
    with TemporaryDirectory() as folder, asyncio.Runner() as runner:
        script = Script(really_run(library, Artifacts(Path(folder)), runner))
        world = onlooker.world = World(library, script=script, observer=onlooker)
        run = onlooker.root = world.start(
            "w", case.input, trigger=case.trigger, overrides=case.overrides, credits=case.credits
        )
        world.run()
    assert not world.unfinished(), world.unfinished()
    rows = {one: row for one in world.store.runs() if (row := world.store.row(one)) is not None}
    journals = {one: [decode_entry(body) for body in world.store.journal(one)] for one in rows}
    sections = world.store.sections(run) or {}
    views = node_views(compile_definition(library, "w"), load_run(sections))
    firings = [_firing(firing, rows) for firing in world.store.firings()]
    children = [row for row in rows.values() if row.parent is not None]
    return seen(rows[run], journals, tuple(sections), children, views, firings)


def play_sqlite(case: Case) -> Outcome:
    """On a real file, in real time."""
    with TemporaryDirectory() as folder:
        outcome = asyncio.run(_play_sqlite(case, Path(folder, "store.db")))
        assert verify(Path(folder, "store.db")).problems == ()
        return outcome


async def _play_sqlite(case: Case, path: Path) -> Outcome:
    workers = Executor()
    host = await SqliteHost.open(path, workers=workers)
    workers.use(path.parent, host.artifacts, host.idempotency, host.events)
    try:
        library = library_of(case)
        for name in case.others if case.triggers else ():
            await host.deploy(bundle_of(library, name), name)
        version = await host.deploy(bundle_of(library, "w"), "w")
        await host.deploy_triggers(library.triggers)
        balance = balance_of(library.settings)
        if balance is not None:
            await host.open_account(balance)
        run, _ = await host.start(
            NewRun("w", version, case.input, overrides=case.overrides, trigger=case.trigger, credits=case.credits)
        )
        async with asyncio.timeout(20), asyncio.TaskGroup() as people:
            people.create_task(_look_on(host, run, run, Audience(case), people))
        await host.idle()
        rows = await _tree(host, run)
        journals = {row.run: await host.reads.entries(row.run) for row in rows}
        views = node_views(compile_definition(library, "w"), await host.reads.live(run))
        every = {row.run: row for row in await host.reads.rows()}
        firings = [_firing(firing, every) for firing in reversed(await host.reads.firings())]
        return seen(rows[0], journals, await _kept(host, run), rows[1:], views, firings)
    finally:
        await host.close(0)


async def _look_on(host: SqliteHost, run: RunId, root: RunId, audience: Audience, people: asyncio.TaskGroup) -> None:
    """Do what people do, and look at the children too; ends with the run."""

    async def act_on(act: Act, decision: Decision) -> None:
        await asyncio.sleep(act.after_ms / 1000)
        told = msgspec.structs.replace(act.tell(decision), at=wall_ms())
        await host.deliver(run if act.to == "there" else root, told)

    while await host.reads.row(run) is None:
        await asyncio.sleep(0.001)
    async for entry in host.reads.watch(run):
        for decision in entry.decisions:
            for act in audience.called_for(decision):
                people.create_task(act_on(act, decision))
            if isinstance(decision, CallWorkflow):
                people.create_task(_look_on(host, decision.child, root, audience, people))


async def _tree(host: SqliteHost, run: RunId) -> list[RunRow]:
    row = await host.reads.row(run)
    assert row is not None
    below = [each for child in await host.reads.children(run) for each in await _tree(host, child.run)]
    return [row, *below]


async def _kept(host: SqliteHost, run: RunId) -> tuple[str, ...]:
    """The names of the sections a stored run still has."""
    live = await host.reads.live(run)
    assert live is not None
    state = live.state
    left = [f"tokens/{n}" for n in state.tokens] + [f"group/{n}" for n in state.groups]
    return (*left, *(f"slots/{slot}" for slot in state.slots), *(f"arrived/{a}" for a in state.arrived))


def really_run(library: Library, artifacts: Artifacts, runner: asyncio.Runner) -> dict[str, ScriptedAnswer]:
    """Answers worked out by the executor, on a clock that passes at once. Nodes of two workflows differ in name."""
    programs = [compile_definition(library, name) for name in (*library.workflows, *library.flows)]
    tasks = {name: place.task for program in programs for name, place in program.nodes.items() if place.task}
    keys = MemoryIdempotencyStore()

    def answer(call: ScriptedCall) -> Answer:
        task = tasks[call.node]
        clock = VirtualClock()
        token = TokenId(crc32(f"{call.node}/{call.path}/{call.visit}".encode()))  # the steps of each are its own
        asked = TaskCall(call.run, token, call.node, call.attempt, call.input)
        outlet = MemoryEventSink()
        resources = Resources(
            clock,
            ThreadPool(1),
            artifacts=artifacts,
            idempotency=keys,
            event_sink=outlet,
            wall_clock=lambda: call.at + clock.now(),
        )
        answer = answer_of(runner.run(run_task(asked, compile_task(task, library), resources)), clock.now())
        publishes = tuple((made.event, made.data) for made in outlet.events)
        return msgspec.structs.replace(answer, publishes=publishes)

    return dict.fromkeys(tasks, answer)


def seen(
    row: RunRow,
    journals: dict[RunId, list[Entry]],
    sections: tuple[str, ...],
    children: list[RunRow],
    views: dict[str, NodeView],
    firings: list[FiringSeen],
) -> Outcome:
    """What a reader of the store can tell."""
    entries = journals[row.run]
    tokens = tuple(TokenSeen(t.node, t.status, t.path, t.branch_index) for t in token_views(entries))
    told = [d for journal in journals.values() for e in journal for d in e.decisions if isinstance(d, ReplyTo)]
    return Outcome(
        status=row.status,
        output=row.output,
        error_type=None if row.error is None else row.error.type,
        error_message="" if row.error is None else row.error.message,
        tokens=tokens,
        events=tuple(events_in(row.run, entries)),
        took_ms=(row.ended_at or 0) - row.submitted_at,
        sections=sections,
        children=tuple(_child(child) for child in children),
        replies=tuple(ReplySeen(reply.id, reply.accepted, reply.why) for reply in told),
        decisions=tuple(tag(decision) for entry in entries for decision in entry.decisions),
        views=views,
        firings=tuple(firings),
        journal=b"".join(encode_entry(entry) for entry in entries),
    )


def _firing(row: FiringRow, runs: dict[RunId, RunRow]) -> FiringSeen:
    status = None if row.run is None else runs[row.run].status
    return FiringSeen(row.trigger, row.type, row.depth, status, row.code)


def _child(row: RunRow) -> RunSeen:
    assert row.parent is not None
    error = None if row.error is None else row.error.type
    return RunSeen(row.run, row.workflow, row.status, row.output, row.parent.root, row.parent.depth, error)

"""The engine: deploy, start, ask, cancel. Every rule is below it; it picks a host and wires it up."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from os import PathLike
from pathlib import Path

import msgspec

from jeton.actor.ports import RunRow
from jeton.actor.run_actor import LiveRun
from jeton.definitions.bundle import bundle_of
from jeton.engine.events import events_in, trace_in
from jeton.engine.explain.answer import Told, explain_run, explain_token, explain_transition
from jeton.engine.explain.views import Explanation
from jeton.engine.input import check_input, plain_input
from jeton.engine.published import EmittedEvent, MetricValue, emitted_event, metric_value
from jeton.engine.record import RunRecord, record_of
from jeton.engine.source import Built, Source, load_source
from jeton.engine.tokens import TokenView, token_views
from jeton.executor import Executor
from jeton.executor.secrets import redacted_logs
from jeton.hosts.sqlite import SqliteHost, wall_ms
from jeton.hosts.sqlite.connect import Durability
from jeton.model.entry import Entry
from jeton.model.failure import Problem, Refused
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.message import CancelRun
from jeton.model.run import TERMINAL, Head, RunStatus
from jeton.model.workflow import Library
from jeton.planning.program import Program, compile_program

GRACE_S = 5.0
ANSWER_WITHIN_S = 10.0


class Deployment(msgspec.Struct, frozen=True):
    """The version each workflow has now, and the warnings that did not stop it."""

    versions: dict[str, int]
    warnings: tuple[Problem, ...]


class CancelAnswer(msgspec.Struct, frozen=True):
    """Whether a cancellation was taken, or came after the end; `record` says how the run stands."""

    accepted: bool
    record: RunRecord


class Context(msgspec.Struct, frozen=True):
    """A run's data: what it was given, what it keeps, what it has to say so far."""

    input: Json
    state: JsonObject
    output: Json


@asynccontextmanager
async def open(
    store: str | PathLike[str],
    *,
    durability: Durability = "full",
    owner: bool = True,
    work: bool = True,
    grace_s: float = GRACE_S,
) -> AsyncGenerator["Engine", None]:
    """An engine on a store, which is made if it is not there; unfinished runs in it go on.

    One process owns a store, and only it moves runs; `owner=False` reads, and leaves messages for whoever does.
    With `work=False` runs move and their tasks do not. On leaving, running tasks have `grace_s` seconds to finish; the
    rest is taken up when the store is next opened.
    """
    if str(store).startswith("restate:"):
        raise Refused("unsupported_store", "this version has no Restate host", "name a file")
    workers = Executor() if owner and work else None
    host = await SqliteHost.open(store, workers=workers, durability=durability, owner=owner)
    if workers is not None:
        workers.use(Path(store).absolute().parent, host.artifacts, host.keys, host.outlet)
    with ExitStack() as logs:
        if workers is not None:
            logs.enter_context(redacted_logs(workers.secrets))
        try:
            yield Engine(host)
        finally:
            await host.close(grace_s)


class Engine:
    """All runs of one store."""

    def __init__(self, host: SqliteHost) -> None:
        self._host = host
        self._programs: dict[tuple[str, int], Program] = {}

    # definitions

    async def deploy(self, source: Source) -> Deployment:
        """Store definitions; raises DefinitionError with every problem. The same definition is the same version."""
        loaded = load_source(source)
        return Deployment(await self.deploy_library(loaded.require()), loaded.problems)

    async def deploy_library(self, library: Library) -> dict[str, int]:
        """Store definitions that were loaded and checked before; the version of each workflow."""
        return {name: await self._host.deploy(bundle_of(library, name), name) for name in library.workflows}

    # runs

    async def start(
        self, workflow: str | Built, input: object = None, *, key: str | None = None, trace: bool = False
    ) -> "Run":
        """Begin a run of a workflow: by name, by `name@3`, or one built in Python, which is deployed first.

        One run per workflow and `key`: starting it again gives the same run. Raises InputInvalid, and makes no run,
        for an input that does not fit. `trace` has the run's events include what was decided.
        """
        if isinstance(workflow, Built):
            await self.deploy(workflow)
        name, version = _reference(workflow)
        bundle, version = self._bundle(name, version)
        value = plain_input({} if input is None else input)
        check_input(bundle.workflows[name].input_schema, value)
        run, _ = await self._host.start(name, version, value, key=key)
        return Run(self, run, trace=trace)

    def run(self, run: str) -> "Run":
        """A run that was started before; raises Refused if there is none of that name."""
        return Run(self, self._row(run).run)

    async def get(self, run: str) -> RunRecord:
        """How a run stands."""
        row = self._row(run)
        live = None if row.status in TERMINAL else await asyncio.to_thread(self._host.live, row.run)
        return record_of(row, None if live is None else live.state)

    async def list(
        self,
        *,
        workflow: str | None = None,
        status: RunStatus | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> tuple[RunRecord, ...]:
        """Runs, newest first; `after` is the last run of the page before."""
        last = None if after is None else RunId(after)
        rows = await asyncio.to_thread(
            lambda: self._host.rows(workflow=workflow, status=status, after=last, limit=limit)
        )
        return tuple(record_of(row, None) for row in rows)

    async def cancel(self, run: str, reason: str = "") -> CancelAnswer:
        """Stop a run. Whichever of cancel, timeout and completion is committed first wins; the answer says which."""
        row = self._row(run)
        if row.status in TERMINAL:
            return CancelAnswer(False, record_of(row, None))
        await self._host.deliver(row.run, CancelRun(wall_ms(), reason))
        try:
            record = await self.ended(row.run, timeout=ANSWER_WITHIN_S)
        except TimeoutError:
            return CancelAnswer(True, await self.get(run))  # it is in the inbox, for whoever owns the store
        return CancelAnswer(record.status == "cancelled", record)

    async def ended(self, run: str, timeout: float | None = None) -> RunRecord:
        """Wait for a run's end. Raises TimeoutError if it has not come in time; the run goes on."""
        known = self._row(run).run
        async with asyncio.timeout(timeout):
            return record_of(await self._host.ended(known), None)

    # what happened, and why

    async def events(
        self, run: str, after: int = -1, *, follow: bool = False, trace: bool = False
    ) -> AsyncGenerator[JsonObject, None]:
        """A run's events behind a sequence number; with `follow`, also those to come, until the run has ended."""
        known = self._row(run).run
        async for entry in self.journal(run, follow=follow):
            if trace:
                for decided in trace_in(known, entry):
                    yield decided
            for event in events_in(known, (entry,), after):
                yield event

    async def journal(self, run: str, after: int = -1, *, follow: bool = False) -> AsyncGenerator[Entry, None]:
        """A run's journal entries, oldest first; with `follow`, also those to come, until the run has ended."""
        known = self._row(run).run
        if follow:
            async for entry in self._host.watch(known, after):
                yield entry
        else:
            for entry in await asyncio.to_thread(self._host.entries, known, after):
                yield entry

    async def tokens(self, run: str) -> tuple[TokenView, ...]:
        """Every token the run ever had."""
        known = self._row(run).run
        return await asyncio.to_thread(lambda: tuple(token_views(self._host.entries(known))))

    async def context(self, run: str) -> Context:
        """The run's data as it is now, or was when the run ended."""
        row = self._row(run)
        live = await asyncio.to_thread(self._live, row.run)
        state = live.state
        return Context(state.input, state.state, row.output if row.status == "completed" else state.output)

    async def emitted(
        self, *, run: str | None = None, event: str | None = None, after: int = 0, limit: int = 100
    ) -> tuple[EmittedEvent, ...]:
        """What actions published, oldest first: of a run, of a name, or all. `after` is the last one's number."""
        known = None if run is None else self._row(run).run
        found = await asyncio.to_thread(lambda: self._host.published(run=known, event=event, after=after, limit=limit))
        return tuple(map(emitted_event, found))

    async def metrics(self, run: str | None = None) -> tuple[MetricValue, ...]:
        """What actions measured in a run; or in all runs, those that are not kept any more too."""
        known = None if run is None else self._row(run).run
        return tuple(map(metric_value, await asyncio.to_thread(self._host.numbers, known)))

    async def explain(self, run: str, *, token: int | None = None, transition: int | None = None) -> Explanation:
        """Why the run, one of its tokens or one of its transitions did what it did."""
        if token is not None and transition is not None:
            raise Refused("ambiguous", "asked about a token and about a transition", "ask about one of them")
        row = self._row(run)
        return await asyncio.to_thread(self._explain, row, token, transition)

    def _explain(self, row: RunRow, token: int | None, transition: int | None) -> Explanation:
        head = Head(row.run, row.workflow, row.version)
        told = Told(self._program(row.workflow, row.version), head, self._host.entries(row.run))
        if token is not None:
            return explain_token(told, token)
        if transition is not None:
            return explain_transition(told, transition)
        return explain_run(told, self.needs_app.get(row.run))

    @property
    def needs_app(self) -> dict[RunId, str]:
        """Runs that are parked because a Python function of theirs is not here, and which function that is."""
        return self._host.needs_app

    async def idle(self) -> None:
        """Wait until nothing moves: every run has ended, or waits for a time or for somebody."""
        await self._host.idle()

    def workflow(self, reference: str) -> Library:
        """A deployed workflow with all it reaches; raises Refused if there is none."""
        return self._bundle(*_reference(reference))[0]

    # the host

    def _row(self, run: str) -> RunRow:
        row = self._host.row(RunId(run))
        if row is None:
            raise Refused("unknown_run", f"there is no run '{run}' in this store", "list the runs there are")
        return row

    def _live(self, run: RunId) -> LiveRun:
        live = self._host.live(run)
        assert live is not None, "a run with a row has sections"
        return live

    def _bundle(self, name: str, version: int | None) -> tuple[Library, int]:
        found = self._host.bundle(name, version)
        if found is None:
            called = name if version is None else f"{name}@{version}"
            raise Refused("unknown_workflow", f"no workflow '{called}' is deployed in this store", "deploy it first")
        return found

    def _program(self, name: str, version: int) -> Program:
        if (name, version) not in self._programs:
            bundle, _ = self._bundle(name, version)
            self._programs[name, version] = compile_program(bundle.workflows[name], bundle)
        return self._programs[name, version]


class Run:
    """One run, as whoever started it holds it."""

    def __init__(self, engine: Engine, run: RunId, *, trace: bool = False) -> None:
        self._engine = engine
        self._trace = trace
        self.id = run

    async def result(self, timeout: float | None = None) -> RunRecord:
        """How the run ended, well or badly. Raises TimeoutError if it has not in time; the run goes on."""
        return await self._engine.ended(self.id, timeout)

    async def record(self) -> RunRecord:
        """How the run stands now."""
        return await self._engine.get(self.id)

    def events(self, after: int = -1, *, follow: bool = True) -> AsyncGenerator[JsonObject, None]:
        """The run's events behind a sequence number, until it has ended."""
        return self._engine.events(self.id, after, follow=follow, trace=self._trace)

    async def cancel(self, reason: str = "") -> CancelAnswer:
        """Stop the run."""
        return await self._engine.cancel(self.id, reason)

    def __repr__(self) -> str:
        return f"Run({self.id!r})"


def _reference(workflow: str | Built) -> tuple[str, int | None]:
    """`panel` is the newest version, `panel@3` the third."""
    name, at, version = (workflow.name if isinstance(workflow, Built) else workflow).partition("@")
    if at and not version.isdecimal():
        raise Refused("bad_reference", f"'{workflow}' names no version", f"write '{name}' or '{name}@3'")
    return name, int(version) if at else None

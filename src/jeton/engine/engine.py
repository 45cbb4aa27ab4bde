"""The engine: deploy, start, ask, cancel. Every rule is below it; it picks a host and wires it up."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from os import PathLike
from pathlib import Path
from uuid import uuid4

import msgspec

from jeton.definitions.bundle import bundle_of
from jeton.engine.arguments import MOST_ROWS, check_credits, check_maybe_texts, check_texts, check_whole
from jeton.engine.build.source import Built, Source, declared_in, is_built, load_source, origins_of
from jeton.engine.collecting import fewer_collections
from jeton.engine.input import check_input, plain_input, plain_value
from jeton.engine.paths import check_paths
from jeton.engine.pins import check_pins
from jeton.engine.reply import ANSWER_WITHIN_S, LOOK_AGAIN_S, Reply, ask, ended
from jeton.engine.triggers import Firing
from jeton.engine.views.flows import Overrides, overrides_in
from jeton.engine.views.gates import parts_of_gate, the_one_gate, unknown_gate
from jeton.engine.views.record import RunRecord, record_of
from jeton.executor import Executor
from jeton.executor.secrets import redacted_logs
from jeton.hosts.sqlite import SqliteHost, wall_ms
from jeton.hosts.sqlite.file.connect import Durability
from jeton.model.definition.workflow import Library
from jeton.model.failure import Problem, Refused
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import AnswerGate, CancelRun, PauseRun, SignalRun, UnpauseRun
from jeton.model.reference import parse_reference
from jeton.model.state.run import TERMINAL, RunStatus
from jeton.planning.credits import balance_of

GRACE_S = 5.0
RETRIED: tuple[RunStatus, ...] = ("failed", "timed_out", "exhausted")


class Deployment(msgspec.Struct, frozen=True):
    """The version each workflow and each flow has now, and the warnings that did not stop it.

    `removed` are triggers that the same source had before and has no longer."""

    versions: dict[str, int]
    warnings: tuple[Problem, ...]
    removed: tuple[str, ...] = ()


class CancelAnswer(msgspec.Struct, frozen=True):
    """Whether a cancellation was taken, or came after the end; `record` says how the run stands."""

    accepted: bool
    record: RunRecord


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
        workers.use(Path(store).absolute().parent, host.artifacts, host.keys, host.outlet, host.clock)
    with ExitStack() as while_open:
        if workers is not None:
            while_open.enter_context(redacted_logs(workers.secrets))
            while_open.enter_context(fewer_collections())
        try:
            yield Engine(host)
        finally:
            await host.close(grace_s)


class Engine(Firing):
    """All runs of one store: those of `Reading` to look at, those of `Firing` to begin by themselves, here to move."""

    # definitions

    async def deploy(self, source: Source) -> Deployment:
        """Store definitions; raises DefinitionError with every problem. The same definition is the same version."""
        loaded = load_source(source)
        return await self.deploy_library(loaded.require(), declared_in(source), loaded.problems)

    async def deploy_library(
        self, library: Library, file: str | None, warnings: tuple[Problem, ...] = ()
    ) -> Deployment:
        """Store definitions that were loaded and checked before. `file` is where they stand, as `declared_in` says."""
        check_pins(self._host, library)
        origins = origins_of(library, file)
        check_paths(self._host, library, origins)
        names = (*library.workflows, *library.flows)
        versions = {name: await self._host.deploy(bundle_of(library, name), name) for name in names}
        balance = balance_of(library.settings)
        if balance is not None:
            await self._host.open_account(balance)
        return Deployment(versions, warnings, tuple(await self._deploy_triggers(library, file, origins)))

    async def _deploy_triggers(self, library: Library, file: str | None, origins: tuple[str, ...]) -> list[str]:
        """A file is taken at its word: a trigger that it had and has no longer is removed."""
        known = {row.origin for row in self._host.triggers()} if origins else set[str]()
        if not library.triggers and known.isdisjoint(origins):
            return []  # as most often, and then nothing need be written
        return await self._host.deploy_triggers(library.triggers, file=file or "", origins=origins)

    # runs

    async def start(
        self,
        workflow: str | Built,
        input: object = None,
        *,
        key: str | None = None,
        overrides: Overrides | None = None,
        trace: bool = False,
        credits: int | None = None,
    ) -> "Run":
        """Begin a run of a workflow or a flow: by name, by `name@3`, or one built in Python, which is deployed first.

        One run per workflow and `key`: starting it again gives the same run. Raises InputInvalid, and makes no run,
        for an input that does not fit. `overrides` are inputs of a flow's nodes for this run, by node and handle.
        `trace` has the run's events include what was decided. `credits` is all that the run, with the runs it calls,
        may cost; without it the project's account pays, if there is one.
        """
        check_maybe_texts(key=key)
        if credits is not None:
            check_credits("credits", credits)
        if is_built(workflow):
            await self.deploy(workflow)
        else:
            check_texts(workflow=workflow)
        name, version = parse_reference(workflow if isinstance(workflow, str) else workflow.name)
        bundle, version = self._bundle(name, version)
        value = plain_input({} if input is None else input)
        check_input(self._program(name, version), value)
        given = overrides_in(bundle, name, overrides)
        run, _ = await self._host.start(name, version, value, key=key, overrides=given, credits=credits)
        return Run(self, run, trace=trace)

    def run(self, run: str) -> "Run":
        """A run that was started before; raises Refused if there is none of that name."""
        return Run(self, self._row(run).run)

    async def cancel(self, run: str, reason: str = "") -> CancelAnswer:
        """Stop a run. Whichever of cancel, timeout and completion is committed first wins; the answer says which."""
        check_texts(reason=reason)
        row = self._row(run)
        if row.status in TERMINAL:
            return CancelAnswer(False, record_of(row, None))
        await self._host.deliver(row.run, CancelRun(wall_ms(), reason))
        try:
            record = await self.ended(row.run, timeout=ANSWER_WITHIN_S)
        except TimeoutError:
            return CancelAnswer(True, await self.get(run))  # it is in the inbox, for whoever owns the store
        return CancelAnswer(record.status == "cancelled", record)

    async def pause(self, run: str) -> RunRecord:
        """Have the run, and those it called, begin nothing new; what is under way finishes, and its results count."""
        return await self._pause(run, paused=True)

    async def unpause(self, run: str) -> RunRecord:
        """Have a paused run go on."""
        return await self._pause(run, paused=False)

    async def _pause(self, run: str, *, paused: bool) -> RunRecord:
        """Once more changes nothing. Beside an owner that does not answer in time, the message is left for the next."""
        row = self._row(run)
        if row.status in TERMINAL:
            raise ended(run, row.status)
        await self._host.deliver(row.run, PauseRun(wall_ms()) if paused else UnpauseRun(wall_ms()))
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_WITHIN_S):
                while (row := self._row(run)).paused != paused and row.status not in TERMINAL:
                    await asyncio.sleep(LOOK_AGAIN_S)
        if row.paused != paused and row.status in TERMINAL:  # it ended first; one that was unpaused may end at once
            raise ended(run, row.status)
        return await self.get(run)

    async def fork(self, run: str, at: int, writes: Mapping[str, Json] | None = None) -> "Run":
        """A new run that shares this one's history up to journal entry `at`, and goes on from there by itself.

        `writes` go into its state first: paths such as `state.verdict`. What was done by then is not done again.
        A flow has no state to write to."""
        check_whole("at", at, 0, MOST_ROWS)
        check_texts(**{f"writes[{index}]": path for index, path in enumerate(writes or {})})
        edits = {path: plain_value(value, path) for path, value in (writes or {}).items()}
        return Run(self, await self._host.fork(self._row(run).run, at, edits))

    async def retry(self, run: str, *, credits: int = 0) -> "Run":
        """A new run that does again what this one failed at: its fork at the end.

        `credits` are added to what a run that was started with its own has left."""
        row = self._row(run)
        check_credits("credits", credits)
        if row.status not in RETRIED:
            problem = f"run {run} is {row.status}, and only one that failed can be retried"
            raise Refused("not_failed", problem, "fork it, to go on from another place")
        if credits:
            purse = self._live(row.run).state.head.purse
            if purse is None or purse.account is not None:
                problem = f"run {run} has no credits of its own that {credits} could be added to"
                raise Refused("bad_amount", problem, "top up the project's account")
        return Run(self, await self._host.fork(row.run, row.entries - 1, {}, again=True, credits=credits))

    # people and other systems

    async def answer(
        self,
        run: str,
        value: Json,
        *,
        gate: str | None = None,
        node: str | None = None,
        path: str | None = None,
        by: str | None = None,
    ) -> Reply:
        """Answer a gate: the one with this id, the one at this node, which may not be open yet, or the only one open.

        Without a name it is the run's own gate, else that of a run it called. Raises Refused for an answer that is
        not taken: it does not fit, somebody else was asked, the gate is closed, the run has ended."""
        row = self._row(run)
        check_maybe_texts(gate=gate, node=node, path=path, by=by)
        answer = plain_value(value, "answer")
        if gate is not None and node is not None:
            raise Refused("ambiguous", "a gate and a node are named", "name one of them")
        if row.status in TERMINAL:
            raise ended(run, row.status)
        to, token = row.run, None
        if gate is not None:
            to, token = self._gate(row.run, gate)
        elif node is None:
            to, token = parts_of_gate(the_one_gate(run, await self.gates(run)).id)
        message = AnswerGate(wall_ms(), uuid4().hex, answer, by, token, node, path if token is None else None)
        return Reply(to, await ask(self._host, to, message), await self.get(run))

    async def signal(self, run: str, name: str, value: Json = None, *, key: str | None = None) -> Reply:
        """Send a run a value under a name: the oldest that waits for it goes on, or it is kept until somebody does.

        The same `key` twice is one signal. Raises Refused for a value that does not fit, and when the run has ended."""
        row = self._row(run)
        check_texts(name=name)
        check_maybe_texts(key=key)
        message = SignalRun(wall_ms(), uuid4().hex, name, plain_value(value, "signal"), key)
        return Reply(row.run, await ask(self._host, row.run, message), await self.get(run))

    def _gate(self, run: RunId, gate: str) -> tuple[RunId, TokenId]:
        """The run and the token of a gate of this run, or of one it called."""
        to, token = parts_of_gate(gate)
        if to not in self._tree(run) or token >= self._live(to).state.head.next_token:
            raise unknown_gate(gate)
        return to, token

    async def idle(self) -> None:
        """Wait until nothing moves: every run has ended, or waits for a time or for somebody."""
        await self._host.idle()


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

    async def answer(
        self,
        value: Json,
        *,
        gate: str | None = None,
        node: str | None = None,
        path: str | None = None,
        by: str | None = None,
    ) -> Reply:
        """Answer a gate of the run."""
        return await self._engine.answer(self.id, value, gate=gate, node=node, path=path, by=by)

    async def signal(self, name: str, value: Json = None, *, key: str | None = None) -> Reply:
        """Send the run a value under a name."""
        return await self._engine.signal(self.id, name, value, key=key)

    async def cancel(self, reason: str = "") -> CancelAnswer:
        """Stop the run."""
        return await self._engine.cancel(self.id, reason)

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

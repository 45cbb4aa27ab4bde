"""One run of a workflow on the simulated host, for tests: without a file, without waiting, without `await`."""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from os import PathLike, fspath
from typing import Any, TypeVar

from jeton.definitions.bundle import bundle_of
from jeton.definitions.report import closest, listed
from jeton.engine.build.source import Built, choose_definition, is_built, load_files, load_source
from jeton.engine.engine import Engine
from jeton.engine.views.explain.text import awaited
from jeton.engine.views.explain.views import RunExplained
from jeton.engine.views.flows import Overrides
from jeton.hosts.simulated.faults import FaultPlan
from jeton.hosts.simulated.host import SimulatedHost
from jeton.hosts.simulated.observer import Nobody, Step
from jeton.model.codes import RefusalCode
from jeton.model.decision import OpenGate, WaitForSignal
from jeton.model.definition.workflow import GateTarget, Library, WaitTarget
from jeton.model.failure import Refused
from jeton.model.ids import RunId, TokenId, gate_id
from jeton.model.times import moment
from jeton.planning.program.compile import compile_definition
from jeton.testing.calls import GivenResult, WatchedTasks, all_names, names_of, plain, result_names
from jeton.testing.failures import Failing
from jeton.testing.simulation import Simulation

MOST_TOLD = 10_000  # answers and signals; a loop through a gate that always gets its answer may have no end

Value = TypeVar("Value")


def simulate(
    definition: Built | Mapping[str, object] | str | PathLike[str],
    input: object = None,
    *,
    answers: Mapping[str, object] | None = None,
    signals: Mapping[str, object] | None = None,
    results: Mapping[str, GivenResult] | None = None,
    fail: Mapping[str, Failing] | None = None,
    name: str | None = None,
    overrides: Overrides | None = None,
    seed: int = 0,
    plan: FaultPlan | None = None,
    outside: bool = False,
) -> Simulation:
    """Run a workflow or a flow in virtual time, until it ends or waits for something that is not given here.

    `definition` is a `jeton.Workflow` or `jeton.Flow`, the content of a definition file, or the path of one, YAML or
    Python; `name` chooses one of several in it. Python functions are really called.

    `answers` are given at gates, by node, whenever one opens: a value, or a function of the `GateView`. `signals` are
    sent whenever a token waits for one of that name. `results` replace calls, by node or action: a value, or a function
    of the action's input. `fail` makes calls fail, by node or action: `2` the first two, `True` or a message or an
    exception all of them, a list call by call.

    HTTP calls, programs and files need a result in `results`, or `outside=True`, which really calls them. `seed` and
    `plan` decide the order of events, and faults, as in `open_simulated`.

    Raises DefinitionError, InputInvalid, and Refused for a name that is not there.
    """
    source = _loaded(definition)
    chosen = definition.name if is_built(definition) and name is None else name
    workflow = choose_definition(source, chosen, "the definition").name
    bundle = bundle_of(source, workflow)
    _check_names(bundle, answers or {}, signals or {}, results or {}, fail or {})
    tasks = WatchedTasks(results or {}, fail or {}, seed=seed, outside=outside)
    people = People(answers or {}, signals or {})

    async def run() -> Simulation:
        host = SimulatedHost(script=tasks, seed=seed, plan=plan, observer=people, reactions=1)  # nobody else reacts
        engine = Engine(host)
        try:
            await engine.deploy_library(bundle, None)
            started = await engine.start(workflow, input, overrides=overrides)
            await people.follow(engine, host, started.id)
            return await _simulation(engine, host, started.id, tasks, seed)
        finally:
            await host.close()

    return _run_to_end(run)


class People(Nobody):
    """Those who answer gates and send signals, as soon as a run waits for them."""

    def __init__(self, answers: Mapping[str, object], signals: Mapping[str, object]) -> None:
        self._answers = answers
        self._signals = signals
        self._asked: list[tuple[RunId, TokenId | str]] = []  # gates by their tokens, signals by name

    def committed(self, step: Step) -> None:
        for decision in step.entry.decisions if step.entry is not None else ():
            match decision:
                case OpenGate(token, node) if node in self._answers:
                    self._asked.append((step.run, token))
                case WaitForSignal(name=name, names=names):
                    self._asked += [(step.run, each) for each in (names or (name,)) if each in self._signals][:1]
                case _:
                    pass

    async def follow(self, engine: Engine, host: SimulatedHost, run: RunId) -> None:
        """Let time pass, and tell the run what it waits for, until it ends or nothing more will happen."""
        for _ in range(MOST_TOLD):
            await host.until(lambda: bool(self._asked or host.needs_app) or host.world.store.has_ended(run))
            if not self._asked:
                return
            to, what = self._asked.pop(0)
            if isinstance(what, str):
                await engine.signal(to, what, plain(self._signals[what]))
            else:
                await self._answer(engine, to, what)
        raise Refused("never_ends", f"after {MOST_TOLD} answers and signals it has not ended", "look for a loop")

    async def _answer(self, engine: Engine, run: RunId, token: TokenId) -> None:
        """Give all the answers that a gate needs, each by another person, unless it was closed by something else."""
        name = gate_id(run, token)
        while (gate := next((gate for gate in await engine.gates(run) if gate.id == name), None)) is not None:
            given = self._answers[gate.node]
            value = given(gate) if callable(given) else given
            people = [*gate.assignees, *(f"person {n + 1}" for n in range(gate.approvals))]
            await engine.answer(run, plain(value), gate=name, by=people[gate.answers])


async def _simulation(engine: Engine, host: SimulatedHost, run: RunId, tasks: WatchedTasks, seed: int) -> Simulation:
    for missing in host.needs_app.values():
        raise Refused("needs_app", f"there is no function {missing} here", "import its module in the test")
    record = await engine.get(run)
    events = tuple([event async for event in engine.events(run)])
    state = (await engine.context(run)).state
    waits = await _waits(engine, host)
    took = (record.completed_at or moment(host.now())) - record.submitted_at
    return Simulation(record, state, events, tuple(tasks.calls), waits, seed, took)


async def _waits(engine: Engine, host: SimulatedHost) -> tuple[str, ...]:
    """What each run waits for that has not ended, and the argument that would give it."""
    found: list[str] = []
    for run in host.world.unfinished():
        explained = await engine.explain(run)
        for wait in explained.waits if isinstance(explained, RunExplained) else ():
            hint = {"gate": f"answers={{'{wait.node}': …}}", "signal": f"signals={{'{wait.label}': …}}"}.get(wait.kind)
            if wait.kind not in ("subworkflow", "siblings", "branch"):  # another token says why
                found.append(f"'{wait.node}' waits for {awaited(wait)}{f', give {hint}' if hint else ''}")
    return tuple(found)


def _loaded(definition: Built | Mapping[str, object] | str | PathLike[str]) -> Library:
    if isinstance(definition, str | PathLike):
        return load_files([fspath(definition)]).require()
    return load_source(definition).require()


def _check_names(
    bundle: Library,
    answers: Mapping[str, object],
    signals: Mapping[str, object],
    results: Mapping[str, object],
    fail: Mapping[str, object],
) -> None:
    """Raise Refused for a name that nothing has: a test with it would pass for the wrong reason."""
    programs = [compile_definition(bundle, name) for name in (*bundle.workflows, *bundle.flows)]
    nodes = [node for program in programs for node in program.nodes.values()]
    targets = [(node.name, node.definition.target) for node in nodes]
    gates = [name for name, target in targets if isinstance(target, GateTarget)]
    heard = [name for _, target in targets if isinstance(target, WaitTarget) for name in target.hears]
    tasks = [(node.name, node.task) for node in nodes if node.task is not None]
    _check("answers", answers, gates, "no gate has that name", "unknown_node")
    _check("signals", signals, heard, "no node waits for a signal of that name", "signal_refused")
    no_call = "no node or action that is called has that name"
    _check("results", results, all_names(tasks, result_names), no_call, "unknown_node")
    _check("fail", fail, all_names(tasks, names_of), no_call, "unknown_node")


def _check(argument: str, given: Mapping[str, object], known: Collection[str], problem: str, code: RefusalCode) -> None:
    for name in given:
        if name not in known:
            meant = closest(name, known)
            there = f"there are: {listed(list(dict.fromkeys(known)))}" if known else "there is none"
            raise Refused(code, f"{argument} has '{name}', and {problem}", f"write '{meant}'" if meant else there)


def _run_to_end(work: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
    """Run on an event loop of its own, in a thread if this one has a loop that is running."""
    if not _has_running_loop():
        return _on_new_loop(work)
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(copy_context().run, _on_new_loop, work).result()


def _has_running_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _on_new_loop(work: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
    """Unlike asyncio.run, leave alone the loop that `get_event_loop` gives to the code around."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work())
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()

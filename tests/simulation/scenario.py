"""One seed: a workflow, its runs, what will go wrong, and everybody who watches."""

from collections import Counter
from random import Random

import msgspec

from jeton.actor.journal import decode_entry
from jeton.hosts.simulated.faults import FaultPlan, storm_from_seed
from jeton.hosts.simulated.observer import Step
from jeton.hosts.simulated.world import World
from jeton.model.effect import Effect
from jeton.model.entry import Entry
from jeton.model.ids import RunId
from tests.simulation.coverage import Coverage
from tests.simulation.differential import Twin
from tests.simulation.grammar import words
from tests.simulation.grammar.data import tasks_with_data, with_data
from tests.simulation.grammar.ends import with_ends
from tests.simulation.grammar.graph import workflow_from
from tests.simulation.grammar.words import Object, SeededScript
from tests.simulation.invariants.check import RunInvariants
from tests.simulation.invariants.folding import batch_repeats, journal_folds, sections_reload
from tests.simulation.invariants.seen import Seen
from tests.simulation.loading import library_of

CLOSE_LOOKS = 0.1  # of all commits are loaded, folded and repeated; so is the last of every run


class Stuck(AssertionError):
    """All faults are over, nothing will happen any more, and a run has not ended."""


class Scenario(msgspec.Struct, frozen=True):
    """Everything that follows from a seed. The same scenario is the same history, byte for byte."""

    seed: int
    workflow: Object
    tasks: Object
    inputs: tuple[Object, ...]
    cancels: tuple[tuple[int, int], ...]  # run, after how many ms
    plan: FaultPlan
    compared: bool  # in short batches the engine stops where the oracle goes on


class Played(msgspec.Struct, frozen=True):
    """What came of it."""

    digest: str
    cases: Counter[str]
    commits: int


def scenario_from(seed: int) -> Scenario:
    rng = Random(f"{seed}/scenario")
    plan = storm_from_seed(seed)
    short = rng.random() < 0.1
    runs = rng.choice((1, 1, 1, 1, 2, 3))
    data = Random(f"{seed}/data")
    workflow = with_data(data, with_ends(Random(f"{seed}/ends"), workflow_from(Random(f"{seed}/graph"))))
    return Scenario(
        seed=seed,
        workflow=workflow,
        tasks=tasks_with_data(data, words.tasks(rng)),
        inputs=tuple(words.run_input(rng) for _ in range(runs)),
        cancels=tuple((run, rng.randint(0, 80)) for run in range(runs) if rng.random() < 0.07),
        plan=msgspec.structs.replace(plan, moves=rng.randint(1, 6)) if short else plan,
        compared=not short,
    )


class Watchers:
    """The oracle's twins, the invariants and the counters, on every run of a world."""

    looks_back: bool = True

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._chance = Random(f"{scenario.seed}/looks")
        self._invariants: dict[RunId, RunInvariants] = {}
        self._twins: dict[RunId, Twin] = {}
        self.coverage = Coverage()
        self.commits = 0
        self.world: World | None = None

    def committed(self, step: Step) -> None:
        self.commits += 1
        self.coverage.committed(step)
        if step.turn.entry is not None:
            entry = decode_entry(step.turn.entry.body)
            self._of(step.run).committed(Seen(step.program, step.turn, entry, step.live, step.turn.effects))
        if self._scenario.compared:
            if step.run not in self._twins:
                self._twins[step.run] = Twin(step.run, self._scenario.workflow, self._scenario.tasks)
            self._twins[step.run].committed(step)
        if step.turn.ended or self._chance.random() < CLOSE_LOOKS:
            self._look_closely(step)

    def released(self, run: RunId, effect: Effect) -> None:
        self._of(run).released(effect)

    def _of(self, run: RunId) -> RunInvariants:
        if run not in self._invariants:
            self._invariants[run] = RunInvariants()
        return self._invariants[run]

    def _look_closely(self, step: Step) -> None:
        batch_repeats(step)
        assert self.world is not None
        sections = self.world.store.sections(step.run)
        if sections is not None:
            sections_reload(step.live, sections)
            journal_folds(step.live, journal(self.world, step.run), sections)


def journal(world: World, run: RunId) -> list[Entry]:
    return [decode_entry(body) for body in world.store.journal(run)]


def prepared(scenario: Scenario) -> tuple[World, Watchers]:
    """The world of a scenario, before anything has happened in it."""
    watchers = Watchers(scenario)
    library = library_of(scenario.workflow, scenario.tasks)
    script = SeededScript(scenario.seed)
    world = watchers.world = World(library, seed=scenario.seed, plan=scenario.plan, script=script, observer=watchers)
    pace = Random(f"{scenario.seed}/starts")
    runs = [world.start("w", given, after_ms=pace.randint(0, 10)) for given in scenario.inputs]
    for run, after_ms in scenario.cancels:
        world.cancel(runs[run], "enough", after_ms=after_ms)
    return world, watchers


def finish(world: World, watchers: Watchers) -> Played:
    """Let everything happen: first the storm, then the calm in which every run must come to its end."""
    world.run()
    stuck = world.unfinished()
    if stuck:
        raise Stuck("; ".join(f"{run}: {world.store.row(run)}" for run in stuck))
    cases = Counter(watchers.coverage.seen)
    cases.update(f"fault: {kind}" for kind, _ in world.faults.struck)
    cases["clock set back"] += sum(kind == "clock_jump" and fault.by_ms < 0 for kind, fault in world.faults.struck)
    cases["crash"] += world.crashes
    return Played(world.store.digest(), cases, watchers.commits)


def play(scenario: Scenario) -> Played:
    return finish(*prepared(scenario))

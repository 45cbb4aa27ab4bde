"""One seed: workflows that call one another, the people they ask, what goes wrong, and everybody who watches."""

from collections import Counter
from random import Random

import msgspec

from jeton.actor.journal import decode_entry
from jeton.definitions.library import read_library
from jeton.definitions.report import Report
from jeton.definitions.text.files import SourceFile
from jeton.definitions.text.python import read_python
from jeton.executor.signals import SentSignal
from jeton.hosts.simulated.faults import FaultPlan, storm_from_seed
from jeton.hosts.simulated.observer import Step
from jeton.hosts.simulated.script import Answer, Script, ScriptedCall
from jeton.hosts.simulated.world import World
from jeton.model.definition.workflow import Library
from jeton.model.effect import Effect
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId
from tests.simulation.coverage_waits import WaitCoverage
from tests.simulation.grammar import waits as grammar_waits
from tests.simulation.grammar.waits import TASKS, Object, agrees, library_from_seed
from tests.simulation.invariants.check import RunInvariants
from tests.simulation.invariants.folding import batch_repeats, journal_folds, sections_reload
from tests.simulation.invariants.seen import Seen, broken
from tests.simulation.invariants.waits import Waits
from tests.simulation.scenario import Played, journal
from tests.simulation.stories.naps import Naps
from tests.simulation.stories.people import People
from tests.simulation.stories.questions import Questions

CLOSE_LOOKS = 0.1
TROUBLES = ("timed_out", "worker_lost")


class WaitScenario(msgspec.Struct, frozen=True):
    """Everything that follows from a seed."""

    seed: int
    made: grammar_waits.Library
    plan: FaultPlan
    runs: int
    forks: int
    cancels: bool


def waits_from(seed: int) -> WaitScenario:
    rng = Random(f"{seed}/waits")
    plan = storm_from_seed(seed)
    if rng.random() < 0.15:
        plan = msgspec.structs.replace(plan, moves=rng.randint(1, 6))
    return WaitScenario(
        seed, library_from_seed(rng), plan, rng.choice((1, 1, 2)), rng.choice((0, 0, 1, 2)), rng.random() < 0.6
    )


def read(workflows: Object) -> Library:
    report = Report()
    document = read_python({"workflows": workflows, "tasks": TASKS}, "grammar", report)
    assert document is not None
    library = read_library([SourceFile("grammar", document)], report).library()
    assert not report.problems, report.problems
    return library


def says(call: ScriptedCall) -> Answer:
    """The node and where it stands; a task that is retried fails first, and `x` always."""
    if call.node.startswith("x"):
        return Answer(failure=TaskFailed("boom", "as it should"))
    if "_to_" in call.node:
        name = call.node.partition("_to_")[2]
        key = f"{call.run}/{call.node}/{call.path}/{call.visit}/{call.attempt}"
        return Answer({}, signals=(SentSignal(call.run, name, f"signal {name}", key),))
    if call.node.startswith("r") and call.attempt < 3:
        return Answer(failure=TaskFailed("boom", "not yet", retry=True))
    return Answer({"v": f"{call.node}@{call.path}"})


class WaitWatchers:
    """The invariants, the counters and the people, on every run of a world."""

    looks_back: bool = True

    def __init__(self, seed: int) -> None:
        self._chance = Random(f"{seed}/looks")
        self._invariants: dict[RunId, RunInvariants] = {}
        self.coverage = WaitCoverage()
        self.commits = 0
        self.world: World | None = None
        self.waits: Waits | None = None
        self.people: People | None = None

    def committed(self, step: Step) -> None:
        assert self.world is not None
        assert self.waits is not None
        self.commits += 1
        self.coverage.committed(step)
        forked = step.live.state.head.forked is not None
        if step.turn.entry is not None and not forked:  # a fork's tokens and timers began in another run
            entry = decode_entry(step.turn.entry.body)
            invariants = self._invariants.setdefault(step.run, RunInvariants())
            invariants.committed(Seen(step.program, step.turn, entry, step.live, step.turn.effects))
        self.waits.committed(step)
        if step.turn.ended or forked or self._chance.random() < CLOSE_LOOKS:
            batch_repeats(step)
            sections = self.world.store.sections(step.run)
            if sections is not None:
                sections_reload(step.live, sections)
                journal_folds(step.live, journal(self.world, step.run), sections)
        if self.people is not None:
            self.people.committed(step)

    def released(self, run: RunId, effect: Effect) -> None:
        if run in self._invariants:
            self._invariants[run].released(effect)


def watched_world(seed: int, library: Library, plan: FaultPlan, script: Script) -> tuple[World, WaitWatchers]:
    """A world with every invariant looking on."""
    watchers = WaitWatchers(seed)
    world = watchers.world = World(library, seed=seed, plan=plan, script=script, observer=watchers)
    watchers.waits = Waits(world)
    return world, watchers


def play_waits(scenario: WaitScenario) -> Played:
    """Let everything happen, and see that what completed came to the right value, and what did not had a reason."""
    library = read(scenario.made.workflows)
    naps, questions = Naps(scenario.seed), Questions(scenario.seed)

    def answer(call: ScriptedCall) -> Answer:
        return questions.before(call, naps.before(call, says(call)))

    answers = {node: answer for workflow in library.workflows.values() for node in workflow.nodes}
    script = Script(answers, seed=scenario.seed)
    world, watchers = watched_world(scenario.seed, library, scenario.plan, script)
    rng = Random(f"{scenario.seed}/people")
    gates = {name: root_gates(made) for name, made in scenario.made.workflows.items()}
    people = watchers.people = People(world, rng, forks=scenario.forks, cancels=scenario.cancels, gates=gates)
    roots = [world.start("w", {}, after_ms=rng.randint(0, 10)) for _ in range(scenario.runs)]
    for root in roots:
        people.before(root, "w")
    world.run()
    assert watchers.waits is not None
    watchers.waits.over()
    for run in (*roots, *people.forked):
        _came_to_what_it_should(scenario, world, people, run)
    cases = Counter(watchers.coverage.seen)
    cases.update(f"waits, fault: {kind}" for kind, _ in world.faults.struck)
    return Played(world.store.digest(), cases, watchers.commits)


def root_gates(workflow: Object) -> list[str]:
    nodes = workflow["nodes"].items()
    return [name for name, node in nodes if name[0] in "gp" and f"state.{name}" in node["output_mapping"]]


def _came_to_what_it_should(scenario: WaitScenario, world: World, people: People, run: RunId) -> None:
    row = world.store.row(run)
    assert row is not None
    troubled = bool(world.faults.struck) or bool(people.cancelled)
    match row.status:
        case "completed":
            expected = scenario.made.expected("w")
            if not agrees(row.output, expected, troubled=troubled):
                broken(f"run {run} ended with {row.output}, and should have with {expected}")
        case "cancelled":
            if run not in people.cancelled:
                broken(f"run {run} was cancelled by nobody")
        case "failed":
            error = "" if row.error is None else row.error.type
            child = any(cancelled.startswith(f"{run}.") for cancelled in people.cancelled)
            if not (error in TROUBLES and world.faults.struck) and not (error == "cancelled" and child):
                broken(f"run {run} failed for no reason: {row.error}")
        case _:
            broken(f"run {run} is {row.status}: {row.error}")

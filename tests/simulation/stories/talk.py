"""One seed: agents, the people who speak to them, what goes wrong, and everybody who watches."""

from collections import Counter
from functools import lru_cache
from random import Random

import msgspec

from jeton.definitions.library import read_library
from jeton.definitions.report import Report
from jeton.definitions.text.files import SourceFile
from jeton.definitions.text.python import read_python
from jeton.hosts.simulated.faults import FaultPlan, storm_from_seed
from jeton.hosts.simulated.memory.definitions import Definitions
from jeton.hosts.simulated.observer import Step
from jeton.hosts.simulated.shrink import shrunk
from jeton.hosts.simulated.world import World
from jeton.model.definition.workflow import Library
from jeton.model.effect import Effect
from jeton.model.ids import RunId
from tests.simulation.coverage_talk import TalkCoverage
from tests.simulation.grammar.talk import Object, TalkScript, agents_from
from tests.simulation.invariants.check import RunInvariants
from tests.simulation.invariants.folding import Folded, batch_repeats, tables_reload
from tests.simulation.invariants.seen import Seen, broken
from tests.simulation.invariants.talk import TalkInvariants
from tests.simulation.scenario import Played, Stuck
from tests.simulation.stories.chatters import Chatters

CLOSE_LOOKS = 0.15
LONGEST = 300
SAME_AGENTS = 8  # seeds in a row: reading and compiling them takes as long as a few turns

replace = msgspec.structs.replace


class TalkScenario(msgspec.Struct, frozen=True):
    """Everything that follows from a seed."""

    seed: int
    plan: FaultPlan
    talks: int
    runs: int

    @property
    def made(self) -> Object:
        """The definitions of its agents, which a few seeds share."""
        return made_for(self.seed // SAME_AGENTS)[0]


def talk_from(seed: int) -> TalkScenario:
    rng = Random(f"{seed}/talk")
    plan = storm_from_seed(seed)
    if rng.random() < 0.1:
        plan = replace(plan, moves=rng.randint(1, 6))
    return TalkScenario(seed, plan, rng.choice((1, 1, 2)), rng.choice((0, 0, 1)))


@lru_cache(maxsize=2)
def made_for(agents: int) -> tuple[Object, Library, Definitions]:
    """Agents as they are written, read and deployed."""
    made = agents_from(Random(f"{agents}/agents"))
    library = read(made)
    return made, library, Definitions(library)


def read(made: Object) -> Library:
    report = Report()
    document = read_python(made, "grammar", report)
    assert document is not None
    library = read_library([SourceFile("grammar", document)], report).library()
    assert not report.problems, report.problems
    return library


class TalkWatchers:
    """The invariants, the counters and the people, on every run and conversation of a world."""

    looks_back: bool = True

    def __init__(self, seed: int) -> None:
        self._chance = Random(f"{seed}/looks")
        self._invariants: dict[RunId, RunInvariants] = {}
        self._talks: dict[RunId, TalkInvariants] = {}
        self._folded: dict[RunId, Folded] = {}
        self._journals: dict[RunId, list[bytes]] = {}
        self.coverage = TalkCoverage()
        self.commits = 0
        self.world: World | None = None
        self.people: Chatters | None = None

    def committed(self, step: Step) -> None:
        assert self.world is not None
        self.commits += 1
        if step.entry is not None and step.turn.entry is not None:
            seen = Seen(step.program, step.turn, step.entry, step.live, step.turn.effects)
            self._invariants.setdefault(step.run, RunInvariants()).committed(seen)
            if step.program.talk is not None:
                self._talks.setdefault(step.run, TalkInvariants()).committed(seen)
            self.coverage.committed(seen)
            if step.run not in self._folded:
                self._folded[step.run] = Folded(step.turn.head)
            self._folded[step.run].committed(step.entry)
            self._journals.setdefault(step.run, []).append(step.turn.entry.body)
        if self._chance.random() < CLOSE_LOOKS:
            batch_repeats(step)
            sections = self.world.store.sections(step.run)
            if sections is not None:
                tables_reload(step.live, sections)
                self._folded[step.run].compare(sections)
        if self.people is not None:
            self.people.committed(step)

    def over(self) -> None:
        """To be called when nothing happens any more: every journal is compared with what is stored once more."""
        assert self.world is not None
        for run, bodies in self._journals.items():
            if self.world.store.journal(run) != bodies:
                broken(f"the journal of {run} is another than was committed")
            self._folded[run].compare(self.world.store.sections(run) or {})
        self._accounts(self.world)

    def _accounts(self, world: World) -> None:
        """Nothing is below zero, and no day has anything reserved when nothing is under way."""
        store = world.store
        if store.balance < 0 or any(granted < 0 for granted in store.grants.values()):
            broken(f"the account has {store.balance}, and lent {store.grants}")
        spent: Counter[str] = Counter()
        for run in self._talks:
            spent.update(self._talks[run].spent_by)
        for account, (used, _) in store.days.items():
            agent = account.rpartition(":")[2]
            if used < 0 or used != spent[agent]:
                broken(f"{account} counts {used} as used, and its turns cost {spent}")

    def released(self, run: RunId, effect: Effect) -> None:
        assert self.world is not None
        self._invariants[run].released(effect)
        talk = self.world.program(run).talk
        if talk is not None:
            self._talks[run].released(effect, talk)


class Narrator(TalkWatchers):
    """Prints every commit before it is looked at."""

    def committed(self, step: Step) -> None:
        print(f"\n{step.run} at {step.turn.head.entries}, {0 if self.world is None else self.world.clock.steady} ms")
        for message in step.batch:
            print(f"  < {message!r:.{LONGEST}}")
        for decision in () if step.entry is None else step.entry.decisions:
            print(f"  > {decision!r:.{LONGEST}}")
        super().committed(step)


def tell_talk(seed: int) -> int:
    """Play one seed and tell its story, with no more faults than it needs to fail; the exit code."""
    scenario = talk_from(seed)
    problem = _problem_of(scenario)
    if problem is not None:
        kind = type(problem)
        fewer = shrunk(scenario.plan, lambda plan: type(_problem_of(replace(scenario, plan=plan))) is kind)
        scenario = replace(scenario, plan=fewer)
    print(msgspec.json.encode(scenario.made["personas"]).decode(), scenario.plan, sep="\n")
    try:
        play_talk(scenario, Narrator(seed))
    except Exception as told:
        print(f"\n{type(told).__name__}: {told}")
        return 1
    return 0


def _problem_of(scenario: TalkScenario) -> Exception | None:
    try:
        play_talk(scenario)
    except Exception as problem:
        return problem
    return None


def play_talk(scenario: TalkScenario, watchers: TalkWatchers | None = None) -> Played:
    """Let everything happen, and see that every turn and every run has come to an end."""
    watchers = watchers or TalkWatchers(scenario.seed)
    made, library, definitions = made_for(scenario.seed // SAME_AGENTS)
    script = TalkScript(made, scenario.seed)
    world = World(
        library, seed=scenario.seed, plan=scenario.plan, script=script, observer=watchers, definitions=definitions
    )
    watchers.world = world
    people = watchers.people = Chatters(world, Random(f"{scenario.seed}/people"))
    for _ in range(scenario.talks):
        people.begin()
    for _ in range(scenario.runs):
        people.start_run()
    world.run()
    watchers.over()
    _all_is_over(world)
    cases = Counter(watchers.coverage.seen)
    cases.update(f"talk, fault: {kind}" for kind, _ in world.faults.struck)
    return Played(world.store.digest(), cases, watchers.commits)


def _all_is_over(world: World) -> None:
    """Every run has ended, and every turn; nothing waits."""
    for run in world.store.runs():
        if not world.store.workflow(run).startswith("agent:"):
            if not world.store.has_ended(run):
                raise Stuck(f"{run}: {world.store.row(run)}")
            continue
        state = world.load(run).state
        active = [(turn.number, turn.phase) for turn in state.talk.active()]
        if not state.head.ended and (active or state.tokens):
            raise Stuck(f"{run}: turns {active} with tokens {list(state.tokens.values())}")

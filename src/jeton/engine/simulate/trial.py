"""Many seeds of one workflow, compared with one another."""

from collections.abc import Callable, Iterable
from random import Random
from types import TracebackType

import msgspec

from jeton.engine.simulate.fault_plans import plan_for
from jeton.engine.simulate.invariants import violations
from jeton.engine.simulate.people import People
from jeton.engine.simulate.report import Ending, Problem, ProblemKind, Report
from jeton.engine.simulate.story import StoryRecorder, fault_list, waiting
from jeton.engine.simulate.tasks import TaskRunner, TaskScript
from jeton.executor.actions.sample import sample
from jeton.hosts.simulated.faults import Fault, FaultKind, FaultPlan
from jeton.hosts.simulated.observer import Nobody, Step
from jeton.hosts.simulated.shrink import shrunk
from jeton.hosts.simulated.world import World
from jeton.model.definition.workflow import Library
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject, Schema
from jeton.planning.program.compile import compile_definition
from jeton.planning.program.workflow import Program

SLOWEST_MS = 20
MAX_SHRUNK = 50
MAX_STORIES = 10  # problems, with their stories: finding the shortest takes many runs
MAX_COMMITS = 50_000
STEPS_PER_ROUND = 1000  # steps; most of them may only look after workers that say nothing
MAX_ROUNDS = 2000

_canonical = msgspec.json.Encoder(order="deterministic").encode


class Defect(msgspec.Struct, frozen=True):
    """What is wrong with one seed by itself. Two seeds have the same defect if `same` is the same."""

    kind: ProblemKind
    same: str
    what: str
    waits: tuple[str, ...] = ()


class SeedResult(msgspec.Struct, frozen=True):
    """One seed, to its end."""

    seed: int
    plan: FaultPlan  # no more of it than struck
    status: str
    output: Json
    error: str | None
    defect: Defect | None
    story: Callable[[], list[JsonObject]]
    struck: tuple[JsonObject, ...]

    @property
    def ending(self) -> bytes:
        """What is compared."""
        return _canonical([self.status, self.output, self.error])

    @property
    def group(self) -> tuple[str, bytes]:
        """What it has in common with other seeds: its defect, or how it ended."""
        return (self.defect.kind, self.defect.same.encode()) if self.defect is not None else ("", self.ending)


class Trial:
    """A workflow or flow, what it is given, and how it is tried. Use it as a context: functions need threads."""

    def __init__(
        self,
        library: Library,
        workflow: str,
        input: Json,
        *,
        faults: Iterable[FaultKind] = (),
        real: bool = False,
        answers: bool = True,
        slowest_ms: int = SLOWEST_MS,
        max_commits: int = MAX_COMMITS,
    ) -> None:
        self._library = msgspec.structs.replace(library, triggers={})  # what it sets off is not on trial
        self._workflow = workflow
        self._input = input
        self._faults = tuple(faults)
        self._answers = answers
        self._slowest_ms = slowest_ms
        self._most_commits = max_commits
        self._programs: dict[str, Program] = {workflow: compile_definition(library, workflow)}
        self._tasks = TaskRunner(library, self._programs, real=real)

    def __enter__(self) -> "Trial":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._tasks.__exit__(kind, error, tb)

    def try_seeds(self, seeds: Iterable[int], *, tried: Callable[[], None] = lambda: None) -> Report:
        """Play them all, compare, and tell the story of whatever is wrong. `tried` is called after each."""
        groups: dict[tuple[str, bytes], list[SeedResult]] = {}
        for seed in seeds:
            result = self.play(seed)
            # its story holds the whole world; what is told in the end is result again
            groups.setdefault(result.group, []).append(msgspec.structs.replace(result, story=list[JsonObject]))
            tried()
        by_count = sorted(groups.values(), key=lambda group: (-len(group), group[0].seed))
        usual = next((group[0] for group in by_count if group[0].defect is None), None)
        unusual = [group for group in by_count if group[0] is not usual]
        unusual.sort(key=lambda group: group[0].defect is None)  # what hangs or breaks is told first
        problems = tuple(self._problem(group, usual, number < MAX_STORIES) for number, group in enumerate(unusual))
        outcomes = tuple(_ending(group) for group in by_count)
        return Report(not problems, sum(map(len, by_count)), outcomes, problems)

    def play(self, seed: int, plan: FaultPlan | None = None) -> SeedResult:
        """One seed; with these faults, or with its own."""
        if plan is None:
            plan = plan_for(seed, self._faults) if self._faults else FaultPlan()
        observer = _SeedObserver()
        script = TaskScript(self._tasks, seed, self._slowest_ms)
        world = World(self._library, seed=seed, plan=plan, script=script, observer=observer, programs=self._programs)
        observer.recorder = StoryRecorder(world)
        observer.people = People(world, seed, self._slowest_ms) if self._answers else None
        run = world.start(self._workflow, self._input)
        defect = self._run(world, observer.recorder)
        return _result(seed, world, run, defect, observer.recorder)

    def _run(self, world: World, recorder: StoryRecorder) -> Defect | None:
        try:
            quiet = self._run_until_quiet(world, recorder)
            found = tuple(violations(world)) if quiet else ()
        except Exception as error:  # nothing may escape the core: whatever does is the finding
            what = f"{type(error).__name__}: {error}"
            return Defect("broken", type(error).__name__, what)
        if found:
            return Defect("broken", _without_numbers(found[0]), "; ".join(found))
        stuck = list(waiting(world))
        if not world.unfinished():
            return None
        what = "nothing will happen any more, and it has not ended"
        if not quiet:
            what = f"it goes on and on: after {recorder.commits} commits it has not ended"
        same = "; ".join(sorted({place for place, _ in stuck}))
        return Defect("hang", same if quiet else "goes on", what, tuple(said for _, said in stuck))

    def _run_until_quiet(self, world: World, recorder: StoryRecorder) -> bool:
        for _ in range(MAX_ROUNDS):
            if world.run(STEPS_PER_ROUND):
                return True
            if recorder.commits >= self._most_commits:
                return False
        return False

    def _problem(self, group: list[SeedResult], usual: SeedResult | None, with_story: bool) -> Problem:
        """Told with the seed that needs the fewest faults, among the first few."""
        first = group[0]
        if not with_story:
            kind = "differs" if first.defect is None else first.defect.kind
            what = _in_words(first) if first.defect is None else first.defect.what
            return Problem(kind, what, len(group), first.seed, first.struck, ())
        fewest = min(group[:MAX_SHRUNK], key=lambda result: (len(result.struck), result.seed))
        plan = shrunk(fewest.plan, lambda plan: self.play(fewest.seed, plan).group == first.group)
        told = self.play(fewest.seed, plan)
        if told.defect is not None:
            kind, what, waits = told.defect.kind, told.defect.what, told.defect.waits
        else:
            kind, what, waits = "differs", _in_words(told), ()
            if usual is not None:
                what = f"{what}; seed {usual.seed} {_in_words(usual)}"
        return Problem(kind, what, len(group), told.seed, told.struck, tuple(told.story()), waits)


class _SeedObserver(Nobody):
    """Writes down what happens, and lets people react to it."""

    def __init__(self) -> None:
        self.recorder: StoryRecorder | None = None
        self.people: People | None = None

    def committed(self, step: Step) -> None:
        if self.recorder is not None:
            self.recorder.committed(step)
        if self.people is not None:
            self.people.committed(step)


def sample_input(schema: Schema | None) -> Json:
    """An input for a workflow that was given none: always the same one."""
    return {} if schema is None else sample(schema, Random("input"))


def _result(seed: int, world: World, run: RunId, defect: Defect | None, recorder: StoryRecorder) -> SeedResult:
    row = world.store.row(run)
    status = "submitted" if row is None else row.status
    return SeedResult(
        seed=seed,
        plan=msgspec.structs.replace(world.plan, faults=_by_kind(world.faults.struck)),
        status="broken" if defect is not None and defect.kind == "broken" else status,
        output=None if row is None else row.output,
        error=None if row is None or row.error is None else row.error.type,
        defect=defect,
        story=recorder.story,
        struck=tuple(fault_list(world.faults.struck)),
    )


def _by_kind(struck: list[tuple[FaultKind, Fault]]) -> dict[FaultKind, tuple[Fault, ...]]:
    found: dict[FaultKind, tuple[Fault, ...]] = {}
    for kind, fault in struck:
        found[kind] = (*found.get(kind, ()), fault)
    return found


def _ending(group: list[SeedResult]) -> Ending:
    first = group[0]
    return Ending(first.status, first.output, first.error, len(group), first.seed)


def _in_words(result: SeedResult) -> str:
    if result.error is not None:
        return f"{result.status}: {result.error}"
    return f"{result.status} with {_canonical(result.output).decode()}"


def _without_numbers(text: str) -> str:
    """The same violation of another token is the same violation."""
    return "".join(letter for letter in text if not letter.isdigit())

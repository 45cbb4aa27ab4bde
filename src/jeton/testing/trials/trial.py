"""One workflow run with many seeds, and the outcomes compared."""

from collections.abc import Callable, Iterable
from functools import cached_property
from random import Random
from types import TracebackType

import msgspec

from jeton.executor.actions.sample import sample
from jeton.hosts.simulated.faults import Fault, FaultKind, FaultPlan
from jeton.hosts.simulated.memory.definitions import Definitions
from jeton.hosts.simulated.observer import Nobody, Step
from jeton.hosts.simulated.shrink import shrunk
from jeton.hosts.simulated.world import World
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused, RunError
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject, Schema
from jeton.planning.program.workflow import Program
from jeton.testing.trials.fault_plans import plan_for
from jeton.testing.trials.invariants import is_idle_conversation, violations
from jeton.testing.trials.people import People
from jeton.testing.trials.report import Ending, Finding, FindingKind, Report, error_text
from jeton.testing.trials.signals import signals_sent_by, workflows_in
from jeton.testing.trials.story import StoryRecorder, fault_list, waiting
from jeton.testing.trials.tasks import TaskRunner, TaskScript

SLOWEST_MS = 20
MAX_SHRUNK = 50
MAX_STORIES = 10  # the shortest story of a finding takes many runs to find
MAX_COMMITS = 50_000
STEPS_PER_ROUND = 1000  # of the simulated host; most may only poll silent workers
MAX_ROUNDS = 2000

_canonical = msgspec.json.Encoder(order="deterministic").encode


class Defect(msgspec.Struct, frozen=True):
    """A hang or a broken invariant in one seed. Seeds with equal `same` have the same defect."""

    kind: FindingKind
    same: str
    what: str
    waits: tuple[str, ...] = ()


class SeedResult(msgspec.Struct, frozen=True):
    """The outcome of one seed."""

    seed: int
    plan: FaultPlan  # the faults that were injected
    status: str
    output: Json
    error: RunError | None
    defect: Defect | None
    story: Callable[[], list[JsonObject]]
    struck: tuple[JsonObject, ...]
    by_node: bool  # whether failures of different nodes are different outcomes

    @property
    def ending(self) -> bytes:
        """The outcome in canonical form, to compare seeds."""
        error = None if self.error is None else [self.error.type, self.error.node if self.by_node else None]
        return _canonical([self.status, self.output, error])

    @property
    def group(self) -> tuple[str, bytes]:
        """The key that seeds with the same defect, or with the same outcome, have in common."""
        return (self.defect.kind, self.defect.same.encode()) if self.defect is not None else ("", self.ending)


class Trial:
    """A workflow or flow with its input and settings. A context manager, because functions need threads."""

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
        # runs that triggers would start are not simulated
        self._library = msgspec.structs.replace(library, triggers={})
        self._workflow = workflow
        self._input = input
        self._faults = tuple(faults)
        self._failures = "task_fails" in self._faults
        self._answers = answers
        self._slowest_ms = slowest_ms
        self._max_commits = max_commits
        self._definitions = Definitions(self._library)
        self._tasks = TaskRunner(library, self._program, real=real)

    @cached_property
    def _own_signals(self) -> frozenset[str]:
        """The names of the signals that tasks send."""
        names = workflows_in(self._library, self._workflow)
        return signals_sent_by(self._library, {name: self._program(name) for name in names})

    def _program(self, workflow: str) -> Program:
        bundles = self._definitions.bundles
        found = bundles.find(workflow)
        if found is None:
            raise Refused("unknown_workflow", f"no workflow is called '{workflow}'", "name one of the library's")
        return bundles.program(workflow, found[1])[0]

    def __enter__(self) -> "Trial":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._tasks.__exit__(kind, error, tb)

    def try_seeds(self, seeds: Iterable[int], *, tried: Callable[[], None] = lambda: None) -> Report:
        """Simulate all seeds, and report what differs or is wrong. `tried` is called after each seed."""
        groups: dict[tuple[str, bytes], list[SeedResult]] = {}
        for seed in seeds:
            result = self.play(seed)
            # a story keeps the whole world in memory, so seeds with a finding are simulated again later
            groups.setdefault(result.group, []).append(msgspec.structs.replace(result, story=list[JsonObject]))
            tried()
        by_count = sorted(groups.values(), key=lambda group: (-len(group), group[0].seed))
        usual = next((group[0] for group in by_count if group[0].defect is None), None)
        # tasks that fail lead to other outcomes, so that only hangs and broken invariants are wrong
        unusual = [group for group in by_count if group[0] is not usual and not (self._failures and _is_sound(group))]
        unusual.sort(key=lambda group: group[0].defect is None)  # hangs and broken invariants come first
        findings = tuple(self._finding(group, usual, number < MAX_STORIES) for number, group in enumerate(unusual))
        outcomes = tuple(_ending(group) for group in by_count)
        return Report(not findings, sum(map(len, by_count)), outcomes, findings)

    def play(self, seed: int, plan: FaultPlan | None = None) -> SeedResult:
        """Simulate one seed, with these faults or with the seed's own."""
        if plan is None:
            plan = plan_for(seed, self._faults) if self._faults else FaultPlan()
        observer = _SeedObserver()
        script = TaskScript(self._tasks, seed, self._slowest_ms)
        world = World(
            self._library, seed=seed, plan=plan, script=script, observer=observer, definitions=self._definitions
        )
        script.world = world
        observer.recorder = StoryRecorder(world)
        observer.people = People(world, seed, self._slowest_ms, self._own_signals) if self._answers else None
        run = world.start(self._workflow, self._input)
        defect = self._run(world, observer.recorder)
        return _result(seed, world, run, defect, observer.recorder, by_node=self._failures)

    def _run(self, world: World, recorder: StoryRecorder) -> Defect | None:
        try:
            quiet = self._run_until_quiet(world, recorder)
            found = tuple(violations(world)) if quiet else ()
        except Exception as error:  # an exception of the engine is a finding too
            what = f"{type(error).__name__}: {error}"
            return Defect("broken", type(error).__name__, what)
        if found:
            return Defect("broken", _without_numbers(found[0]), "; ".join(found))
        stuck = list(waiting(world))
        if all(is_idle_conversation(world, each) for each in world.unfinished()):
            return None
        what = "nothing more will happen, and it has not ended"
        if not quiet:
            what = f"it may never end: after {recorder.commits} commits it has not ended"
        same = "; ".join(sorted({where for where, _ in stuck}))
        return Defect("hang", same if quiet else "goes on", what, tuple(sentence for _, sentence in stuck))

    def _run_until_quiet(self, world: World, recorder: StoryRecorder) -> bool:
        for _ in range(MAX_ROUNDS):
            if world.run(STEPS_PER_ROUND):
                return True
            if recorder.commits >= self._max_commits:
                return False
        return False

    def _finding(self, group: list[SeedResult], usual: SeedResult | None, with_story: bool) -> Finding:
        """The finding, with the story of the seed that needs the fewest faults among the first MAX_SHRUNK."""
        first = group[0]
        if not with_story:
            kind = "differs" if first.defect is None else first.defect.kind
            what = _sentence(first) if first.defect is None else first.defect.what
            return Finding(kind, what, len(group), first.seed, first.struck, ())
        fewest = min(group[:MAX_SHRUNK], key=lambda result: (len(result.struck), result.seed))
        plan = shrunk(fewest.plan, lambda plan: self.play(fewest.seed, plan).group == first.group)
        shortest = self.play(fewest.seed, plan)
        if shortest.defect is not None:
            kind, what, waits = shortest.defect.kind, shortest.defect.what, shortest.defect.waits
        else:
            kind, what, waits = "differs", _sentence(shortest), ()
            if usual is not None:
                what = f"{what}; seed {usual.seed} {_sentence(usual)}"
        return Finding(kind, what, len(group), shortest.seed, shortest.struck, tuple(shortest.story()), waits)


class _SeedObserver(Nobody):
    """Records every commit, and lets people react to it."""

    def __init__(self) -> None:
        self.recorder: StoryRecorder | None = None
        self.people: People | None = None

    def committed(self, step: Step) -> None:
        if self.recorder is not None:
            self.recorder.committed(step)
        if self.people is not None:
            self.people.committed(step)


def sample_input(schema: Schema | None) -> Json:
    """An input made from a schema, always the same."""
    return {} if schema is None else sample(schema, Random("input"))


def _result(
    seed: int, world: World, run: RunId, defect: Defect | None, recorder: StoryRecorder, *, by_node: bool
) -> SeedResult:
    row = world.store.row(run)
    status = "submitted" if row is None else row.status
    return SeedResult(
        seed=seed,
        plan=msgspec.structs.replace(world.plan, faults=_by_kind(world.faults.struck)),
        status="broken" if defect is not None and defect.kind == "broken" else status,
        output=None if row is None else row.output,
        error=None if row is None else row.error,
        defect=defect,
        story=recorder.story,
        struck=tuple(fault_list(world.faults.struck)),
        by_node=by_node,
    )


def _by_kind(struck: list[tuple[FaultKind, Fault]]) -> dict[FaultKind, tuple[Fault, ...]]:
    found: dict[FaultKind, tuple[Fault, ...]] = {}
    for kind, fault in struck:
        found[kind] = (*found.get(kind, ()), fault)
    return found


def _is_sound(group: list[SeedResult]) -> bool:
    return group[0].defect is None


def _ending(group: list[SeedResult]) -> Ending:
    first = group[0]
    ending = Ending(first.status, first.output, None, len(group), first.seed)
    error = first.error
    if error is None:
        return ending
    return msgspec.structs.replace(ending, error=error.type, message=error.message, node=error.node)


def _sentence(result: SeedResult) -> str:
    if result.error is not None:
        return f"{result.status}{error_text(result.error.type, result.error.message, result.error.node)}"
    return f"{result.status} with {_canonical(result.output).decode()}"


def _without_numbers(text: str) -> str:
    """The text without digits: the same violation by another token is the same."""
    return "".join(letter for letter in text if not letter.isdigit())

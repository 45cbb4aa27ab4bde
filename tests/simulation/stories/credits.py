"""Random workflows under random faults, all paid by one account: no credit is lost, made, or spent twice."""

from random import Random

import msgspec

from jeton.actor.journal import decode_entry
from jeton.actor.sections import load_run
from jeton.hosts.simulated.observer import Step
from jeton.hosts.simulated.world import World
from jeton.model.effect import Effect, StartTask
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from jeton.model.message import TaskNoted
from jeton.model.note import CostNote
from jeton.model.state.credits import Purse
from jeton.model.state.run import TERMINAL, RunStatus
from tests.simulation.grammar.words import SeededScript
from tests.simulation.invariants.check import RunInvariants
from tests.simulation.invariants.folding import batch_repeats, journal_folds, sections_reload
from tests.simulation.invariants.seen import Seen, broken
from tests.simulation.loading import library_of
from tests.simulation.scenario import Stuck, scenario_from

RUNS = 4


class Auditor:
    """Looks at the account and at every purse after every commit."""

    looks_back: bool = True

    def __init__(self, seed: int) -> None:
        self._chance = Random(f"{seed}/costs")
        self._invariants: dict[RunId, RunInvariants] = {}
        self.purses: dict[RunId, Purse] = {}
        self.ended: set[RunId] = set()
        self.put_in = 0
        self.world: World | None = None

    def committed(self, step: Step) -> None:
        assert self.world is not None
        head, store = step.live.state.head, self.world.store
        if step.turn.entry is not None and head.forked is None:  # a fork begins in the middle
            entry = decode_entry(step.turn.entry.body)
            seen = Seen(step.program, step.turn, entry, step.live, step.turn.effects)
            self._invariants.setdefault(step.run, RunInvariants()).committed(seen)
        batch_repeats(step)
        if head.purse is not None:
            self.purses[step.run] = head.purse
            if head.ended:
                self.ended.add(step.run)
        sections = store.sections(step.run)
        if sections is not None:
            sections_reload(step.live, sections)
            journal_folds(step.live, map(decode_entry, store.journal(step.run)), sections)
        self.audit()

    def released(self, run: RunId, effect: Effect) -> None:
        """Some actions say what they used: less than their price, or more."""
        assert self.world is not None
        if isinstance(effect, StartTask) and self._chance.random() < 0.5:
            note = CostNote("s", self._chance.randint(0, 4))
            said = TaskNoted(0, effect.token, effect.attempt, note)
            self.world.tell(run, said, after_ms=self._chance.randint(0, 10))

    def audit(self) -> None:
        """What was put in is in the account, with runs under way, or used by runs that ended."""
        assert self.world is not None
        store = self.world.store
        if store.balance < 0:
            broken(f"the account is at {store.balance}")
        used = sum(self.purses[run].used for run in self.ended)
        if store.balance + sum(store.grants.values()) + used != self.put_in:
            broken(f"{self.put_in} were put in; {store.balance} are left, {store.grants} granted, {used} used")
        for run, purse in self.purses.items():
            if run not in self.ended and purse.free + purse.used > store.grants.get(run, 0):
                broken(f"run {run} has {purse}, and was granted {store.grants.get(run, 0)}")


def play_credits(seed: int) -> set[RunStatus]:
    """Storm, calm, and then every exhausted run is retried with enough; how the runs ended."""
    chance = Random(f"{seed}/credits")
    scenario = scenario_from(seed)
    balance = chance.choice((0, 1, 5, 20, 60))
    settings: JsonObject = {"credits": {"balance": balance, "costs": {"default": chance.choice((1, 2)), "pass": 0}}}
    library = msgspec.structs.replace(library_of(scenario.workflow, scenario.tasks), settings=settings)
    auditor = Auditor(seed)
    auditor.put_in = balance
    script = SeededScript(seed)
    world = auditor.world = World(library, seed=seed, plan=scenario.plan, script=script, observer=auditor)
    inputs = (scenario.inputs * RUNS)[:RUNS]
    runs = [world.start("w", given, after_ms=chance.randint(0, 40)) for given in inputs]
    for run in runs:
        if chance.random() < 0.2:
            world.cancel(run, "enough", after_ms=chance.randint(0, 60))
    world.run()
    statuses = _ended(world)
    world.top_up(1_000_000)
    auditor.put_in += 1_000_000
    for run in runs:
        row = world.store.row(run)
        if row is not None and row.status == "exhausted":
            world.fork(run, row.entries - 1)
    world.run()
    for run in world.store.runs():
        row, sections = world.store.row(run), world.store.sections(run)
        if row is not None and sections is not None and row.status == "exhausted" and run not in runs:
            broken(f"run {run} is exhausted, with {load_run(sections).state.head.purse} and enough in the account")
    if world.store.grants:
        broken(f"every run has ended, and {world.store.grants} are not back")
    auditor.audit()
    return statuses | _ended(world)


def _ended(world: World) -> set[RunStatus]:
    rows = [world.store.row(run) for run in world.store.runs()]
    found: set[RunStatus] = {row.status for row in rows if row is not None}
    if world.unfinished() or not found <= TERMINAL:
        raise Stuck(f"{world.unfinished()}")
    return found

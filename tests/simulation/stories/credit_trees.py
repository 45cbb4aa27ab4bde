"""Trees of runs under faults, paid by the run at the top or by the project: no credit is lost, made, or spent twice.

The workflows are those that call one another and wait for people; every node costs something, and some actions say what
they really used.
"""

from collections import Counter
from random import Random

import msgspec

from jeton.hosts.simulated.observer import Step
from jeton.hosts.simulated.script import Script
from jeton.hosts.simulated.world import World
from jeton.model.decision import LendCredits, ReclaimCredits, UndoCall
from jeton.model.effect import Effect, StartTask
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from jeton.model.message import TaskNoted
from jeton.model.note import CostNote
from jeton.model.state.credits import ACCOUNT, Purse
from jeton.model.state.run import RunStatus
from tests.simulation.invariants.seen import broken
from tests.simulation.invariants.waits import Waits
from tests.simulation.scenario import Played, Stuck
from tests.simulation.stories.people import People
from tests.simulation.stories.waits import WaitWatchers, read, root_gates, says, waits_from

ENOUGH = 1_000_000
CREDIT_TREE_CASES = (
    "credit tree completed",
    "credit tree exhausted",
    "credit tree cancelled",
    "credit tree goes on with more",
    "credits lent",
    "credits lent, none were left",
    "credits reclaimed",
    "a call undone, its run was exhausted",
)


class TreeAuditor:
    """Looks at the account and at every purse after every commit, beside everybody else who watches."""

    looks_back: bool = True

    def __init__(self, seed: int) -> None:
        self._chance = Random(f"{seed}/costs")
        self.watchers = WaitWatchers(seed)
        self.seen: Counter[str] = Counter()
        self.put_in = 0  # to the project's account
        self._given: dict[RunId, int] = {}  # to runs with credits of their own
        self._purses: dict[RunId, Purse] = {}
        self._lent: dict[RunId, dict[RunId, int]] = {}
        self._ended: set[RunId] = set()

    @property
    def world(self) -> World:
        assert self.watchers.world is not None
        return self.watchers.world

    def committed(self, step: Step) -> None:
        self.watchers.committed(step)
        head = step.live.state.head
        if head.purse is None:
            return
        self._purses[step.run] = head.purse
        self._lent[step.run] = dict(step.live.state.lent)
        if head.ended:
            self._ended.add(step.run)
        for decision in step.entry.decisions if step.entry is not None else ():
            match decision:
                case LendCredits(amount=amount):
                    self.seen["credits lent" if amount else "credits lent, none were left"] += 1
                case ReclaimCredits(run, used):
                    self.seen["credits reclaimed"] += 1
                    if run not in self._ended or self._purses[run].used != used:
                        broken(f"run {run} accounts for {used}, and has {self._purses[run]}")
                case UndoCall():
                    self.seen["a call undone, its run was exhausted"] += 1
                case _:
                    pass
        self._audit_tree(step.run, head.purse)
        self.audit()

    def released(self, run: RunId, effect: Effect) -> None:
        """Some actions say what they used: less than their price, or more."""
        self.watchers.released(run, effect)
        if isinstance(effect, StartTask) and self._chance.random() < 0.4:
            said = TaskNoted(0, effect.token, effect.attempt, CostNote("s", self._chance.randint(0, 4)))
            self.world.tell(run, said, after_ms=self._chance.randint(0, 10))

    def _audit_tree(self, run: RunId, purse: Purse) -> None:
        """What a run was given is free, used by it, used by runs below that are over, or with runs below."""
        if purse.account is None:
            whole = purse.free + purse.used + purse.below + sum(self._lent[run].values())
            if self._given.setdefault(run, whole) != whole:
                broken(f"run {run} was given {self._given[run]}, and {purse} with {self._lent[run]} lent is {whole}")
        elif self._lent[run]:
            broken(f"run {run} has nothing of its own, and lent {self._lent[run]}")
        elif purse.account != ACCOUNT and purse.account in self._lent:
            had = self._lent[purse.account].get(run, 0)
            if run not in self._ended and purse.free + purse.used > had:
                broken(f"run {run} has {purse}, and was given {had}")

    def audit(self) -> None:
        """What was put into the account is in it, with runs under way, or used by runs that ended."""
        store = self.world.store
        used = sum(self._purses[run].used for run in self._ended if self._purses[run].account == ACCOUNT)
        if store.balance < 0 or store.balance + sum(store.grants.values()) + used != self.put_in:
            broken(f"{self.put_in} were put in; {store.balance} are left, {store.grants} granted, {used} used")

    def over(self) -> None:
        """Every run has ended: nothing is with anybody, and no tree used more than it was given."""
        self.audit()
        if self.world.store.grants:
            broken(f"every run has ended, and {self.world.store.grants} are not back")
        for root, given in self._given.items():
            purses = [purse for run, purse in self._purses.items() if run == root or purse.account == root]
            used, left = sum(purse.used for purse in purses), sum(purse.free for purse in purses)
            if used + left > given:
                broken(f"the tree of {root} was given {given}, used {used}, and has {left} left")

    def expect(self, run: RunId, credits: int | None) -> None:
        """What a run is started with."""
        if credits is not None:
            self._given[run] = credits


def play_credit_tree(seed: int) -> Played:
    """Storm, calm, and then every exhausted tree is retried with enough."""
    scenario = waits_from(seed)
    chance = Random(f"{seed}/credit tree")
    own = chance.random() < 0.7
    costs: JsonObject = {"default": chance.choice((1, 1, 2)), "pass": chance.choice((0, 1))}
    balance = chance.choice((0, 2, 5, 12, 30, 80))
    settings: JsonObject = {"credits": {"costs": costs, **({} if own else {"balance": balance})}}
    library = msgspec.structs.replace(read(scenario.made.workflows), settings=settings)
    answers = {node: says for workflow in library.workflows.values() for node in workflow.nodes}
    auditor = TreeAuditor(seed)
    auditor.put_in = 0 if own else balance
    script = Script(answers, seed=seed)
    world = World(library, seed=seed, plan=scenario.plan, script=script, observer=auditor)
    auditor.watchers.world, auditor.watchers.waits = world, Waits(world)
    gates = {name: root_gates(made) for name, made in scenario.made.workflows.items()}
    people = People(world, chance, forks=scenario.forks, cancels=chance.random() < 0.3, gates=gates)
    auditor.watchers.people = people
    credits = balance if own else None
    roots = [world.start("w", {}, after_ms=chance.randint(0, 10), credits=credits) for _ in range(scenario.runs)]
    for root in roots:
        auditor.expect(root, credits)
        people.before(root, "w")
    world.run()
    auditor.seen.update(f"credit tree {status}" for status in _statuses(world, roots))
    world.top_up(ENOUGH)
    auditor.put_in += ENOUGH
    exhausted = [root for root, status in zip(roots, _statuses(world, roots), strict=True) if status == "exhausted"]
    again = [_retried(world, root, ENOUGH if own else 0) for root in exhausted]
    world.run()
    for status in _statuses(world, again):
        if status == "exhausted":
            broken(f"one of {again} is exhausted, and there was enough")
        auditor.seen["credit tree goes on with more"] += 1
    assert auditor.watchers.waits is not None
    auditor.watchers.waits.over()
    auditor.over()
    return Played(world.store.digest(), auditor.seen, auditor.watchers.commits)


def _retried(world: World, run: RunId, credits: int) -> RunId:
    row = world.store.row(run)
    assert row is not None
    return world.fork(run, row.entries - 1, credits=credits)


def _statuses(world: World, runs: list[RunId]) -> list[RunStatus]:
    if world.unfinished():
        raise Stuck(f"{world.unfinished()}")
    return [row.status for run in runs if (row := world.store.row(run)) is not None]

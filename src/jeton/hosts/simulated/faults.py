"""Faults as data: which opportunity of each kind fails, and by how much; made from a seed, or written by hand.

Each kind has its own random numbers, so that adding a kind changes no seed. A seed enables only a few kinds: with all
of them, a run would rarely get far enough to meet the rarer ones.
"""

from collections import Counter
from random import Random
from typing import Literal, TypeAlias, get_args

import msgspec

from jeton.actor.advance import MOVES_PER_BATCH
from jeton.hosts.simulated.clock import ManualClock

FaultKind: TypeAlias = Literal[
    "crash_before_commit",
    "crash_after_commit",
    "crash_amid_effects",
    "commit_fails",  # nothing was written, and the host must be opened again
    "commit_unknown",  # it was written, and the host was told that it failed
    "worker_silent",  # accepts the task and never reports its start
    "worker_stalls",  # reports its start, and nothing after that
    "worker_dies",  # ends halfway; the host notices when it polls
    "result_late",
    "result_doubled",
    "delivery_delayed",  # so that messages overtake one another
    "stop_unheard",  # ignores the stop, and reports a result later
    "alarm_stale",
    "clock_jump",
    "run_forgotten",  # dropped from memory between two batches
    "task_fails",  # is not run, and its failure is reported
]

KINDS: tuple[FaultKind, ...] = tuple(kind for kind in get_args(FaultKind) if kind != "task_fails")
"""Faults of hosts and workers. A task that fails is the workflow's own concern."""

OPPORTUNITIES = 60
STORM_MS = 400
AMOUNTS: dict[FaultKind, tuple[int, ...]] = {
    "crash_before_commit": (0, 1, 3, 20),
    "crash_after_commit": (0, 1, 3, 20),
    "crash_amid_effects": (0, 1, 3, 20),
    "commit_fails": (0, 1, 10),
    "commit_unknown": (0, 1, 10),
    "result_late": (1, 4, 15, 60),
    "result_doubled": (0, 1, 5, 40),
    "delivery_delayed": (1, 2, 6),
    "alarm_stale": (0, 1, 7),
    "clock_jump": (-40, -5, -1, 1, 5, 40, 500),
}


class Fault(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """The `nth` opportunity of its kind fails. `by_ms`: how long the host is down, or how late something comes."""

    nth: int
    by_ms: int = 0


class FaultPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """The faults of a simulation. After `storm_ms` there are none, and every run has to end."""

    faults: dict[FaultKind, tuple[Fault, ...]] = {}
    storm_ms: int = STORM_MS
    moves: int = MOVES_PER_BATCH  # the most planning steps in one batch

    def __str__(self) -> str:
        return msgspec.json.encode(self).decode()


def storm_from_seed(seed: int) -> FaultPlan:
    """Many faults, enough to fail tasks and time them out; one seed in four has none."""
    if Random(f"{seed}/faults").random() < 0.25:
        return FaultPlan()
    found: dict[FaultKind, tuple[Fault, ...]] = {}
    for kind in KINDS:
        chance = Random(f"{seed}/{kind}")
        if chance.random() < 0.3:
            rate = chance.choice((0.03, 0.1, 0.3))
            amounts = AMOUNTS.get(kind, (0,))
            struck = [n for n in range(OPPORTUNITIES) if chance.random() < rate]
            found[kind] = tuple(Fault(n, chance.choice(amounts)) for n in struck)
    return FaultPlan({kind: struck for kind, struck in found.items() if struck})


class Faults:
    """A plan being carried out: counts opportunities, and decides which of them fail."""

    def __init__(self, plan: FaultPlan, clock: ManualClock) -> None:
        self._clock = clock
        self._planned = {kind: {fault.nth: fault for fault in faults} for kind, faults in plan.faults.items()}
        self._seen: Counter[FaultKind] = Counter()
        self.struck: list[tuple[FaultKind, Fault]] = []  # so far, in order
        self.struck_at: list[int] = []  # the monotonic time of each
        self.calm = not self._planned

    def strikes(self, kind: FaultKind) -> Fault | None:
        """The fault that strikes this opportunity, if any."""
        if self.calm or kind not in self._planned:
            return None
        nth = self._seen[kind]
        self._seen[kind] += 1
        fault = self._planned[kind].get(nth)
        if fault is not None:
            self.struck.append((kind, fault))
            self.struck_at.append(self._clock.steady)
        return fault

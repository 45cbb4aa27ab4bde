"""The faults that a seed injects."""

from collections.abc import Sequence
from random import Random
from typing import get_args

from jeton.actor.advance import MOVES_PER_BATCH
from jeton.hosts.simulated.faults import AMOUNTS, KINDS, Fault, FaultKind, FaultPlan
from jeton.planning.plan_run import MAX_DELIVERIES

EVERY_FAULT: tuple[FaultKind, ...] = get_args(FaultKind)

USUAL_FAULTS: tuple[FaultKind, ...] = tuple(kind for kind in KINDS if kind not in ("worker_silent", "worker_stalls"))
"""Faults that do not change a run's outcome. A worker that stops responding holds its task until the task times out,
which may change it: those faults must be asked for by name."""

LOSES_WORKERS: tuple[FaultKind, ...] = (
    "crash_before_commit",
    "crash_after_commit",
    "crash_amid_effects",
    "commit_fails",
    "commit_unknown",
    "worker_dies",
    "result_late",  # until the result arrives, the task looks abandoned
    "delivery_delayed",
)
NO_END = 10**15  # there are few faults, so no end is needed
REACHES = (3, 10, 40)  # a fault strikes one of the first so many opportunities


def plan_from_seed(seed: int, *, failures: bool = False) -> FaultPlan:
    """The faults of a seed: crashes, lost workers, late, repeated and reordered messages, a clock that jumps.

    None of them may change the outcome of a run. With `failures`, tasks fail too, which may."""
    return plan_for(seed, (*USUAL_FAULTS, "task_fails") if failures else USUAL_FAULTS)


def plan_for(seed: int, kinds: Sequence[FaultKind]) -> FaultPlan:
    """A few faults of some of these kinds; one seed in four has none, and one in ten has short batches.

    Workers are lost fewer times than MAX_DELIVERIES, so that no task fails because of the faults alone.
    """
    chance = Random(f"{seed}/plan")
    moves = chance.randint(1, 6) if chance.random() < 0.1 else MOVES_PER_BATCH
    if chance.random() < 0.25:
        return FaultPlan(storm_ms=NO_END, moves=moves)
    likely = max(0.3, 1 / len(kinds))
    drawn: list[tuple[FaultKind, Fault]] = [(kind, fault) for kind in kinds for fault in _drawn(seed, kind, likely)]
    losing = [each for each in drawn if each[0] in LOSES_WORKERS]
    spared = chance.sample(losing, max(0, len(losing) - MAX_DELIVERIES + 1))
    faults: dict[FaultKind, tuple[Fault, ...]] = {}
    for kind, fault in drawn:
        if (kind, fault) not in spared:
            faults[kind] = (*faults.get(kind, ()), fault)
    return FaultPlan(faults, NO_END, moves)


def _drawn(seed: int, kind: FaultKind, likely: float) -> list[Fault]:
    """Faults of one kind. Each kind has its own random numbers, so that adding a kind changes no other."""
    chance = Random(f"{seed}/plan/{kind}")
    if chance.random() >= likely and kind != "task_fails":  # it was asked for, so every seed has it that has faults
        return []
    reach = chance.choice(REACHES)
    struck = sorted({chance.randrange(reach) for _ in range(chance.randint(1, 4))})
    return [Fault(nth, chance.choice(AMOUNTS.get(kind, (0,)))) for nth in struck]

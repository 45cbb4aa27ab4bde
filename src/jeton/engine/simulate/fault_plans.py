"""Which faults a seed brings to a user's workflow."""

from collections.abc import Sequence
from random import Random

from jeton.actor.advance import MOVES_PER_BATCH
from jeton.hosts.simulated.faults import AMOUNTS, KINDS, Fault, FaultKind, FaultPlan
from jeton.planning.plan_run import MAX_DELIVERIES

USUAL_FAULTS: tuple[FaultKind, ...] = tuple(kind for kind in KINDS if kind not in ("worker_silent", "worker_stalls"))
"""Those that leave no trace in what a run comes to. A worker that says nothing any more holds its task until it times
out, and so changes it: those are there for whoever asks for them."""

LOSES_WORKERS: tuple[FaultKind, ...] = (
    "crash_before_commit",
    "crash_after_commit",
    "crash_amid_effects",
    "commit_fails",
    "commit_unknown",
    "worker_dies",
    "result_late",  # while the answer is under way nobody is seen at work
    "delivery_delayed",
)
NO_END = 10**15  # there are few faults, so the storm ends by itself, even after long waits
REACHES = (3, 10, 40)  # opportunities: most workflows have few of each, some have many


def plan_for(seed: int, kinds: Sequence[FaultKind]) -> FaultPlan:
    """A few faults of some of these kinds; one seed in four has none, and one in ten takes short batches.

    A task whose worker is lost for the fifth time fails, and rightly so. Fewer are lost here: what is looked for is
    what the workflow does, not what the limit does.
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
    """Each kind has random numbers of its own, so that a new kind leaves the others as they were."""
    chance = Random(f"{seed}/plan/{kind}")
    if chance.random() >= likely:
        return []
    reach = chance.choice(REACHES)
    struck = sorted({chance.randrange(reach) for _ in range(chance.randint(1, 4))})
    return [Fault(nth, chance.choice(AMOUNTS.get(kind, (0,)))) for nth in struck]

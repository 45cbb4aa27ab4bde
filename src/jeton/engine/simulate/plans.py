"""Which faults a seed brings to a user's workflow."""

from collections.abc import Collection
from random import Random

import msgspec

from jeton.hosts.simulated.faults import KINDS, Fault, FaultKind, FaultPlan, plan_from_seed
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
)
NO_END = 10**15  # each kind has a bounded number of opportunities, so the storm ends by itself, even after long waits


def plan_for(seed: int, kinds: Collection[FaultKind]) -> FaultPlan:
    """The seed's faults of these kinds; one seed in ten takes short batches besides.

    A task whose worker is lost for the fifth time fails, and rightly so. Fewer are lost here: what is looked for is
    what the workflow does, not what the limit does.
    """
    drawn = plan_from_seed(seed)
    chance = Random(f"{seed}/thinned")
    faults: dict[FaultKind, tuple[Fault, ...]] = {kind: drawn.faults.get(kind, ()) for kind in KINDS if kind in kinds}
    losing = [(kind, fault) for kind in LOSES_WORKERS for fault in faults.get(kind, ())]
    kept = chance.sample(losing, min(len(losing), MAX_DELIVERIES - 1))
    thinned: dict[FaultKind, tuple[Fault, ...]] = {}
    for kind, found in faults.items():
        left = tuple(fault for fault in found if kind not in LOSES_WORKERS or (kind, fault) in kept)
        if left:
            thinned[kind] = left
    plan = FaultPlan(thinned, storm_ms=NO_END)
    return msgspec.structs.replace(plan, moves=chance.randint(1, 6)) if chance.random() < 0.1 else plan

"""Removal of faults that a failure does not need."""

from collections.abc import Callable, Iterator

import msgspec

from jeton.actor.advance import MOVES_PER_BATCH
from jeton.hosts.simulated.faults import Fault, FaultKind, FaultPlan


def shrunk(plan: FaultPlan, still: Callable[[FaultPlan], bool]) -> FaultPlan:
    """The plan without every fault that can be left out while `still` holds. Left out one by one, not by pairs."""
    for smaller in _smaller(plan):
        if still(smaller):
            return shrunk(smaller, still)
    return plan


def _smaller(plan: FaultPlan) -> Iterator[FaultPlan]:
    """All faults at once first, then all of a kind, then each by itself."""
    if plan.faults:
        yield msgspec.structs.replace(plan, faults={})
    if plan.moves != MOVES_PER_BATCH:
        yield msgspec.structs.replace(plan, moves=MOVES_PER_BATCH)
    for kind in plan.faults if len(plan.faults) > 1 else ():
        yield _without(plan, kind)
    for kind, faults in plan.faults.items():
        for fault in faults if len(faults) > 1 else ():
            yield _without(plan, kind, fault)


def _without(plan: FaultPlan, kind: FaultKind, fault: Fault | None = None) -> FaultPlan:
    """The plan without a kind of fault, or without one fault of it."""
    faults = dict(plan.faults)
    if fault is None:
        del faults[kind]
    else:
        faults[kind] = tuple(one for one in faults[kind] if one != fault)
    return msgspec.structs.replace(plan, faults=faults)

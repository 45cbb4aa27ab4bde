"""Test workflows without waiting: the simulated host, its clock, its scripts and its faults.

outcome = simulate(library, "panel", {"essay": "…"}, script={"judge": Answer({"vote": "yes"})})
assert outcome.status == "completed"
"""

from jeton.hosts.simulated.clock import ManualClock
from jeton.hosts.simulated.faults import Fault, FaultKind, FaultPlan, plan_from_seed
from jeton.hosts.simulated.observer import Observer, Step
from jeton.hosts.simulated.script import Answer, Call, Reply, Script
from jeton.hosts.simulated.simulate import Outcome, outcome_of, simulate
from jeton.hosts.simulated.world import World
from jeton.model.codes import CustomFailure
from jeton.model.failure import TaskFailed

__all__ = [
    "Answer",
    "Call",
    "CustomFailure",
    "Fault",
    "FaultKind",
    "FaultPlan",
    "ManualClock",
    "Observer",
    "Outcome",
    "Reply",
    "Script",
    "Step",
    "TaskFailed",
    "World",
    "outcome_of",
    "plan_from_seed",
    "simulate",
]

"""Testing workflows in simulated time: the simulated host, its clock, scripts and faults.

outcome = simulate(library, "panel", {"essay": "…"}, script={"judge": Answer({"vote": "yes"})})
assert outcome.status == "completed"
"""

from jeton.hosts.simulated.clock import ManualClock
from jeton.hosts.simulated.faults import Fault, FaultKind, FaultPlan, plan_from_seed
from jeton.hosts.simulated.host import SimulatedHost
from jeton.hosts.simulated.observer import Observer, Step
from jeton.hosts.simulated.script import Answer, Script, ScriptedAnswer, ScriptedCall
from jeton.hosts.simulated.simulate import SimulatedRun, simulate, simulated_run
from jeton.hosts.simulated.world import World
from jeton.model.failure import TaskFailed
from jeton.testing.simulated import open_simulated

__all__ = [
    "Answer",
    "Fault",
    "FaultKind",
    "FaultPlan",
    "ManualClock",
    "Observer",
    "Script",
    "ScriptedAnswer",
    "ScriptedCall",
    "SimulatedHost",
    "SimulatedRun",
    "Step",
    "TaskFailed",
    "World",
    "open_simulated",
    "plan_from_seed",
    "simulate",
    "simulated_run",
]

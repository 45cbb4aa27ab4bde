"""Testing workflows in simulated time: the simulated host, its clock, scripts and faults.

run = simulate(order, {"amount": 80}, answers={"approve": {"ok": True}}, fail={"charge": 2})
assert run.output == {"status": "shipped"}
"""

from jeton.executor.signals import SentSignal
from jeton.hosts.simulated.clock import ManualClock
from jeton.hosts.simulated.faults import Fault, FaultKind, FaultPlan
from jeton.hosts.simulated.host import SimulatedHost
from jeton.hosts.simulated.observer import Observer, Step
from jeton.hosts.simulated.script import Answer, Script, ScriptedAnswer, ScriptedCall
from jeton.hosts.simulated.simulated_run import SimulatedRun, simulated_run
from jeton.hosts.simulated.world import World
from jeton.model.failure import TaskFailed
from jeton.testing.calls import SimulatedCall
from jeton.testing.one_run import simulate
from jeton.testing.simulated import open_simulated
from jeton.testing.simulation import Simulation
from jeton.testing.trials.fault_plans import plan_from_seed

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
    "SentSignal",
    "SimulatedCall",
    "SimulatedHost",
    "SimulatedRun",
    "Simulation",
    "Step",
    "TaskFailed",
    "World",
    "open_simulated",
    "plan_from_seed",
    "simulate",
    "simulated_run",
]

"""Simulation of a workflow under many schedules and faults."""

from jeton.engine.simulate.fault_plans import USUAL_FAULTS
from jeton.engine.simulate.report import Ending, Finding, Report
from jeton.engine.simulate.trial import Trial, sample_input
from jeton.hosts.simulated.faults import KINDS as EVERY_FAULT
from jeton.hosts.simulated.faults import FaultKind

__all__ = ["EVERY_FAULT", "USUAL_FAULTS", "Ending", "FaultKind", "Finding", "Report", "Trial", "sample_input"]

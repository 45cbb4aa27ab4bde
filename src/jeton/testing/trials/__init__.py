"""Simulation of a workflow under many schedules and faults."""

from jeton.hosts.simulated.faults import FaultKind
from jeton.testing.trials.fault_plans import EVERY_FAULT, USUAL_FAULTS
from jeton.testing.trials.report import Ending, Finding, Report, error_text
from jeton.testing.trials.trial import Trial, sample_input

__all__ = [
    "EVERY_FAULT",
    "USUAL_FAULTS",
    "Ending",
    "FaultKind",
    "Finding",
    "Report",
    "Trial",
    "error_text",
    "sample_input",
]

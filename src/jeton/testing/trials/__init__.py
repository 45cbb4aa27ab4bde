"""A workflow under many schedules and faults: what it comes to, and how it can go wrong."""

from jeton.hosts.simulated.faults import KINDS as EVERY_FAULT
from jeton.hosts.simulated.faults import FaultKind
from jeton.testing.trials.plans import USUAL_FAULTS
from jeton.testing.trials.report import Ending, Problem, Report
from jeton.testing.trials.seeds import Trial, sample_input

__all__ = ["EVERY_FAULT", "USUAL_FAULTS", "Ending", "FaultKind", "Problem", "Report", "Trial", "sample_input"]

"""Fold decisions into a run's state: changes, events and effects. Pure; the cost follows the change, not the run."""

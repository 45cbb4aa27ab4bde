"""Triggers: schedules, and what a delivery starts."""

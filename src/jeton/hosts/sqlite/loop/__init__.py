"""Runs in memory: batches, alarms, recovery, triggers."""

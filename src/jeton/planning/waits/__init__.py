"""Waits: gates, signals, timers, retries, deadlines and child runs."""

"""Pure functions from a run's state and a message to decisions. No clock and no I/O."""

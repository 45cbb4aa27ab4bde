"""Pure functions: a run's state and what reached it, into decisions. No clock, no I/O, nothing done."""

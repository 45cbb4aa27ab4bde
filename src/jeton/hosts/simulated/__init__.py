"""The simulated host: virtual clock, seeded faults. `jeton.testing` gives it to users."""

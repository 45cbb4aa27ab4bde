"""Bounds on calls: concurrency, rates, circuit breakers, idempotency keys."""

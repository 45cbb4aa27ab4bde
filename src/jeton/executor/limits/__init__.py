"""Limits on calls: concurrency, rates, circuit breakers and idempotency keys."""

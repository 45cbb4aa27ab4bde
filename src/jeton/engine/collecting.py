"""How often Python looks for garbage while an engine works (ADR 6)."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

ALLOCATIONS = 50_000  # before the youngest are looked at; Python's own number is 700

_open = 0
_before = gc.get_threshold()


@contextmanager
def fewer_collections() -> Generator[None]:
    """Look less often until the last engine is closed; a program that looks less still, or never, is left be.

    A run makes many small values and hardly a cycle, so that looking costs a quarter of the time and finds nothing."""
    global _open, _before
    if _open == 0:
        _before = gc.get_threshold()
        if 0 < _before[0] < ALLOCATIONS:
            gc.set_threshold(ALLOCATIONS, *_before[1:])
    _open += 1
    try:
        yield
    finally:
        _open -= 1
        if _open == 0:
            gc.set_threshold(*_before)

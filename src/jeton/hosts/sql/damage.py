"""Damage to one run: whatever of it cannot be read."""

from collections.abc import Generator
from contextlib import contextmanager

from jeton.model.failure import Refused
from jeton.model.ids import RunId


@contextmanager
def reading(run: RunId) -> Generator[None]:
    """Turn any exception into the refusal of this run, because damage can raise anything."""
    try:
        yield
    except Refused:
        raise
    except Exception as problem:
        raise Refused("run_damaged", f"run {run} cannot be read: {describe(problem)}", "verify the store") from problem


def describe(problem: Exception) -> str:
    """The type and the text of an exception."""
    return f"{type(problem).__name__}: {problem}"

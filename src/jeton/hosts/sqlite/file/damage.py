"""What cannot be read of a run is that run's damage alone."""

from collections.abc import Generator
from contextlib import contextmanager

from jeton.model.failure import Refused
from jeton.model.ids import RunId


@contextmanager
def reading(run: RunId) -> Generator[None]:
    """What cannot be read of a run is the run's own damage, and no reason to stop anybody else."""
    try:
        yield
    except Refused:
        raise
    except Exception as problem:
        raise damaged(run, problem) from problem


def damaged(run: RunId, problem: Exception) -> Refused:
    """Whatever is asked of a run that cannot be read."""
    return Refused("run_damaged", f"run {run} cannot be read: {why_damaged(problem)}", "verify the store")


def why_damaged(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}"

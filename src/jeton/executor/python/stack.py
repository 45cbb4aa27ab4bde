"""The traceback of what a function raised, with the frames of the function and without those of jeton."""

import asyncio
import concurrent.futures
import os
import traceback
from collections.abc import Iterator
from pathlib import Path

from jeton.executor.python.results import BadResult
from jeton.model.storable import valid_text

_JETON = f"{Path(__file__).parents[2]}{os.sep}"
_RUNNERS = tuple(f"{Path(file).parent}{os.sep}" for file in (asyncio.__file__, concurrent.futures.__file__))


def stack_of(error: BaseException) -> str | None:
    """The traceback as text, also of the exceptions that led to this one.

    None for a bad result, which is raised after the function returned. Any other exception that is raised in jeton
    alone is a bug there, and keeps its frames.
    """
    shown = traceback.TracebackException.from_exception(error)
    if _own_frames(shown.stack):
        for each in _chain(shown):
            each.stack = traceback.StackSummary.from_list(_own_frames(each.stack))
    elif isinstance(error, BadResult):
        return None
    return valid_text("".join(shown.format()))


def _own_frames(frames: list[traceback.FrameSummary]) -> list[traceback.FrameSummary]:
    """The frames outside jeton, from the first that does not belong to what runs functions."""
    found: list[traceback.FrameSummary] = []
    for frame in frames:
        runs = frame.filename.startswith(_JETON) or (not found and frame.filename.startswith(_RUNNERS))
        if not runs:
            found.append(frame)
    return found


def _chain(shown: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    left = [shown]
    while left:
        each = left.pop()
        yield each
        left += [inner for inner in (each.__cause__, each.__context__, *(each.exceptions or ())) if inner is not None]

"""Whether what is stored can be read back: asked of what people say, and told of what is in a store and cannot be."""

from collections.abc import Generator
from contextlib import contextmanager

import msgspec

from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import Message

_encode = msgspec.json.Encoder().encode


def check_readable(message: Message) -> None:
    """Raises Refused for a message that could be stored, or could not even be that, and never read again.

    For messages of people, which are few; what the core makes of its own messages is typed already."""
    try:
        msgspec.convert(msgspec.to_builtins(message), type(message))
        _encode(message)
    except Exception as problem:  # a value may be anything, and so may what it raises
        why = f"a {_kind(message)} message cannot be stored: {problem}"
        raise Refused("bad_value", why, "send plain JSON, and what the types say") from None


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


def _kind(message: Message) -> str:
    return str(type(message).__struct_config__.tag)

"""Control keys: the part of a node's result that controls the run, such as a branch or a wait.

They are removed here, before anything else sees the result. A malformed one fails the node.
"""

import math

import msgspec

from jeton.model.definition.flow import CONTROL_KEYS
from jeton.model.failure import TaskFailed
from jeton.model.json import Json, JsonObject, kind_of
from jeton.model.state.flow_run import Executed, WaitingNode
from jeton.model.times import time_in

LONGEST_WAIT_S = 100 * 366 * 24 * 3600


class _BadControlKey(Exception):
    """A malformed control key."""


class _Wait(msgspec.Struct, frozen=True):
    due: int
    label: str | None
    wall: bool


class SplitResult(msgspec.Struct, frozen=True):
    """A result with its control keys apart from its outputs, whose keys are then always data."""

    outputs: JsonObject
    keys: JsonObject = {}


def read_result(result: Json, now: int) -> Executed | WaitingNode | TaskFailed:
    """Read a node's result: outputs and branch, and a wait if one was asked for."""
    if result is None:
        return Executed({})
    if not isinstance(result, dict):
        message = f"a node must return an object with its outputs, and this one returned {kind_of(result)}"
        return TaskFailed("bad_result", message)
    outputs: JsonObject = {key: value for key, value in result.items() if key not in CONTROL_KEYS}
    return read_split_result(SplitResult(outputs, result), now)


def read_split_result(result: SplitResult, now: int) -> Executed | WaitingNode | TaskFailed:
    """The same for a result that keeps control keys apart."""
    try:
        executed, wait = Executed(result.outputs, _branch(result.keys)), _wait(result.keys, now)
    except _BadControlKey as problem:
        return TaskFailed("bad_control_key", str(problem))
    return executed if wait is None else WaitingNode(executed, wait.due, wait.label, wait.wall)


def _branch(result: JsonObject) -> str | None:
    if "_branch" not in result:
        return None
    branch = result["_branch"]
    if not isinstance(branch, str) or not branch:
        raise _BadControlKey(f"_branch must be the name of a handle, and is {_shown(branch)}")
    return branch


def _wait(result: JsonObject, now: int) -> _Wait | None:
    keys = [key for key in CONTROL_KEYS if key != "_branch" and key in result]
    if len(keys) > 1:
        raise _BadControlKey(f"a node waits once, and this one asks for {' and '.join(keys)}")
    for key in keys:
        wanted = "seconds" if key == "_wait" else "timestamp"
        value = result[key]
        if not isinstance(value, dict) or wanted not in value or not value.keys() <= {wanted, "label"}:
            raise _BadControlKey(f"{key} must be {{{wanted}, label?}}, and is {_shown(value)}")
        label = value.get("label")
        if label is not None and not isinstance(label, str):
            raise _BadControlKey(f"{key}.label must be a text, and is {_shown(label)}")
        due = _after(value[wanted], now) if key == "_wait" else _at(value[wanted], key)
        return _Wait(due, label, wall=key != "_wait")
    return None


def _after(seconds: Json, now: int) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST_WAIT_S:
        raise _BadControlKey(
            f"_wait.seconds must be a number, more than 0 and at most a hundred years, and is {_shown(seconds)}"
        )
    return now + math.ceil(seconds * 1000)


def _at(timestamp: Json, key: str) -> int:
    when = time_in(timestamp) if isinstance(timestamp, str) else None
    if when is None or when.tzinfo is None:
        raise _BadControlKey(f"{key}.timestamp must be an RFC 3339 time with a zone, and is {_shown(timestamp)}")
    try:
        return round(when.timestamp() * 1000)
    except OverflowError:
        raise _BadControlKey(f"{key}.timestamp is out of range: {_shown(timestamp)}") from None


def _shown(value: Json) -> str:
    match value:
        case str():
            return repr(value[:60])
        case bool() | int() | float():
            return repr(value)
        case dict():
            return f"an object with {', '.join(map(repr, list(value)[:5]))}" if value else "an empty object"
        case _:
            return kind_of(value)

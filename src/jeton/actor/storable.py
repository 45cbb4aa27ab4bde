"""Checks that a message can be stored and read back.

Messages from outside are checked when they arrive. A task's result may be anything, and is checked when it is stored.
"""

import msgspec

from jeton.model.failure import Refused, TaskFailed
from jeton.model.message import Message, TaskFinished
from jeton.model.storable import valid_text

_TEXTS = ("type", "message", "step", "stack")
_encode = msgspec.json.Encoder().encode


def check_storable(message: Message) -> None:
    """Raise Refused for a message that cannot be stored, or could never be read again."""
    try:
        msgspec.convert(msgspec.to_builtins(message), type(message))
        _encode(message)
    except Exception as problem:  # a value may be anything, and so may what it raises
        why = f"a {type(message).__struct_config__.tag} message cannot be stored: {problem}"
        raise Refused("bad_value", why, "send plain JSON, and what the types say") from None


def storable(message: Message) -> Message | None:
    """The message in a form that can be stored: a bad result becomes a failure of its task, others become None."""
    try:
        _encode(message)
    except Exception as problem:
        if isinstance(message, TaskFinished):
            failure = _proper(message.failure) or TaskFailed("bad_result", f"the task's result is no JSON: {problem}")
            return TaskFinished(message.at, message.token, message.attempt, failure=failure)
        return None
    return message


def _proper(failure: TaskFailed | None) -> TaskFailed | None:
    """The failure with its texts made valid Unicode."""
    if failure is None:
        return None
    texts = {name: valid_text(text) for name in _TEXTS if (text := getattr(failure, name)) is not None}
    return msgspec.structs.replace(failure, **texts)

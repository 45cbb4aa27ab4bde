"""Effects: requests of a run to the outside world. They are released after the commit and safe to repeat."""

from typing import TypeAlias

import msgspec

from jeton.model.chat import Speaker
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import Message
from jeton.model.state.phase import Continuation


class StartTask(msgspec.Struct, frozen=True, tag="start_task"):
    """Run the task of a node. A repeated request has the same token, attempt and input."""

    token: TokenId
    node: str
    attempt: int
    delivery: int
    input: Json
    at: int = 0  # when it was handed out; a worker's clock may be behind it
    run: JsonObject = {}  # what expressions read as `run`
    speaker: Speaker | None = None  # the agent it works for
    continuation: Continuation | None = None  # what the attempt left behind when it gave its worker back


class StopTask(msgspec.Struct, frozen=True, tag="stop_task"):
    """Stop an attempt whose result is no longer needed."""

    token: TokenId
    attempt: int


class SendMessage(msgspec.Struct, frozen=True, tag="send_message"):
    """Send a message to another run, exactly once, as part of the commit. A start creates the run."""

    run: RunId
    message: Message


Effect: TypeAlias = StartTask | StopTask | SendMessage

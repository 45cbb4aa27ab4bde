"""Everything a run asks of the outside world. Released after the commit, and safe to repeat."""

from typing import TypeAlias

import msgspec

from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.message import Message


class StartTask(msgspec.Struct, frozen=True, tag="start_task"):
    """Run the task of a node. The same token, attempt and input however often it is asked."""

    token: TokenId
    node: str
    attempt: int
    delivery: int
    input: Json
    at: int = 0  # when it was given out: whatever a worker's clock says, it is not earlier


class StopTask(msgspec.Struct, frozen=True, tag="stop_task"):
    """Nobody waits for this attempt any more."""

    token: TokenId
    attempt: int


class SendMessage(msgspec.Struct, frozen=True, tag="send_message"):
    """Tell another run. It is part of the commit, so it is told exactly once; a start makes the run."""

    run: RunId
    message: Message


Effect: TypeAlias = StartTask | StopTask | SendMessage

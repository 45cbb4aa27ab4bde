"""Everything a run asks of the outside world. Released after the commit, and safe to repeat."""

from typing import TypeAlias

import msgspec

from jeton.model.ids import TokenId
from jeton.model.json import Json


class StartTask(msgspec.Struct, frozen=True, tag="start_task"):
    """Run the task of a node. The same token, attempt and input however often it is asked."""

    token: TokenId
    node: str
    attempt: int
    delivery: int
    input: Json


class StopTask(msgspec.Struct, frozen=True, tag="stop_task"):
    """Nobody waits for this attempt any more."""

    token: TokenId
    attempt: int


Effect: TypeAlias = StartTask | StopTask

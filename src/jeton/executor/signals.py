"""Signals that actions send to runs."""

from typing import Protocol

import msgspec

from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json


class SentSignal(msgspec.Struct, frozen=True):
    """A signal to a run. `key`: the same for a call that is repeated after a crash, so that it counts once."""

    run: RunId
    name: str
    value: Json
    key: str


class Signals(Protocol):
    """Sends signals to runs of the same store."""

    async def send(self, sent: SentSignal, /) -> None:
        """Send a signal. Returns when the run has taken or kept it; raises Refused with the reason of a refusal."""
        ...


class NoSignals:
    """Where there are no runs to send signals to."""

    async def send(self, sent: SentSignal) -> None:
        raise Refused("unknown_run", f"there is no run {sent.run}", "name a run of this store")

"""A handle on one run."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from jeton.engine.control import CancelAnswer
from jeton.engine.misuse import awaited
from jeton.engine.reply import Reply
from jeton.engine.views.record import RunRecord
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject

if TYPE_CHECKING:
    from jeton.engine.engine import Engine


@awaited
class Run:
    """One run of an engine."""

    def __init__(self, engine: Engine, run: RunId, *, trace: bool = False, new: bool = True) -> None:
        """`new`: whether it was started by this very call, and not before with the same key."""
        self._engine = engine
        self.new = new
        self._trace = trace
        self.id = run

    async def result(self, timeout: float | None = None) -> RunRecord:
        """Wait for the run's end, whatever its status. Raises TimeoutError if it has not ended in time."""
        return await self._engine.ended(self.id, timeout)

    async def record(self) -> RunRecord:
        """The run's current record."""
        return await self._engine.get(self.id)

    def events(self, after: int = -1, *, follow: bool = True) -> AsyncGenerator[JsonObject, None]:
        """The run's events behind a sequence number, until it has ended."""
        return self._engine.events(self.id, after, follow=follow, trace=self._trace)

    async def answer(
        self,
        value: Json,
        *,
        gate: str | None = None,
        node: str | None = None,
        path: str | None = None,
        by: str | None = None,
    ) -> Reply:
        """Answer a gate of the run."""
        return await self._engine.answer(self.id, value, gate=gate, node=node, path=path, by=by)

    async def signal(self, name: str, value: Json = None, *, key: str | None = None) -> Reply:
        """Send the run a value under a name."""
        return await self._engine.signal(self.id, name, value, key=key)

    async def cancel(self, reason: str = "") -> CancelAnswer:
        """Stop the run."""
        return await self._engine.cancel(self.id, reason)

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

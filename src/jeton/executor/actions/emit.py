"""`emit`: publish a named event. Its data is the action's input."""

import re
from collections.abc import Iterator

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem
from jeton.executor.event_sink import ActionEvent
from jeton.model.json import Json

EVENT = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*")
LONGEST_EVENT = 128
MOST_BYTES = 256 * 1024


class Emit(Kind, frozen=True):
    """The event's name is fixed, because others wait for it by that name."""

    event: str

    def problems(self) -> Iterator[KindProblem]:
        if not EVENT.fullmatch(self.event) or len(self.event) > LONGEST_EVENT:
            yield KindProblem(
                "event", f"{self.event!r} cannot name an event", "write names joined by dots: 'order.placed'"
            )

    def prepare(self) -> ActionHandler:
        async def act(call: ActionCall) -> Json | ActionFailed:
            size = len(msgspec.json.encode(call.input))
            if size > MOST_BYTES:
                return ActionFailed("too_large", f"the event has {size} bytes of data, and {MOST_BYTES} is the most")
            made = call.call
            emitted = ActionEvent(made.idempotency_key, self.event, call.input, made.run, made.node)
            await call.resources.event_sink.emit(emitted)
            return {"event": emitted.event, "id": emitted.id}

        return act

"""`emit`: publish a named event. Its data is the action's input."""

import re
from collections.abc import Iterator

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem
from jeton.executor.event_sink import ActionEvent
from jeton.model.json import Json

EVENT = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*")
MAX_EVENT_LENGTH = 128
MAX_BYTES = 256 * 1024


class Emit(Kind, frozen=True):
    """The name of the event is fixed, because triggers wait for it by name."""

    event: str

    def problems(self) -> Iterator[KindProblem]:
        if not EVENT.fullmatch(self.event) or len(self.event) > MAX_EVENT_LENGTH:
            yield KindProblem(
                "event", f"{self.event!r} is not a valid event name", "write names joined by dots: 'order.placed'"
            )

    def prepare(self) -> ActionHandler:
        async def act(call: ActionCall) -> Json | ActionFailed:
            size = len(msgspec.json.encode(call.input))
            if size > MAX_BYTES:
                return ActionFailed("too_large", f"the event has {size} bytes of data, more than {MAX_BYTES}")
            current = call.call
            event = ActionEvent(current.idempotency_key, self.event, call.input, current.run, current.node)
            await call.resources.event_sink.emit(event)
            return {"event": event.event, "id": event.id}

        return act

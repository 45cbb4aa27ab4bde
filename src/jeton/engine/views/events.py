"""Events and decisions as plain JSON objects."""

from collections.abc import Iterable, Iterator
from typing import cast

import msgspec

from jeton.apply.record import events_of
from jeton.model.entry import Entry
from jeton.model.event import Event
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.times import rfc3339

MAX_EVENT = 256 * 1024

_encode = msgspec.json.Encoder().encode


def event_json(event: Event) -> JsonObject:
    """`{seq, at, run_id, type, …}`."""
    fields = cast("dict[str, Json]", msgspec.to_builtins(event.fact))
    return {"seq": event.seq, "at": rfc3339(event.at), "run_id": event.run, **readable(fields)}


def events_in(run: RunId, entries: Iterable[Entry], after: int = -1) -> Iterator[JsonObject]:
    """The events of these entries after a sequence number."""
    for entry in entries:
        for event in events_of(run, entry):
            if event.seq > after:
                yield event_json(event)


def trace_in(run: RunId, entry: Entry) -> Iterator[JsonObject]:
    """The decisions of an entry as `decision.*` events, which have no sequence number."""
    for decision in entry.decisions:
        fields = cast("dict[str, Json]", msgspec.to_builtins(decision, str_keys=True))
        kind = fields.pop("do")
        at = fields.pop("at", entry.at)
        when = rfc3339(at if isinstance(at, int) else entry.at)
        yield {"entry": entry.number, "at": when, "run_id": run, "type": f"decision.{kind}", **readable(fields)}


def readable(fields: JsonObject) -> JsonObject:
    """The fields with times as RFC 3339 text."""
    return {key: _time(key, value) for key, value in fields.items()}


def _time(key: str, value: Json) -> Json:
    return rfc3339(value) if key in ("due", "deadline") and isinstance(value, int) else value


def bounded(found: JsonObject) -> JsonObject:
    """The event, its largest fields replaced by a link to it if it is too large to be sent."""
    if len(_encode(found)) <= MAX_EVENT:
        return found
    sizes = {name: len(_encode(value)) for name, value in found.items()}
    left, shown = sum(sizes.values()), dict(found)
    seq = found.get("seq")
    before = seq - 1 if isinstance(seq, int) else -1
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        if left <= MAX_EVENT // 2 or name in ("run_id", "seq", "at", "type"):
            break
        large: Json = {"size": sizes[name], "href": f"/v1/runs/{found.get('run_id')}/events?after={before}&limit=1"}
        shown[name] = {"$large": large}
        left -= sizes[name]
    return shown

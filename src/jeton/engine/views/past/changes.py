"""What an entry changed: the counts of nodes, and the context as operations of JSON Patch (RFC 6902)."""

from collections.abc import Iterator
from datetime import datetime
from typing import cast

import msgspec
from msgspec import UNSET

from jeton.engine.views.past.counts import NodeChanges
from jeton.engine.views.past.fold import FoldedRun
from jeton.model.entry import Entry
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunState
from jeton.model.times import moment


class EntryChanges(msgspec.Struct, frozen=True):
    """What one entry changed. `context` leads from `{input, state, output}` before it to that after it."""

    entry: int
    at: datetime
    nodes: NodeChanges
    context: tuple[JsonObject, ...]


def context_in(state: RunState) -> JsonObject:
    """The data of a run: `{input, state, output}`. Its values are shared with the state, and not to be changed."""
    head = state.head
    completed = head.status == "completed"
    output: Json = (None if head.result is UNSET else head.result) if completed else dict(state.output)
    return {"input": state.input, "state": dict(state.state), "output": output}


def changes_of(folded: FoldedRun, entry: Entry) -> EntryChanges:
    """Fold an entry, and tell what it changed."""
    before = context_in(folded.state)
    folded.counting.changes()
    folded.take(entry)
    operations = tuple(patch(before, context_in(folded.state)))
    return EntryChanges(entry.number, moment(entry.at), folded.counting.changes(), operations)


def patch(before: Json, after: Json, path: str = "") -> Iterator[JsonObject]:
    """The operations of JSON Patch that lead from one value to another."""
    if before is after or same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key not in after:
                yield {"op": "remove", "path": f"{path}/{_escaped(key)}"}
        for key, value in after.items():
            where = f"{path}/{_escaped(key)}"
            if key in before:
                yield from patch(before[key], value, where)
            else:
                yield {"op": "add", "path": where, "value": value}
    elif isinstance(before, list) and isinstance(after, list):
        shared = min(len(before), len(after))
        for index in range(shared):
            yield from patch(before[index], after[index], f"{path}/{index}")
        for index in range(len(before) - 1, shared - 1, -1):
            yield {"op": "remove", "path": f"{path}/{index}"}
        for value in after[shared:]:
            yield {"op": "add", "path": f"{path}/-", "value": value}
    else:
        yield {"op": "replace", "path": path, "value": after}


def same(one: Json, other: Json) -> bool:
    """Whether two values are the same JSON: 1 and 1.0 and true differ."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        known = cast("JsonObject", other)
        return len(one) == len(known) and all(key in known and same(one[key], known[key]) for key in one)
    if isinstance(one, list):
        items = cast("list[Json]", other)
        return len(one) == len(items) and all(map(same, one, items))
    return one == other


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")

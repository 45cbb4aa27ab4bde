"""Parts of an answer that only their maker can read: signed thinking, ids and signatures of parts.

Texts and arguments are in the answer already, so only their places are kept. If the two no longer fit together, because
the history was changed, the parts are left out.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_ai import messages as theirs

from jeton.model.json import Json

_PARTS: TypeAdapter[Any] = TypeAdapter(theirs.ModelResponsePart)
_MARKS = ("id", "provider_name", "provider_details")


def sealed_parts(parts: Sequence[theirs.ModelResponsePart]) -> list[Json] | None:
    """The parts as JSON, without texts and calls; None if nothing else is in them."""
    kept: list[Json] = []
    is_plain = True
    for part in parts:
        dumped: dict[str, Json] = _PARTS.dump_python(part, mode="json")
        marks = {key: dumped[key] for key in _MARKS if dumped.get(key)}
        if isinstance(part, theirs.TextPart):
            kept.append({"part_kind": "text", "length": len(part.content), **marks})
        elif isinstance(part, theirs.ToolCallPart):
            kept.append({"part_kind": "tool-call", **marks})
        else:
            kept.append({key: value for key, value in dumped.items() if value is not None})
            is_plain = False
        is_plain = is_plain and not marks.keys() & {"id", "provider_details"}
    return None if is_plain else kept


def opened(sealed: Json, text: str, calls: Sequence[theirs.ToolCallPart]) -> list[theirs.ModelResponsePart] | None:
    """The parts again, with these texts and calls in their places; None if they do not fit."""
    parts: list[theirs.ModelResponsePart] = []
    at, called = 0, 0
    for each in sealed if isinstance(sealed, list) else []:
        if not isinstance(each, dict):
            return None
        part = dict(each)
        length = part.pop("length", 0)
        try:
            if part.get("part_kind") == "text" and isinstance(length, int):
                part["content"] = text[at : at + length]
                at += length
            elif part.get("part_kind") == "tool-call":
                call = calls[called]
                part |= {"tool_name": call.tool_name, "args": call.args_as_dict(), "tool_call_id": call.tool_call_id}
                called += 1
            parts.append(_PARTS.validate_python(part))
        except (ValidationError, IndexError):
            return None
    return parts if at == len(text) and called == len(calls) else None

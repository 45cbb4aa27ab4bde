"""Gates as forms: what clients can show, and the answer that is in what they send."""

import pytest

from jeton.engine.mcp.forms import answer_in, form_of
from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject, Schema

FIELDS: Schema = {"type": "object", "properties": {"ok": {"type": "boolean"}, "who": {"enum": ["a", "b"]}}}
DECLINED: Schema = {"type": "object", "properties": {"action": {"enum": ["decline"]}}}
NESTED: Schema = {"type": "object", "properties": {"a": {"type": "object"}}}


@pytest.mark.parametrize(
    ("schema", "kind", "content", "answer"),
    [
        pytest.param(FIELDS, "fields", {"ok": True}, {"ok": True}, id="plain fields are a form"),
        pytest.param({"anyOf": [FIELDS, DECLINED]}, "fields", {"ok": True}, {"ok": True}, id="of several, the first"),
        pytest.param({"type": "boolean"}, "value", {"value": True}, True, id="one value is one field"),
        pytest.param({"enum": ["x", "y"]}, "value", {"value": "x"}, "x", id="so is a choice"),
        pytest.param({"enum": [1, 2]}, "json", {"json": "1"}, 1, id="but not of numbers"),
        pytest.param(None, "json", {"json": '"x"'}, "x", id="anything is JSON"),
        pytest.param(NESTED, "json", {"json": '{"a": {}}'}, {"a": {}}, id="so is what is nested"),
        pytest.param({"type": "object"}, "json", {"json": "{}"}, {}, id="and an object without fields"),
        pytest.param({"type": "string", "pattern": "a+"}, "json", {"json": '"a"'}, "a", id="and patterns"),
        pytest.param({"anyOf": [{"type": "null"}, FIELDS]}, "json", {"json": "null"}, None, id="and alternatives"),
    ],
)
def test_a_gate_as_a_form(schema: Schema | None, kind: str, content: JsonObject, answer: Json) -> None:
    found, form = form_of(schema)
    assert found == kind
    assert form["type"] == "object"
    assert set(content) <= set(form["properties"])  # type: ignore[arg-type]  # a form has properties
    assert answer_in(schema, content) == answer


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        answer_in(None, {"json": "[1,"})
    assert refused.value.code == "answer_refused"

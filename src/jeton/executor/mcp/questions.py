"""What a server asks people (`input_required`), as one question with a schema, and their answer as the server wants it.

The text and the schema come from the server. The text is shown as its words, and of the schema only what forms need is
kept: no references, no patterns.
"""

from typing import Any, cast

import mcp_types as types

from jeton.executor.mcp.errors import Denied
from jeton.expression.schema import SchemaInvalid, SchemaValidator
from jeton.model.json import Json, JsonObject, Schema

MAX_REQUESTS = 20
LONGEST_MESSAGE = 2_000
KEPT = (
    "type", "title", "description", "default", "enum", "enumNames", "const", "format", "minLength", "maxLength",
    "minimum", "maximum", "minItems", "maxItems",
)  # fmt: skip
KEPT_OBJECT = ("title", "description", "required")
ACTIONS = ("accept", "decline", "cancel")


def question_of(requests: types.InputRequests, who: str) -> tuple[str, Schema, JsonObject]:
    """The title and the schema of what is asked, and what to keep of it to make the answer. Raises Denied."""
    if len(requests) > MAX_REQUESTS:
        raise Denied(f"{who} asks {len(requests)} questions at once, and at most {MAX_REQUESTS} are asked")
    titles, schemas = list[str](), dict[str, Json]()
    asked: JsonObject = {}
    for key, request in requests.items():
        if not isinstance(request, types.ElicitRequest):
            raise Denied(f"{who} asks for '{request.method}', which no server gets")
        params = request.params
        titles.append(params.message[:LONGEST_MESSAGE])
        form: Schema | None = None
        if isinstance(params, types.ElicitRequestURLParams):
            titles.append(f"Open {params.url[:LONGEST_MESSAGE]} and then accept.")
        else:
            form = form_schema(cast("JsonObject", params.requested_schema))
        asked[key] = form
        schemas[key] = answer_schema(form)
    title = f"{who} asks: " + "\n".join(titles)
    if len(schemas) == 1:
        (only,) = schemas.values()
        return title, cast("Schema", only), asked
    return title, {"type": "object", "properties": schemas, "required": list(schemas)}, asked


def answer_schema(form: Schema | None) -> Schema:
    """The schema of an answer: the fields of the form, or whether the question is accepted at all."""
    declined: Schema = {
        "type": "object",
        "properties": {"action": {"enum": ["decline", "cancel"]}},
        "required": ["action"],
        "additionalProperties": False,
    }
    accepted: Schema = {"type": "object", "properties": {"action": {"const": "accept"}}, "required": ["action"]}
    if form is None:
        return {"anyOf": [{**accepted, "additionalProperties": False}, declined]}
    with_content: Schema = {
        "type": "object",
        "properties": {"action": {"const": "accept"}, "content": form},
        "required": ["action", "content"],
        "additionalProperties": False,
    }
    return {"anyOf": [form, with_content, declined]}


def form_schema(written: JsonObject) -> Schema:
    """The schema of a form, with the keys that forms have, and the properties only."""
    properties = written.get("properties")
    fields: JsonObject = {}
    for name, field in properties.items() if isinstance(properties, dict) else ():
        fields[name] = _field(field) if isinstance(field, dict) else {}
    kept: Schema = {key: written[key] for key in KEPT_OBJECT if key in written}
    return {"type": "object", **kept, "properties": fields}


def _field(written: JsonObject) -> Schema:
    kept: Schema = {key: written[key] for key in KEPT if key in written}
    items = written.get("items")
    if isinstance(items, dict):
        kept["items"] = _field(items)
    for key in ("oneOf", "anyOf"):
        choices = written.get(key)
        if isinstance(choices, list):
            kept[key] = [_field(choice) for choice in choices if isinstance(choice, dict)]
    return kept


def responses_to(asked: JsonObject, answer: Json) -> types.InputResponses:
    """The answer of people, as the server wants it: one response per request."""
    several = len(asked) > 1
    given = answer if several and isinstance(answer, dict) else {}
    return {
        key: _response(cast("Schema | None", form), given.get(key) if several else answer)
        for key, form in asked.items()
    }


def _response(form: Schema | None, answer: Json) -> types.ElicitResult:
    """An answer that is a form's content counts as accepted; `{action: decline}` and the like are what they say."""
    if isinstance(answer, dict) and answer.get("action") in ACTIONS and not _has_own_action(form, answer):
        content = answer.get("content")
        return types.ElicitResult(action=cast("Any", answer["action"]), content=cast("Any", content))
    return types.ElicitResult(action="accept", content=cast("Any", answer))


def _has_own_action(form: Schema | None, answer: JsonObject) -> bool:
    """Whether the form itself has a field `action`, which this answer fills in."""
    properties = None if form is None else form.get("properties")
    if form is None or not isinstance(properties, dict) or "action" not in properties:
        return False
    try:
        return SchemaValidator(form).problem(answer, "answer") is None
    except SchemaInvalid:
        return False

"""Prompts: plain data into the model."""

from jeton.definitions.read.fields import Fields, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report
from jeton.model.definition.agent import Example, Prompt
from jeton.model.json import Json

PROMPT_KEYS = ("template", "system", "examples", "description", "tags")
HINTS = {
    "name": "remove it: the key above is the name",
    "user": "write 'template'",
    "text": "write 'template'",
    "prompt": "write 'template'",
    "instructions": "write 'system'",
}


def read_prompt(value: Json, location: SourceLocation, report: Report) -> Prompt:
    """Read a prompt. If it cannot be read, its template is empty."""
    fields = fields_of(value, location, report, PROMPT_KEYS, "a prompt", HINTS)
    if fields is None:
        return Prompt("")
    fields.require("template")
    return Prompt(
        template=fields.text("template") or "",
        system=_any_text(fields, "system"),
        examples=_examples(fields),
        description=fields.text("description"),
        tags=fields.texts("tags"),
    )


def _examples(fields: Fields) -> tuple[Example, ...]:
    found: list[Example] = []
    for index, value in enumerate(fields.list("examples") or []):
        location = fields.location("examples") / index
        inner = fields_of(value, location, fields.report, ("input", "output"), "an example")
        if inner is not None and inner.require("input", "output"):
            found.append(Example(inner.text("input") or "", inner.text("output") or ""))
    return tuple(found)


def _any_text(fields: Fields, key: str) -> str:
    """A text that may be empty."""
    value = fields.value(key, "")
    if not isinstance(value, str):
        fields.wrong(key, "a text")
        return ""
    return value

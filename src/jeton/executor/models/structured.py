"""Structured output: an answer whose text is JSON that fits a schema."""

import re
from typing import NamedTuple

import msgspec

from jeton.expression.schema import SchemaValidator, dotted_path
from jeton.model.chat import AssistantMessage, ModelAnswer, ModelRequest, UserMessage
from jeton.model.json import Json, Schema

MOST_TOLD = 2  # how often a model is told of misfits
MOST_MISFITS = 1_000  # in one message

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n?\s*```", re.DOTALL)
_encode = msgspec.json.Encoder(order="deterministic").encode


class Parsed(NamedTuple):
    """The value of an answer, and every misfit."""

    data: Json
    misfits: tuple[str, ...]


def asked_as_json(request: ModelRequest) -> ModelRequest:
    """The request with its schema as part of the instructions, for providers that take no schema."""
    if request.output_schema is None:
        return request
    wanted = json_instructions(request.output_schema)
    instructions = f"{request.instructions}\n\n{wanted}" if request.instructions else wanted
    return msgspec.structs.replace(request, instructions=instructions, output_schema=None)


def json_instructions(schema: Schema) -> str:
    """Instructions to answer with JSON that fits a schema."""
    return (
        "Your final answer must be one JSON value and nothing else: no explanation, no code fence. It must fit this "
        f"JSON Schema:\n{_encode(schema).decode()}"
    )


def parse_answer(answer: ModelAnswer, validator: SchemaValidator) -> Parsed:
    """Read the value from the text of an answer. A code fence around it is ignored."""
    if answer.finish == "length":
        return Parsed(None, ("the answer was cut off because it is too long; make it shorter",))
    text = answer.text.strip()
    fenced = _FENCED.fullmatch(text)
    try:
        data: Json = msgspec.json.decode(fenced[1] if fenced else text)
    except (msgspec.DecodeError, RecursionError) as error:
        return Parsed(None, (f"the answer is not JSON: {error}",))
    misfits = tuple(f"{dotted_path('answer', each.path)}: {each.problem}" for each in validator.misfits(data))
    return Parsed(data, misfits)


def told_misfits(request: ModelRequest, answer: ModelAnswer, misfits: tuple[str, ...]) -> ModelRequest:
    """The request with the answer and its misfits added."""
    shown = "\n".join(f"- {misfit}" for misfit in misfits[:MOST_MISFITS])
    left_out = len(misfits) - MOST_MISFITS
    more = f"\n- and {left_out} more" if left_out > 0 else ""
    schema = _encode(request.output_schema or {}).decode()
    text = f"That does not fit:\n{shown}{more}\nAnswer again, with one JSON value that fits this JSON Schema:\n{schema}"
    said = AssistantMessage(answer.text, sealed=answer.sealed)
    return msgspec.structs.replace(request, messages=(*request.messages, said, UserMessage(text)))

"""The `scripted` provider: answers from the definition, for tests, examples and demonstrations.

The first entry that is not used up and whose `when` holds answers. It never waits for anything but the clock, so it
works in virtual time.
"""

from collections.abc import Iterator, Sequence
from typing import Literal
from zlib import crc32

import msgspec

from jeton.executor.clock import Clock
from jeton.executor.models.client import Embeddings, ModelCall, ModelProblem, OnText, RequestFailed
from jeton.expression import ExpressionInvalid, Failed, Missing, compile_expression
from jeton.expression.mapping import failure_text
from jeton.model.chat import (
    AssistantMessage,
    CalledTool,
    ModelAnswer,
    ModelMessage,
    ModelRequest,
    SystemMessage,
    TokenUsage,
    ToolMessage,
    UserMessage,
)
from jeton.model.codes import FailureName
from jeton.model.json import Json, JsonObject
from jeton.model.state.ranges import count_in, numbers_outside

VARIABLES = ("message", "moves", "tool_results", "context")
PIECE = 8  # characters
CHARACTERS_PER_TOKEN = 4
VECTOR_LENGTH = 64

_encode = msgspec.json.Encoder(order="deterministic").encode


class ScriptEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One answer of a script: text, tool calls, or an error."""

    text: str = ""
    tool_calls: tuple[CalledTool, ...] = ()
    error: str | None = None
    transient: bool = False
    type: FailureName = "model_error"  # of the error
    when: str | bool | None = None
    delay_ms: int = 0
    usage: TokenUsage | None = None
    finish: Literal["stop", "length", "refused"] = "stop"


class ScriptedClient:
    """Answers from the `script` of a profile."""

    def load(self) -> None:
        """Nothing has to be imported."""

    async def generate(self, call: ModelCall, on_text: OnText) -> ModelAnswer:
        index, entry = _chosen(call.request, call.profile.script)
        if entry.error is not None:
            if entry.delay_ms > 0:
                await call.clock.sleep(entry.delay_ms)
            usage = entry.usage or TokenUsage()
            raise RequestFailed(ModelProblem(entry.type, entry.error, entry.transient, usage=usage, used=(index,)))
        await _speak(entry, call.clock, on_text)
        return ModelAnswer(
            text=entry.text,
            calls=entry.tool_calls,
            usage=entry.usage or _estimated(call.request, entry),
            finish=entry.finish,
            used=(index,),
        )

    async def embed(self, call: ModelCall, texts: Sequence[str]) -> Embeddings:
        """Vectors of the letters of each text: texts that share words are near each other."""
        return Embeddings([_letters(text) for text in texts], TokenUsage(sum(_tokens(len(text)) for text in texts)))

    def problem_of(self, error: Exception) -> ModelProblem | None:
        return None

    async def close(self) -> None:
        """Nothing is open."""


def _chosen(request: ModelRequest, script: Sequence[JsonObject]) -> tuple[int, ScriptEntry]:
    """The entry that answers. Raises RequestFailed if there is none."""
    used, scope = request.script.used, _scope(request)
    for index in numbers_outside(used, len(script)):
        try:
            entry = msgspec.convert(script[index], ScriptEntry)
        except msgspec.ValidationError as error:
            raise RequestFailed(ModelProblem("bad_script", f"script[{index}]: {error}")) from None
        if not (request.script.own and entry.when is None) and _holds(entry.when, index, scope):
            return index, entry
    problem = f"none of the {len(script) - count_in(used)} entries left of {len(script)} answers"
    if request.script.own:
        problem += "; this call is not part of the dialogue, so only entries with a 'when' count"
    raise RequestFailed(ModelProblem("script_exhausted", f"the script is exhausted: {problem}"))


def _holds(when: str | bool | None, index: int, scope: JsonObject) -> bool:
    """Whether a condition holds. A missing key is false."""
    if when is None or isinstance(when, bool):
        return when is not False
    where = f"script[{index}].when"
    try:
        found = compile_expression(when, VARIABLES).holds(scope)
    except ExpressionInvalid as invalid:
        raise RequestFailed(ModelProblem("expression_error", f"{where}: {invalid}")) from None
    if isinstance(found, Failed):
        raise RequestFailed(ModelProblem("expression_error", failure_text(where, found)))
    return not isinstance(found, Missing) and found


def _scope(request: ModelRequest) -> JsonObject:
    """What conditions read."""
    return {
        "message": request.script.message,
        "moves": request.script.moves,
        "tool_results": [*request.script.tool_results],
        "context": {
            "instructions": request.instructions,
            "messages": [{"role": _role(each), "text": text_of(each)} for each in request.messages],
            "tools": [tool.name for tool in request.tools],
        },
    }


def _role(message: ModelMessage) -> Json:
    match message:
        case UserMessage():
            return "user"
        case AssistantMessage():
            return "assistant"
        case ToolMessage():
            return "tool"
        case SystemMessage():
            return "system"


def text_of(message: ModelMessage) -> str:
    """The text of a message; for tool results one line of JSON each."""
    if not isinstance(message, ToolMessage):
        return message.text
    outcomes = (each.result if each.error is None else msgspec.to_builtins(each.error) for each in message.results)
    return "\n".join(_encode(outcome).decode() for outcome in outcomes)


async def _speak(entry: ScriptEntry, clock: Clock, on_text: OnText) -> None:
    """Give the text in pieces, with the delay spread over them."""
    pieces = list(_pieces(entry.text))
    slept = 0
    for number, piece in enumerate(pieces, 1):
        due = entry.delay_ms * number // len(pieces)
        if due > slept:
            await clock.sleep(due - slept)
            slept = due
        on_text(piece)
    if slept < entry.delay_ms:
        await clock.sleep(entry.delay_ms - slept)


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def _estimated(request: ModelRequest, entry: ScriptEntry) -> TokenUsage:
    """About the tokens that a model would count."""
    given = len(request.instructions) + sum(len(text_of(each)) for each in request.messages)
    given += sum(len(_encode(tool)) for tool in request.tools)
    called = sum(len(_encode(each)) for each in entry.tool_calls)
    return TokenUsage(_tokens(given), _tokens(len(entry.text) + called))


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def _letters(text: str) -> list[float]:
    """Counts of character triples by hash, scaled to length 1."""
    counts = [0.0] * VECTOR_LENGTH
    lowered = f" {text.lower()} "
    for start in range(len(lowered) - 2):
        counts[crc32(lowered[start : start + 3].encode()) % VECTOR_LENGTH] += 1.0
    length = sum(count * count for count in counts) ** 0.5
    return [count / length for count in counts] if length else counts

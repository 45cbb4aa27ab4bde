"""`llm`: ask a language model for a text or a value that fits a schema, or for the vectors of texts."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem
from jeton.executor.models.call_model import call_model
from jeton.executor.models.embed import MAX_TEXTS, embed_texts
from jeton.expression.schema import SchemaInvalid, SchemaValidator
from jeton.expression.templates.template import Template, TemplateProblem
from jeton.model.chat import (
    AssistantMessage,
    CalledTool,
    ModelAnswer,
    ModelFailed,
    ModelMessage,
    ModelRequest,
    ScriptPlace,
    UserMessage,
)
from jeton.model.definition.agent import Prompt
from jeton.model.json import Json, JsonObject, Schema

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,127}")
PROMPT_FUEL = 100_000


class Llm(Kind, frozen=True):
    """A model call. The prompt is the name of one, a template, or a whole prompt; it reads `input` and `run`."""

    model_profile: str
    operation: Literal["generate", "embed"] = "generate"
    prompt: str | Prompt | None = None
    system: str | None = None
    output_schema: Schema | None = None
    tools: tuple[str, ...] = ()

    def problems(self) -> Iterator[KindProblem]:
        if self.operation == "embed":
            for key in ("prompt", "system", "output_schema", "tools"):
                if getattr(self, key):
                    yield KindProblem(key, f"'{key}' belongs to 'generate', and this is 'embed'", "remove it")
            return
        if self.prompt is None:
            yield KindProblem("", "has no 'prompt'", "write the name of a prompt, or a template")
        for key, source in self._templates():
            problem = _template(source).problem
            if problem is not None:
                remedy = "write '{{ input.name }}' for what varies"
                yield KindProblem(key, f"is not a valid template: {problem}", remedy)
        if self.output_schema is not None:
            try:
                SchemaValidator(self.output_schema)
            except SchemaInvalid as invalid:
                yield KindProblem("output_schema", f"is not valid: {invalid.problem}", "write a JSON Schema")

    def prepare(self) -> ActionHandler:
        return self._embed if self.operation == "embed" else self._generate

    def _templates(self) -> Iterator[tuple[str, str]]:
        """The templates that are written in the implementation itself."""
        if isinstance(self.prompt, Prompt):
            yield from (("prompt.template", self.prompt.template), ("prompt.system", self.prompt.system))
        elif self.prompt is not None and not NAME.fullmatch(self.prompt):
            yield "prompt", self.prompt
        if self.system is not None:
            yield "system", self.system

    async def _generate(self, call: ActionCall) -> Json | ActionFailed:
        prompt = self._prompt(call)
        unknown = [name for name in self.tools if name not in call.tools]
        if prompt is None or unknown:
            problem = f"there is no prompt '{self.prompt}'" if prompt is None else f"there is no tool '{unknown[0]}'"
            return ActionFailed("bad_implementation", f"llm: {problem}", fatal=True)
        names: JsonObject = {"input": call.input, "run": call.run}
        try:
            asked = _template(prompt.template).render(names)
            instructions = _template(prompt.system if self.system is None else self.system).render(names)
        except TemplateProblem as problem:
            return ActionFailed("template_error", f"the prompt: {problem.message}", fatal=True)
        request = ModelRequest(
            profile=self.model_profile,
            messages=(*_examples(prompt), UserMessage(asked)),
            instructions=instructions,
            tools=tuple(call.tools[name] for name in self.tools),
            output_schema=self.output_schema,
            script=ScriptPlace(message=asked),
            # an answer inside a conversation is no answer of its agent
            turn=int(call.call.token) if call.speaker is None else None,
        )
        return _result(await call_model(call, request), has_schema=self.output_schema is not None)

    def _prompt(self, call: ActionCall) -> Prompt | None:
        if not isinstance(self.prompt, str):
            return self.prompt
        if self.prompt in call.prompts:
            return call.prompts[self.prompt]
        return None if NAME.fullmatch(self.prompt) else Prompt(self.prompt)

    async def _embed(self, call: ActionCall) -> Json | ActionFailed:
        texts = call.input.get("texts") if isinstance(call.input, dict) else None
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return ActionFailed("input_invalid", "needs 'texts', a list of texts")
        if len(texts) > MAX_TEXTS:
            return ActionFailed("too_large", f"there are {len(texts)} texts, and {MAX_TEXTS} is the most")
        if not texts:
            return {"vectors": [], "usage": {"input_tokens": 0, "output_tokens": 0}}
        found = await embed_texts(call, self.model_profile, [str(text) for text in texts])
        if isinstance(found, ModelFailed):
            return ActionFailed(found.type, found.message, found.transient)
        vectors: list[Json] = [[*vector] for vector in found.vectors]
        return {"vectors": vectors, "usage": msgspec.structs.asdict(found.usage)}


def _examples(prompt: Prompt) -> Iterator[ModelMessage]:
    for example in prompt.examples:
        yield UserMessage(example.input)
        yield AssistantMessage(example.output)


def _result(reply: ModelAnswer | ModelFailed, *, has_schema: bool) -> Json | ActionFailed:
    if isinstance(reply, ModelFailed):
        return ActionFailed(reply.type, reply.message, reply.transient)
    if reply.finish == "refused":
        return ActionFailed("model_declined", f"the model declined to answer: {reply.text[:500]}")
    result: JsonObject = {"text": reply.text, "usage": msgspec.structs.asdict(reply.usage)}
    if has_schema and not reply.calls:
        result["data"] = reply.data
    if reply.calls:
        result["tool_calls"] = [_called(call) for call in reply.calls]
    if reply.finish == "length":
        result["truncated"] = True
    return result


def _called(call: CalledTool) -> JsonObject:
    """A tool call; with the text of its arguments as `raw` if they are no JSON object."""
    return {"name": call.name, "input": call.input} if call.raw is None else {"name": call.name, "raw": call.raw}


@lru_cache(maxsize=512)
def _template(source: str) -> Template:
    return Template(source, PROMPT_FUEL)

"""One request to a real model: streamed, whole or not at all."""

from collections.abc import Sequence

import msgspec
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import ModelContextWindowExceededError, ModelHTTPError
from pydantic_ai.messages import ModelMessage, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from jeton.executor.models.client import Embeddings, ModelCall, ModelProblem, OnText, RequestFailed
from jeton.executor.models.providers.answers import answer_of
from jeton.executor.models.providers.background import answer_in_background
from jeton.executor.models.providers.embeddings import embed
from jeton.executor.models.providers.messages import their_messages
from jeton.executor.models.providers.models import AnyModel, build_model, http_client
from jeton.executor.models.providers.problems import their_problem
from jeton.executor.models.providers.settings import settings_of
from jeton.executor.models.structured import asked_as_json
from jeton.model.chat import ModelAnswer

MAX_MODELS = 64
MAX_CHARACTERS = 4_000_000  # of one answer


class Speech:
    """Requests to one provider, which share connections."""

    def __init__(self) -> None:
        self._http = http_client()
        self._models: dict[tuple[object, ...], AnyModel] = {}
        self._without_schemas: set[tuple[str | None, str | None]] = set()  # endpoints that refused one

    async def generate(self, call: ModelCall, on_text: OnText) -> ModelAnswer:
        """The whole answer."""
        model = self._model(call)
        if not self._takes_schema(model, call):
            return await self._ask(model, msgspec.structs.replace(call, request=asked_as_json(call.request)), on_text)
        try:
            return await self._ask(model, call, on_text)
        except ModelHTTPError as error:
            endpoint = call.profile.base_url, call.profile.model
            refused = error.status_code in (400, 422) and not isinstance(error, ModelContextWindowExceededError)
            if not refused or call.profile.base_url is None:
                raise
            self._without_schemas.add(endpoint)  # compatible endpoints often are not compatible in this
            return await self._ask(model, msgspec.structs.replace(call, request=asked_as_json(call.request)), on_text)

    async def embed(self, call: ModelCall, texts: Sequence[str]) -> Embeddings:
        """The vectors of texts."""
        return await embed(call, texts, self._http)

    def problem_of(self, error: Exception) -> ModelProblem | None:
        """What an exception means."""
        return their_problem(error)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _model(self, call: ModelCall) -> AnyModel:
        profile = call.profile
        key = profile.provider, profile.model, profile.base_url, call.api_key
        if key not in self._models:
            if len(self._models) >= MAX_MODELS:
                del self._models[next(iter(self._models))]
            self._models[key] = build_model(call, self._http)
        return self._models[key]

    def _takes_schema(self, model: AnyModel, call: ModelCall) -> bool:
        """Whether the provider itself makes the answer fit. Only objects; Gemini not together with tools."""
        schema, profile = call.request.output_schema, call.profile
        if schema is None or schema.get("type") != "object" or not model.profile.get("supports_json_schema_output"):
            return False
        if profile.provider == "google" and call.request.tools:
            return False
        return (profile.base_url, profile.model) not in self._without_schemas

    async def _ask(self, model: AnyModel, call: ModelCall, on_text: OnText) -> ModelAnswer:
        messages, parameters = their_messages(call), parameters_of(call)
        if call.profile.background and call.profile.provider == "openai_responses":
            return await answer_in_background(model, messages, parameters, call, on_text)
        return await _streamed(model, messages, parameters, call, on_text)


def parameters_of(call: ModelCall) -> ModelRequestParameters:
    """Tools and the schema of the answer."""
    tools = [
        ToolDefinition(
            name=tool.name,
            parameters_json_schema={"type": "object", **tool.input_schema},
            description=tool.description,
        )
        for tool in call.request.tools
    ]
    schema = call.request.output_schema
    if schema is None:
        return ModelRequestParameters(function_tools=tools)
    output = OutputObjectDefinition(schema, name="answer")
    return ModelRequestParameters(function_tools=tools, output_mode="native", output_object=output)


async def _streamed(
    model: AnyModel,
    messages: list[ModelMessage],
    parameters: ModelRequestParameters,
    call: ModelCall,
    on_text: OnText,
) -> ModelAnswer:
    characters = 0
    asked = model_request_stream(
        model,
        messages,
        model_settings=settings_of(call.profile),
        model_request_parameters=parameters,
        instrument=False,
    )
    async with asked as stream:
        async for event in stream:
            text = ""
            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                text = event.part.content
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                text = event.delta.content_delta
            if text:
                characters += len(text)
                if characters > MAX_CHARACTERS:
                    problem = f"the answer has more than {MAX_CHARACTERS} characters"
                    raise RequestFailed(ModelProblem("too_large", problem))
                on_text(text)
        return answer_of(stream.get(), call.profile)

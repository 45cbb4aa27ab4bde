"""The `parameters` of a profile: those that all providers share by name, the rest into the body of the request."""

from typing import cast

from pydantic_ai.settings import ModelSettings

from jeton.executor.models.client import ModelProblem, RequestFailed
from jeton.model.definition.profile import ModelProfile
from jeton.model.json import Json

SHARED = frozenset(
    (
        "cache",
        "frequency_penalty",
        "logit_bias",
        "max_tokens",
        "parallel_tool_calls",
        "presence_penalty",
        "seed",
        "service_tier",
        "stop_sequences",
        "temperature",
        "thinking",
        "tool_choice",
        "top_k",
        "top_p",
    )
)
PREFIXES = ("openai_", "anthropic_", "google_")  # settings of the library for one provider


def settings_of(profile: ModelProfile, **others: Json) -> ModelSettings:
    """The settings of a request. Raises RequestFailed for parameters that cannot be passed on."""
    settings: dict[str, Json] = {}
    body: dict[str, Json] = {}
    for name, value in profile.parameters.items():
        known = name in SHARED or name.startswith(PREFIXES)
        (settings if known else body)[name] = value
    if body and profile.provider == "google":
        problem = f"Gemini does not take the parameters: {', '.join(sorted(body))}"
        raise RequestFailed(ModelProblem("model_refused_request", problem))
    if body:
        settings["extra_body"] = body
    return cast(ModelSettings, {**settings, **others})

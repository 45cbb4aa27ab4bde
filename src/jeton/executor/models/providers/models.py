"""The models of pydantic-ai for our profiles. Their own retries are off, and no key comes from the environment."""

import ssl
from functools import cache
from typing import Any, TypeAlias

import httpx2
from httpcore2 import default_ssl_context
from pydantic_ai.models import Model

from jeton.executor.models.client import ModelCall, ModelProblem, RequestFailed

NO_KEY = "none"  # local servers need no key, and the libraries need a text
OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"
CONNECT_S = 30.0
TIMEOUT = httpx2.Timeout(None, connect=CONNECT_S)  # the profile's timeout covers the rest

AnyModel: TypeAlias = Model[Any]


def http_client() -> httpx2.AsyncClient:
    """The connections of one client. Redirects are not followed, because the key would go along."""
    limits = httpx2.Limits(max_connections=256, max_keepalive_connections=32)
    return httpx2.AsyncClient(
        verify=_certificates(), timeout=TIMEOUT, follow_redirects=False, trust_env=False, limits=limits
    )


@cache
def _certificates() -> ssl.SSLContext:
    return default_ssl_context()


def build_model(call: ModelCall, http: httpx2.AsyncClient) -> AnyModel:
    """The model of a profile. Raises RequestFailed."""
    if not call.profile.model:
        raise RequestFailed(ModelProblem("model_refused_request", "the profile does not name a 'model'"))
    match call.profile.provider:
        case "openai":
            return openai_chat(call, http)
        case "openai_responses":
            return openai_responses(call, http)
        case "anthropic":
            return anthropic(call, http)
        case _:
            return google(call, http)


def openai_chat(call: ModelCall, http: httpx2.AsyncClient) -> AnyModel:
    """Chat completions, of OpenAI or of a compatible endpoint."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(call.profile.model or "", provider=OpenAIProvider(openai_client=openai_client(call, http)))


def openai_responses(call: ModelCall, http: httpx2.AsyncClient) -> AnyModel:
    """The Responses API of OpenAI."""
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(openai_client=openai_client(call, http))
    return OpenAIResponsesModel(call.profile.model or "", provider=provider)


def openai_client(call: ModelCall, http: httpx2.AsyncClient) -> Any:
    """The client of OpenAI's library."""
    from openai import AsyncOpenAI

    return AsyncOpenAI(
        api_key=call.api_key or NO_KEY,
        base_url=call.profile.base_url or OPENAI_URL,
        organization="",
        project="",
        max_retries=0,
        timeout=TIMEOUT,
        http_client=http,
    )


def anthropic(call: ModelCall, http: httpx2.AsyncClient) -> AnyModel:
    """The Messages API of Anthropic."""
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        api_key=call.api_key or NO_KEY,
        base_url=call.profile.base_url or ANTHROPIC_URL,
        max_retries=0,
        timeout=TIMEOUT,
        http_client=http,
    )
    return AnthropicModel(call.profile.model or "", provider=AnthropicProvider(anthropic_client=client))


def google(call: ModelCall, http: httpx2.AsyncClient) -> AnyModel:
    """The Gemini API."""
    from pydantic_ai.models.google import GoogleModel

    return GoogleModel(call.profile.model or "", provider=google_provider(call, http))


def google_provider(call: ModelCall, http: httpx2.AsyncClient) -> Any:
    """The client of Google's library."""
    from google.genai.types import HttpRetryOptions
    from pydantic_ai.providers.google import GoogleProvider

    return GoogleProvider(
        api_key=call.api_key or NO_KEY,
        base_url=call.profile.base_url,
        http_client=http,
        retry_options=HttpRetryOptions(attempts=1),
    )

"""The interface between model calls and providers. One client per provider; plugins add more.

A client makes one request and gives the whole answer. Retries, fallbacks, timeouts, streaming to listeners, redaction,
usage and the check of structured output are not its concern.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

import msgspec

from jeton.executor.clock import Clock
from jeton.executor.limits.idempotency import IdempotencyStore
from jeton.model.chat import ModelAnswer, ModelRequest, TokenUsage
from jeton.model.codes import FailureName
from jeton.model.definition.profile import ModelProfile

OnText: TypeAlias = Callable[[str], None]
"""Takes a piece of the answer's text as it comes."""


class ModelProblem(msgspec.Struct, frozen=True):
    """Why a request has no answer. `transient`: the same request may be answered if it is made again."""

    type: FailureName
    message: str
    transient: bool = False
    retry_after_ms: int | None = None
    usage: TokenUsage = TokenUsage()
    used: tuple[int, ...] = ()  # entries of a script


class RequestFailed(Exception):
    """A request without an answer, for a reason that is known."""

    def __init__(self, problem: ModelProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class ModelCall(msgspec.Struct, frozen=True):
    """One request to a model, with what a client needs for it."""

    profile: ModelProfile
    request: ModelRequest
    api_key: str | None  # the value of the profile's secret
    attachments: Mapping[str, bytes]  # by id, those that the profile accepts
    clock: Clock
    idempotency: IdempotencyStore
    key: str  # the same for the same answer after a crash and for retries, another for each answer


class Embeddings(msgspec.Struct, frozen=True):
    """A vector for each text, in the same order."""

    vectors: list[list[float]]
    usage: TokenUsage = TokenUsage()


class ModelClient(Protocol):
    """Speaks with one provider. An executor has one instance of each, on one event loop."""

    def load(self) -> None:
        """Import what requests need. Called once, in a thread, before the first request."""
        ...

    async def generate(self, call: ModelCall, on_text: OnText) -> ModelAnswer:
        """The whole answer. `on_text` gets its text in pieces. A stream that was cut is no answer but an exception."""
        ...

    async def embed(self, call: ModelCall, texts: Sequence[str]) -> Embeddings:
        """The vectors of texts."""
        ...

    def problem_of(self, error: Exception) -> ModelProblem | None:
        """What an exception of `generate` or `embed` means; None if the client does not know it."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...

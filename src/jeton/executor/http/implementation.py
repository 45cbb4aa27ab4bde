"""The parts of the `implementation` of an `http` action: authentication, redirects and limits."""

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

import msgspec

from jeton.executor.action import KindProblem
from jeton.executor.secrets import SecretRef

HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
HOST: Final = re.compile(r"([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
RESERVED_HEADERS: Final = frozenset(
    (
        "accept-encoding", "connection", "content-length", "expect", "host", "idempotency-key", "keep-alive",
        "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    )
)  # fmt: skip


Redirects: TypeAlias = bool | Literal["same_host"] | tuple[str, ...]
"""False: the redirect itself is the result. A list has hosts, each with its port if that is not the default."""


class Basic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user name and a password."""

    username: str | SecretRef
    password: SecretRef


class Auth(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Exactly one of the two."""

    bearer: SecretRef | None = None
    basic: Basic | None = None


class HttpLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of a request. The failure of a request that exceeds one names it."""

    connect_ms: int = 10_000
    idle_ms: int = 30_000
    total_ms: int = 60_000
    header_bytes: int = 65_536
    body_bytes: int = 10_485_760
    artifact_bytes: int = 1_073_741_824
    retry_after_ms: int = 60_000

    def problems(self) -> Iterator[KindProblem]:
        for name in self.__struct_fields__:
            if getattr(self, name) < 1:
                yield KindProblem(f"limits.{name}", "is less than 1", "write 1 or more")


def header_problems(headers: dict[str, str | SecretRef]) -> Iterator[KindProblem]:
    """Problems with header names: invalid ones, and those that are set for every request."""
    for name in headers:
        if not HEADER.fullmatch(name):
            yield KindProblem(f"headers.{name}", "is not a valid header name", "write letters, digits and '-'")
        elif name.lower() in RESERVED_HEADERS:
            yield KindProblem(f"headers.{name}", "is set for every request", "remove it")


def auth_problems(auth: Auth, headers: dict[str, str | SecretRef]) -> Iterator[KindProblem]:
    """Problems with credentials: none, or several."""
    if (auth.bearer is None) == (auth.basic is None):
        yield KindProblem("auth", "needs one of 'bearer' and 'basic'", "write 'auth: {bearer: {secret: NAME}}'")
    if any(name.lower() == "authorization" for name in headers):
        yield KindProblem("headers", "has 'Authorization', which 'auth' sets too", "remove one of the two")

"""Which exceptions are transient: connection errors and timeouts, of the standard library and of common clients.

The clients are recognised by the names of their classes, so that none of them has to be imported or installed.
"""

import errno
import socket
import ssl
from collections.abc import Iterator
from typing import cast

_STANDARD = (
    ConnectionError,
    TimeoutError,
    socket.gaierror,
    ssl.SSLEOFError,
    ssl.SSLZeroReturnError,
    ssl.SSLSyscallError,
)
_UNREACHABLE = frozenset((errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN, errno.EHOSTUNREACH))
_HTTPX = ("NetworkError", "ProxyError", "RemoteProtocolError", "TimeoutException")
_CLIENTS = {
    "http": ("IncompleteRead",),
    "httpx": _HTTPX,
    "httpcore": _HTTPX,
    "httpx2": _HTTPX,
    "httpcore2": _HTTPX,
    "requests": ("ChunkedEncodingError", "ConnectionError", "Timeout"),
    "urllib3": ("NewConnectionError", "ProtocolError", "ProxyError", "TimeoutError"),
    "aiohttp": ("ClientConnectionError", "ClientPayloadError"),
    "openai": ("APIConnectionError",),
    "anthropic": ("APIConnectionError",),
}
_WRAPPERS = frozenset((("urllib", "URLError"), ("urllib3", "MaxRetryError")))  # they have the error as `reason`
_MAX_CAUSES = 10


def is_transient(error: BaseException) -> bool:
    """Whether the same call may succeed if it is repeated. A certificate that was refused stays refused."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_transient, cast("BaseExceptionGroup[BaseException]", error).exceptions))
    names = [(base.__module__.partition(".")[0], base.__name__) for base in type(error).__mro__]
    if not _WRAPPERS.isdisjoint(names):
        reason: object = getattr(error, "reason", None)
        return isinstance(reason, BaseException) and reason is not error and is_transient(reason)
    if isinstance(error, _STANDARD) or (isinstance(error, OSError) and error.errno in _UNREACHABLE):
        return True
    of_a_client = any(name in _CLIENTS.get(module, ()) for module, name in names)
    return of_a_client and not any(isinstance(each, ssl.SSLCertVerificationError) for each in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and those that it was raised from."""
    cause: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__

"""Errors for an engine that is used before it is opened, and for a call of it that is used before it is awaited.

Without these, Python says that a coroutine or a context manager has no attribute `start`, and not what to write.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from functools import wraps
from inspect import iscoroutinefunction
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, ParamSpec, TypeVar

from jeton.model.failure import Refused

_Parameters = ParamSpec("_Parameters")
_Opened = TypeVar("_Opened", covariant=True)
_Class = TypeVar("_Class", bound=type)


BLOCKING = ("jeton.open", "jeton.connect")  # what has a twin for code that is not async


class Opening(AbstractAsyncContextManager[_Opened, None], Generic[_Opened]):
    """What `open` gives: to be entered with `async with`."""

    def __init__(self, inner: AbstractAsyncContextManager[_Opened], call: str) -> None:
        self._inner = inner
        self._call = call

    async def __aenter__(self) -> _Opened:
        return await self._inner.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._inner.__aexit__(kind, error, trace)

    if not TYPE_CHECKING:  # a type checker is to report these uses itself

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"{self._call}(…) is not open yet, so it has no '{name}': {self._remedy()}")

        def __await__(self) -> NoReturn:
            raise TypeError(f"{self._call}(…) cannot be awaited: {self._remedy()}")

        def __enter__(self) -> NoReturn:
            blocking = f"; in code that is not async, 'with {self._call}_sync(…)'" if self._call in BLOCKING else ""
            raise TypeError(f"{self._call}(…) needs 'async with': {self._remedy()}{blocking}")

        def __exit__(self, *_: object) -> None:
            """Only there so that `with` comes as far as `__enter__`."""

    def _remedy(self) -> str:
        return f"write 'async with {self._call}(…) as engine:', and use the engine inside"


class SyncOpening(AbstractContextManager[_Opened, None], Generic[_Opened]):
    """What `open_sync` and `connect_sync` give: to be entered with `with`, where no event loop runs."""

    def __init__(self, inner: AbstractContextManager[_Opened], call: str) -> None:
        self._inner = inner
        self._call = call

    def __enter__(self) -> _Opened:
        if _in_a_loop():
            problem = f"{self._call}(…) would block the event loop that runs here"
            call = self._call.removesuffix("_sync")
            raise Refused("running_loop", problem, f"write 'async with {call}(…) as engine:', and await its methods")
        return self._inner.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inner.__exit__(kind, error, trace)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            remedy = f"write 'with {self._call}(…) as engine:', and use the engine inside"
            raise AttributeError(f"{self._call}(…) is not open yet, so it has no '{name}': {remedy}")


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def opens(
    call: str,
) -> Callable[[Callable[_Parameters, AsyncGenerator[_Opened, None]]], Callable[_Parameters, Opening[_Opened]]]:
    """As `asynccontextmanager`, with errors for a missing `async with`. `call` is what users write."""

    def decorate(
        function: Callable[_Parameters, AsyncGenerator[_Opened, None]],
    ) -> Callable[_Parameters, Opening[_Opened]]:
        enter = asynccontextmanager(function)

        @wraps(function)
        def opening(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> Opening[_Opened]:
            return Opening(enter(*args, **kwargs), call)

        return opening

    return decorate


def opens_sync(
    function: Callable[_Parameters, Generator[_Opened, None, None]],
) -> Callable[_Parameters, SyncOpening[_Opened]]:
    """As `contextmanager`, with errors for a missing `with` and for a running event loop."""
    enter = contextmanager(function)

    @wraps(function)
    def opening(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> SyncOpening[_Opened]:
        return SyncOpening(enter(*args, **kwargs), f"jeton.{function.__name__}")

    return opening


class Awaiting(Coroutine[Any, Any, Any]):
    """A call that is to be awaited. As a coroutine, but another attribute is an error that says so."""

    __slots__ = ("_call", "_work")

    def __init__(self, work: Coroutine[Any, Any, Any], call: str) -> None:
        self._work = work
        self._call = call

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._work.__await__()

    def send(self, value: Any) -> Any:
        return self._work.send(value)

    def throw(self, *error: Any) -> Any:
        return self._work.throw(*error)

    def close(self) -> None:
        self._work.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith(("_", "cr_", "gi_")):  # what Python asks a coroutine for
                return getattr(self._work, name)
            self._work.close()  # so that Python does not report it too
            call = f"{self._call}(…)"
            raise AttributeError(f"{call} is not awaited, so it has no '{name}': write 'await {call}'")

    def __repr__(self) -> str:
        return f"<{self._call}(…), not awaited>"


def awaited(cls: _Class) -> _Class:
    """Have the public coroutine functions of a class and of its bases give an `Awaiting`."""
    members = {name: member for base in reversed(cls.__mro__) for name, member in vars(base).items()}
    for name, member in members.items():
        if not name.startswith("_") and iscoroutinefunction(member):
            setattr(cls, name, _awaiting(member, f"{cls.__name__.lower()}.{name}"))
    return cls


def _awaiting(function: Callable[..., Coroutine[Any, Any, Any]], call: str) -> Callable[..., Awaiting]:
    @wraps(function)
    def asked(*args: Any, **kwargs: Any) -> Awaiting:
        return Awaiting(function(*args, **kwargs), call)

    return asked

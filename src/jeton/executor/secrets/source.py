"""Where a secret comes from: `{env: VAR}`, `{file: PATH}` or `{command: [argv]}` in `project.settings.secrets`."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from jeton.executor.clock import Clock, TimedOut
from jeton.executor.workers.thread_pool import ThreadPool
from jeton.model.json import JsonObject

LONGEST_BYTES: Final = 65_536
SHORTEST: Final = 6  # anything shorter stands in ordinary text too often to be told from it
WAIT_MS: Final = 10_000


class SecretUnavailable(Exception):
    """There is no such secret, or it cannot be had. The text names it and its source, and never a value."""


class SecretRef(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A secret, by its name."""

    secret: str


class SecretSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Exactly one of the three."""

    env: str | None = None
    file: str | None = None
    command: tuple[str, ...] | None = None

    def now(self) -> str | None:
        """What needs no waiting: the value of an environment variable."""
        return None if self.env is None else os.environ.get(self.env)

    async def read(self, name: str, clock: Clock, threads: ThreadPool) -> str:
        """The value; one line end after it, which editors and commands add, is not part of it."""
        try:
            text = await clock.within(WAIT_MS, self._read(name, threads))
        except TimedOut:
            raise SecretUnavailable(f"the secret '{name}' could not be had within {WAIT_MS} ms") from None
        if len(text) < SHORTEST:
            problem = f"the secret '{name}' has fewer than {SHORTEST} characters, too few to be kept out of results"
            raise SecretUnavailable(problem)
        return text

    async def _read(self, name: str, threads: ThreadPool) -> str:
        if self.env is not None:
            text = self.now()
            if text is None:
                raise SecretUnavailable(f"the secret '{name}' is missing: no environment variable is called {self.env}")
            return text
        if self.file is not None:
            path = Path(self.file)
            # in a thread, because a path may lead to what is slow, or never ends
            return _text(name, await threads.run(lambda: _contents(name, path)))
        return _text(name, await _output(name, self.command or ()))


def sources_of(settings: JsonObject) -> Mapping[str, SecretSource]:
    """The project's secrets by name; raises SecretUnavailable if they are not written as they should be."""
    try:
        sources = msgspec.convert(settings.get("secrets") or {}, dict[str, SecretSource])
    except msgspec.ValidationError as error:
        raise SecretUnavailable(f"project.settings.secrets: {error}") from None
    for name, source in sources.items():
        if sum((bool(source.env), bool(source.file), bool(source.command))) != 1:
            problem = f"project.settings.secrets.{name} needs one of 'env', 'file' and 'command'"
            raise SecretUnavailable(problem)
    return sources


def _contents(name: str, path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LONGEST_BYTES + 1)
    except OSError as error:
        raise SecretUnavailable(f"the secret '{name}' is missing: {path}: {error.strerror}") from None


async def _output(name: str, argv: tuple[str, ...]) -> bytes:
    """What a command prints. What it says on stderr is not shown: it may quote the secret."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except (OSError, ValueError) as error:
        raise SecretUnavailable(f"the secret '{name}' is missing: cannot run {argv[0]}: {error}") from None
    assert process.stdout is not None
    try:
        output = await process.stdout.read(LONGEST_BYTES + 1)
        while len(output) <= LONGEST_BYTES and (more := await process.stdout.read(LONGEST_BYTES)):
            output += more
        code = 0 if len(output) > LONGEST_BYTES else await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if code != 0:
        raise SecretUnavailable(f"the secret '{name}' is missing: {argv[0]} ended with exit code {code}")
    return output


def _text(name: str, value: bytes) -> str:
    if len(value) > LONGEST_BYTES:
        raise SecretUnavailable(f"the secret '{name}' is longer than {LONGEST_BYTES} bytes")
    try:
        return value.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise SecretUnavailable(f"the secret '{name}' is no text in utf-8") from None

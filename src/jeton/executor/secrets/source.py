"""Sources of secrets: `{env: VAR}`, `{file: PATH}` or `{command: [argv]}` in `project.settings.secrets`."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from jeton.executor.clock import Clock, TimedOut
from jeton.executor.workers.thread_pool import ThreadPool
from jeton.model.json import JsonObject

MAX_BYTES: Final = 65_536
MIN_LENGTH: Final = 6  # shorter values occur in ordinary text, which must not be redacted
TIMEOUT_MS: Final = 10_000


class SecretUnavailable(Exception):
    """The secret does not exist or cannot be read. The message names it and its source, never a value."""


class SecretRef(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reference to a secret by name."""

    secret: str


class SecretSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The source of a secret: exactly one of the three."""

    env: str | None = None
    file: str | None = None
    command: tuple[str, ...] | None = None

    def immediate(self) -> str | None:
        """The value of an environment variable, which needs no waiting; None for other sources."""
        return None if self.env is None else os.environ.get(self.env)

    async def read(self, name: str, clock: Clock, threads: ThreadPool) -> str:
        """The value, without a line end after it. Raises SecretUnavailable."""
        try:
            text = await clock.within(TIMEOUT_MS, self._read(name, threads))
        except TimedOut:
            raise SecretUnavailable(f"the secret '{name}' could not be read within {TIMEOUT_MS} ms") from None
        if len(text) < MIN_LENGTH:
            problem = f"the secret '{name}' has fewer than {MIN_LENGTH} characters, too few to be redacted"
            raise SecretUnavailable(problem)
        return text

    async def _read(self, name: str, threads: ThreadPool) -> str:
        if self.env is not None:
            text = self.immediate()
            if text is None:
                raise SecretUnavailable(f"the secret '{name}' is missing: environment variable {self.env} is not set")
            return text
        if self.file is not None:
            path = Path(self.file)
            # in a thread, because reading may be slow or never end
            return _text(name, await threads.run(lambda: _contents(name, path)))
        return _text(name, await _output(name, self.command or ()))


def sources_of(settings: JsonObject) -> Mapping[str, SecretSource]:
    """The sources of the project's secrets by name. Raises SecretUnavailable if the settings are invalid."""
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
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SecretUnavailable(f"the secret '{name}' is missing: {path}: {error.strerror}") from None


async def _output(name: str, argv: tuple[str, ...]) -> bytes:
    """The output of a command. Its stderr is not shown, because it may contain the secret."""
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
        output = await process.stdout.read(MAX_BYTES + 1)
        while len(output) <= MAX_BYTES and (more := await process.stdout.read(MAX_BYTES)):
            output += more
        code = 0 if len(output) > MAX_BYTES else await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if code != 0:
        raise SecretUnavailable(f"the secret '{name}' is missing: {argv[0]} ended with exit code {code}")
    return output


def _text(name: str, value: bytes) -> str:
    if len(value) > MAX_BYTES:
        raise SecretUnavailable(f"the secret '{name}' is longer than {MAX_BYTES} bytes")
    try:
        return value.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise SecretUnavailable(f"the secret '{name}' is not valid UTF-8") from None

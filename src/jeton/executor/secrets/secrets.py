"""The secrets of projects, and the values that this process has seen."""

import threading
from collections.abc import Mapping

from jeton.executor.clock import Clock
from jeton.executor.secrets.redactor import RedactingStream, Redactor
from jeton.executor.secrets.source import MIN_LENGTH, SecretSource, SecretUnavailable, sources_of
from jeton.executor.workers.thread_pool import ThreadPool
from jeton.model.json import Json, JsonObject

COMMAND_CACHE_MS = 30_000  # running the command of a secret for every call would be expensive
MAX_REMEMBERED = 1_000


class SecretStore:
    """All secret values that an executor has read, so that they are redacted everywhere, even after a change.

    Used by threads and loggers as well, so the redactor is replaced under a lock.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}  # by value
        self._redactor: Redactor | None = None
        self._outputs: dict[tuple[str, ...], tuple[int, str]] = {}
        self._last: tuple[JsonObject, ProjectSecrets] | None = None

    def of(self, settings: JsonObject) -> "ProjectSecrets":
        """The secrets of a project. The last one is cached."""
        if not settings.get("secrets"):
            return NO_SECRETS
        if self._last is None or self._last[0] is not settings:
            self._last = settings, ProjectSecrets(self, settings)
        return self._last[1]

    async def read(self, name: str, source: SecretSource, clock: Clock, threads: ThreadPool) -> str:
        """The current value of a secret."""
        known = self._outputs.get(source.command or ())
        if known is not None and clock.now() < known[0]:
            return known[1]
        value = await source.read(name, clock, threads)
        if source.command:
            self._outputs[source.command] = clock.now() + COMMAND_CACHE_MS, value
        self.remember(name, value)
        return value

    def remember(self, name: str, value: str) -> None:
        """Redact a value from now on. The oldest is dropped if there are too many."""
        with self._lock:
            if value not in self._names:
                if len(self._names) >= MAX_REMEMBERED:
                    del self._names[next(iter(self._names))]
                self._names[value] = name
                self._redactor = None

    @property
    def redactor(self) -> Redactor | None:
        """Redacts all known values; None if there is none."""
        with self._lock:
            if self._redactor is None and self._names:
                self._redactor = Redactor(self._names)
            return self._redactor


class ProjectSecrets:
    """The secrets of one project: their values for actions, and their redaction in results."""

    def __init__(self, store: SecretStore, settings: JsonObject) -> None:
        self._store = store
        self._sources: Mapping[str, SecretSource] = {}
        self._problem: str | None = None
        try:
            self._sources = sources_of(settings)
        except SecretUnavailable as unavailable:
            self._problem = str(unavailable)

    async def get(self, name: str, clock: Clock, threads: ThreadPool) -> str:
        """The value of a secret. Raises SecretUnavailable."""
        if self._problem is not None:
            raise SecretUnavailable(self._problem)
        source = self._sources.get(name)
        if source is None:
            raise SecretUnavailable(f"there is no secret '{name}': add its source to project.settings.secrets")
        return await self._store.read(name, source, clock, threads)

    def redactor(self) -> Redactor | None:
        """Redacts the project's secrets. Environment variables always count, because code may read them."""
        for name, source in self._sources.items():
            value = source.immediate()
            if value is not None and len(value) >= MIN_LENGTH:
                self._store.remember(name, value)
        return self._store.redactor

    def text(self, text: str) -> str:
        """Redact a text."""
        redactor = self.redactor()
        return text if redactor is None else redactor.text(text)

    def stream(self) -> RedactingStream:
        """Redact a text that comes in pieces."""
        return RedactingStream(self.redactor)

    def value(self, value: Json) -> Json:
        """Redact a value."""
        redactor = self.redactor()
        return value if redactor is None else redactor.value(value)


NO_SECRETS = ProjectSecrets(SecretStore(), {})

"""The secrets of a project, and what is known of them in this process."""

import threading
from collections.abc import Mapping

from jeton.executor.clock import Clock
from jeton.executor.secrets.redactor import RedactingStream, Redactor
from jeton.executor.secrets.source import SHORTEST, SecretSource, SecretUnavailable, sources_of
from jeton.executor.workers.thread_pool import ThreadPool
from jeton.model.json import Json, JsonObject

COMMAND_MS = 30_000  # how long the output of a command is used: running one for every call would be dear
MOST_REMEMBERED = 1_000


class SecretStore:
    """Every value an executor has come across, so that it is found again wherever it turns up, even after a change.

    Functions in threads and loggers ask too: whoever is told of no secret is not told so by an outdated redactor.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}  # by value
        self._redactor: Redactor | None = None
        self._outputs: dict[tuple[str, ...], tuple[int, str]] = {}
        self._last: tuple[JsonObject, ProjectSecrets] | None = None

    def of(self, settings: JsonObject) -> "ProjectSecrets":
        """The secrets of a project. One that is asked for again and again is found at once."""
        if not settings.get("secrets"):
            return NO_SECRETS
        if self._last is None or self._last[0] is not settings:
            self._last = settings, ProjectSecrets(self, settings)
        return self._last[1]

    async def read(self, name: str, source: SecretSource, clock: Clock, threads: ThreadPool) -> str:
        """The value of a secret, now."""
        known = self._outputs.get(source.command or ())
        if known is not None and clock.now() < known[0]:
            return known[1]
        value = await source.read(name, clock, threads)
        if source.command:
            self._outputs[source.command] = clock.now() + COMMAND_MS, value
        self.remember(name, value)
        return value

    def remember(self, name: str, value: str) -> None:
        """Keep a value out of everything from now on; the oldest makes room."""
        with self._lock:
            if value not in self._names:
                if len(self._names) >= MOST_REMEMBERED:
                    del self._names[next(iter(self._names))]
                self._names[value] = name
                self._redactor = None

    @property
    def redactor(self) -> Redactor | None:
        """Finds what is remembered; None if nothing is."""
        with self._lock:
            if self._redactor is None and self._names:
                self._redactor = Redactor(self._names)
            return self._redactor


class ProjectSecrets:
    """What an action sees: values by name. What it gives back passes through here again."""

    def __init__(self, store: SecretStore, settings: JsonObject) -> None:
        self._store = store
        self._sources: Mapping[str, SecretSource] = {}
        self._problem: str | None = None
        try:
            self._sources = sources_of(settings)
        except SecretUnavailable as unavailable:
            self._problem = str(unavailable)

    async def get(self, name: str, clock: Clock, threads: ThreadPool) -> str:
        """The value of a secret; raises SecretUnavailable, which names it."""
        if self._problem is not None:
            raise SecretUnavailable(self._problem)
        source = self._sources.get(name)
        if source is None:
            raise SecretUnavailable(f"there is no secret '{name}': name its source under project.settings.secrets")
        return await self._store.read(name, source, clock, threads)

    def redactor(self) -> Redactor | None:
        """Finds the project's secrets. A variable is looked up even if nobody asked for it: code may read it itself."""
        for name, source in self._sources.items():
            value = source.now()
            if value is not None and len(value) >= SHORTEST:
                self._store.remember(name, value)
        return self._store.redactor

    def text(self, text: str) -> str:
        """A text without the secrets."""
        redactor = self.redactor()
        return text if redactor is None else redactor.text(text)

    def stream(self) -> RedactingStream:
        """For a text that comes in pieces."""
        return RedactingStream(self.redactor)

    def value(self, value: Json) -> Json:
        """A value without the secrets."""
        redactor = self.redactor()
        return value if redactor is None else redactor.value(value)


NO_SECRETS = ProjectSecrets(SecretStore(), {})

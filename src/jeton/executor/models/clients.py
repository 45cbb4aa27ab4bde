"""The clients of an executor: one per provider, made and loaded at its first call.

Plugins add providers through the entry point group `jeton.models`.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from jeton.executor.models.client import ModelClient, ModelProblem, RequestFailed
from jeton.executor.models.real import PROVIDERS, RealClient
from jeton.executor.workers.thread_pool import ThreadPool

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

ENTRY_POINTS = "jeton.models"

ClientFactory: TypeAlias = Callable[[], ModelClient]

_log = logging.getLogger("jeton.executor")


def _scripted() -> ModelClient:
    from jeton.executor.models.scripted import ScriptedClient

    return ScriptedClient()


_factories: dict[str, ClientFactory] = {
    "scripted": _scripted,
    **{provider: partial(RealClient, provider) for provider in PROVIDERS},
}


def register_model_client(provider: str, factory: ClientFactory) -> None:
    """Register the client of a provider, replacing one of the same name. The factory is called once per executor."""
    _factories[provider] = factory


def provider_names() -> frozenset[str]:
    """The names of all providers. Plugins are listed without being imported."""
    return frozenset(_factories) | _entry_points().names


class ModelClients:
    """Finds clients by provider. Lives on one event loop."""

    def __init__(self) -> None:
        self._clients: dict[str, ModelClient] = {}
        self._loading: dict[str, asyncio.Lock] = {}

    async def get(self, provider: str, threads: ThreadPool) -> ModelClient:
        """The client of a provider, loaded. Raises RequestFailed."""
        if provider == "scripted" and provider not in self._clients:
            self._clients[provider] = _factories[provider]()  # nothing to load: it must not wait in virtual time
        client = self._clients.get(provider)
        if client is None:
            async with self._loading.setdefault(provider, asyncio.Lock()):
                client = self._clients.get(provider) or await self._loaded(provider, threads)
                self._clients[provider] = client
        return client

    async def _loaded(self, provider: str, threads: ThreadPool) -> ModelClient:
        try:
            factory = await threads.run(lambda: _factory(provider))
            if factory is None:
                known = ", ".join(sorted(provider_names()))
                problem = f"there is no provider '{provider}'; those that are installed: {known}"
                raise RequestFailed(ModelProblem("unknown_provider", problem))
            client = factory()
            await threads.run(client.load)
        except ImportError as error:
            problem = f"the provider '{provider}' cannot be imported: {error}; install jeton[models] or its plugin"
            raise RequestFailed(ModelProblem("unknown_provider", problem)) from None
        return client

    async def close(self) -> None:
        """Close all clients."""
        clients, self._clients = self._clients, {}
        for provider, client in clients.items():
            try:
                await client.close()
            except Exception as error:  # a client that cannot close does not keep the others open
                _log.warning("the client of '%s' cannot be closed: %s", provider, error)


def _factory(provider: str) -> ClientFactory | None:
    if provider not in _factories:
        for entry_point in _entry_points().select(name=provider):
            _factories[provider] = entry_point.load()
    return _factories.get(provider)


def _entry_points() -> "EntryPoints":
    from importlib.metadata import entry_points  # slow to import, and not needed for built-in providers

    return entry_points(group=ENTRY_POINTS)

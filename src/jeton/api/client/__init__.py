"""A server's client: the methods of the engine, over HTTP."""

from jeton.api.client.remote import RemoteEngine, connect

__all__ = ["RemoteEngine", "connect"]

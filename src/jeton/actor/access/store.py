"""Where keys, sessions and saved queries are kept. Writing needs no ownership: keys are made beside a server too."""

import builtins
from typing import Protocol

import msgspec

from jeton.actor.access.keys import ApiKey, SavedQuery, Session


class AccessStore(Protocol):
    """Keys, sessions and saved queries. What was written is durable when the call returns."""

    async def keys(self) -> builtins.list[ApiKey]:
        """All keys, oldest first, with those that were revoked or have expired."""
        ...

    async def add_key(self, key: ApiKey) -> None:
        """Store a key."""
        ...

    async def revoke_key(self, key: str, at: int) -> ApiKey | None:
        """Revoke a key by its id and end its sessions. Returns the key, or None if there is none."""
        ...

    async def sessions(self) -> builtins.list[Session]:
        """All sessions, with those that have expired and were not removed yet."""
        ...

    async def add_session(self, session: Session) -> None:
        """Store a session, and remove those that have expired by its beginning."""
        ...

    async def end_session(self, hash: str) -> None:
        """Remove a session."""
        ...

    async def queries(self) -> builtins.list[SavedQuery]:
        """Saved queries, by name."""
        ...

    async def save_query(self, query: SavedQuery) -> None:
        """Store a query under its name; one of the same name is replaced."""
        ...

    async def remove_query(self, name: str) -> bool:
        """Remove a saved query. Returns False if there was none."""
        ...

    async def place(self, reader: str) -> str | None:
        """How far a reader of the line has come; None if it never read."""
        ...

    async def keep_place(self, reader: str, place: str) -> None:
        """Remember how far a reader of the line has come."""
        ...


class MemoryAccessStore:
    """Keys, sessions and saved queries in memory. Fulfils `AccessStore`."""

    def __init__(self) -> None:
        self._keys: dict[str, ApiKey] = {}
        self._sessions: dict[str, Session] = {}
        self._queries: dict[str, SavedQuery] = {}
        self._places: dict[str, str] = {}

    async def keys(self) -> builtins.list[ApiKey]:
        return list(self._keys.values())

    async def add_key(self, key: ApiKey) -> None:
        self._keys[key.id] = key

    async def revoke_key(self, key: str, at: int) -> ApiKey | None:
        found = self._keys.get(key)
        if found is None or found.revoked_at is not None:
            return found
        self._keys[key] = msgspec.structs.replace(found, revoked_at=at)
        self._sessions = {hash: each for hash, each in self._sessions.items() if each.key != key}
        return self._keys[key]

    async def sessions(self) -> builtins.list[Session]:
        return [session for _, session in sorted(self._sessions.items())]

    async def add_session(self, session: Session) -> None:
        kept = {hash: each for hash, each in self._sessions.items() if each.expires_at > session.created_at}
        self._sessions = {**kept, session.hash: session}

    async def end_session(self, hash: str) -> None:
        self._sessions.pop(hash, None)

    async def queries(self) -> builtins.list[SavedQuery]:
        return [query for _, query in sorted(self._queries.items())]

    async def save_query(self, query: SavedQuery) -> None:
        self._queries[query.name] = query

    async def remove_query(self, name: str) -> bool:
        return self._queries.pop(name, None) is not None

    async def place(self, reader: str) -> str | None:
        return self._places.get(reader)

    async def keep_place(self, reader: str, place: str) -> None:
        self._places[reader] = place

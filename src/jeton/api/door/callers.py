"""Who calls: by a key, or by the cookie of a session that a key began."""

import hmac
import secrets

from jeton.actor.access.keys import ApiKey, Scope, Session, hash_of, key_id, make_key
from jeton.actor.access.store import AccessStore
from jeton.model.failure import Refused

COOKIE = "jeton_session"
SESSION_MS = 12 * 60 * 60 * 1000
EVERYTHING: tuple[Scope, ...] = ("read", "run", "answer", "admin")
ANYBODY = ApiKey("anybody0", "", "anybody", EVERYTHING, None, 0)
WITH_A_KEY = "send a key: Authorization: Bearer jtn_…"


class Callers:
    """The keys of a store as they were a moment ago, and the sessions that began with them.

    Sessions are made by the server that owns the store, and by nobody else: they are all in memory, so that a cookie
    somebody made up costs no look into the store. `own` is a key for this process alone, of a store that has none."""

    def __init__(self, access: AccessStore, *, open_to_all: bool = False) -> None:
        self._access = access
        self._keys: dict[str, ApiKey] = {}
        self._sessions: dict[str, Session] = {}  # by the hash of the cookie
        self._own: ApiKey | None = None
        self._open_to_all = open_to_all
        self._used: dict[str, int] = {}  # when each key was last used, since this server started

    async def load(self) -> None:
        """Read the keys, and the sessions that outlived the server before."""
        await self.refresh()
        self._sessions = {session.hash: session for session in await self._access.sessions()}

    async def refresh(self) -> None:
        """Read the keys again."""
        self._keys = {key.id: key for key in await self._access.keys()}

    def usable(self, now: int) -> bool:
        """Whether some key of the store can be used."""
        return any(key.usable(now) for key in self._keys.values())

    def make_own(self, now: int) -> str:
        """Make the key for this process alone."""
        text, name = make_key(secrets.choice)
        self._own = ApiKey(name, hash_of(text), "this process", EVERYTHING, None, now)
        return text

    def by_key(self, text: str, now: int) -> ApiKey:
        """The key that was sent. Raises Refused if it is none, or can no longer be used."""
        name = key_id(text)
        key = None if name is None else self._known(name)
        if key is None or not hmac.compare_digest(key.hash, hash_of(text)) or not key.usable(now):
            raise Refused("key_refused", "the key is not known, was revoked, or has expired", "ask for another one")
        return key

    def still_usable(self, key: ApiKey, now: int) -> bool:
        """Whether a key that was accepted before can still be used."""
        if key is ANYBODY:
            return True
        known = self._known(key.id)
        return known is not None and known.usable(now)

    def _known(self, name: str) -> ApiKey | None:
        return self._own if self._own is not None and name == self._own.id else self._keys.get(name)

    def by_session(self, cookie: str, now: int) -> ApiKey:
        """The key of the session that a cookie names."""
        session = self._sessions.get(hash_of(cookie))
        key = None if session is None or session.expires_at <= now else self._known(session.key)
        if key is None or not key.usable(now):
            raise Refused("key_refused", "the session has ended", "sign in again with a key")
        return key

    async def begin_session(self, text: str, now: int) -> str:
        """Begin a session with a key, and return its cookie."""
        key = self.by_key(text, now)
        cookie = secrets.token_urlsafe(32)
        session = Session(hash_of(cookie), key.id, now, now + SESSION_MS)
        await self._access.add_session(session)
        kept = {hash: each for hash, each in self._sessions.items() if each.expires_at > now}
        self._sessions = {**kept, session.hash: session}
        return cookie

    async def end_session(self, cookie: str) -> None:
        """End a session."""
        self._sessions.pop(hash_of(cookie), None)
        await self._access.end_session(hash_of(cookie))

    def last_used(self, key: ApiKey) -> int | None:
        """When a key was last used. None: not since this server started, which writes down nothing for a request."""
        return self._used.get(key.id)

    def _note_use(self, key: ApiKey, now: int) -> ApiKey:
        self._used[key.id] = now
        return key

    def identify(self, authorization: str | None, cookie: str | None, now: int) -> ApiKey:
        """Who calls. Raises Refused if nobody that is known."""
        if authorization is not None:
            scheme, _, text = authorization.partition(" ")
            if scheme.lower() != "bearer" or not text:
                raise Refused("key_missing", "the Authorization header has no key", WITH_A_KEY)
            return self._note_use(self.by_key(text, now), now)
        if cookie is not None:
            return self._note_use(self.by_session(cookie, now), now)
        if self._open_to_all:
            return ANYBODY
        raise Refused("key_missing", "nothing is served without a key", WITH_A_KEY)


def check_scope(caller: ApiKey, scopes: tuple[Scope, ...]) -> None:
    """Raise Refused unless the key holds one of the scopes. None are needed for some routes."""
    if scopes and not any(caller.holds(scope) for scope in scopes):
        needed = " or ".join(scopes)
        problem = f"the key '{caller.name}' may not do this: it needs the scope {needed}"
        raise Refused("scope_missing", problem, f"use a key with the scope {needed}")


def cookie_in(header: str | None) -> str | None:
    """The session's cookie in a Cookie header."""
    for part in (header or "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE and value:
            return value
    return None


def set_cookie(value: str, seconds: int, scheme: str) -> str:
    """The header that sets the session's cookie: of no use to scripts, and not sent along by other sites' pages."""
    secure = "; Secure" if scheme == "https" else ""
    return f"{COOKIE}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"

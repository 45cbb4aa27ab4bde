"""Keys of a server: their form, their scopes, and what a store keeps of them.

A key is `jtn_`, an id of 8 characters, `_`, 32 random characters, and 6 characters that are the CRC-32 of the rest, so
that a key that was cut or mistyped is refused without a look into the store. The store has the SHA-256 of the whole
key, never the key.
"""

import hashlib
import re
import zlib
from collections.abc import Callable
from typing import Literal, TypeAlias, cast, get_args

import msgspec

Scope: TypeAlias = Literal["read", "run", "answer", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

LOWER = "0123456789abcdefghijklmnopqrstuvwxyz"
LETTERS = LOWER[:10] + LOWER[10:].upper() + LOWER[10:]
ID_LENGTH = 8
SECRET_LENGTH = 32
CHECK_LENGTH = 6

_KEY = re.compile(r"jtn_([0-9a-z]{8})_[0-9A-Za-z]{32}([0-9A-Za-z]{6})")


class ApiKey(msgspec.Struct, frozen=True):
    """A key as it is stored. Times are milliseconds since 1970. `person`: who alone may answer with it."""

    id: str
    hash: str
    name: str
    scopes: tuple[Scope, ...]
    person: str | None
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None

    def holds(self, scope: Scope) -> bool:
        """Whether it may do what needs this scope. `admin` may do everything."""
        return scope in self.scopes or "admin" in self.scopes

    def usable(self, now: int) -> bool:
        """Whether it was neither revoked nor has expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class Session(msgspec.Struct, frozen=True):
    """A browser that showed a key, by the hash of its cookie. It ends with the key, or at `expires_at`."""

    hash: str
    key: str
    created_at: int
    expires_at: int


class SavedQuery(msgspec.Struct, frozen=True):
    """A query over runs that somebody saved for all, under a name."""

    name: str
    q: str
    at: int


def make_key(choice: Callable[[str], str]) -> tuple[str, str]:
    """A new key and its id. `choice` picks one character of a text, so that nobody can guess it."""
    key_id = "".join(choice(LOWER) for _ in range(ID_LENGTH))
    rest = f"jtn_{key_id}_" + "".join(choice(LETTERS) for _ in range(SECRET_LENGTH))
    return rest + _check(rest), key_id


def key_id(key: str) -> str | None:
    """The id in a key; None if it is no key: made up, cut, or mistyped."""
    found = _KEY.fullmatch(key)
    if found is None or _check(key[:-CHECK_LENGTH]) != found[2]:
        return None
    return found[1]


def hash_of(secret: str) -> str:
    """What is stored of a key or a session's cookie."""
    return hashlib.sha256(secret.encode()).hexdigest()


def scopes_in(names: list[str] | tuple[str, ...]) -> tuple[Scope, ...] | None:
    """Scopes by their names, each once and in one order; None if a name is no scope, or there are none."""
    if not names or any(name not in SCOPES for name in names):
        return None
    return tuple(cast("list[Scope]", [scope for scope in SCOPES if scope in names]))


def _check(rest: str) -> str:
    number, letters = zlib.crc32(rest.encode()), ""
    for _ in range(CHECK_LENGTH):
        number, digit = divmod(number, len(LETTERS))
        letters = LETTERS[digit] + letters
    return letters

"""What every store of memories derives in the same way: ids, hashes, previews, and the words that places have."""

from base64 import b32encode
from hashlib import blake2b

import msgspec

from jeton.executor.memory.store import MemoryScope, NewMemory
from jeton.executor.memory.words import words_of
from jeton.model.failure import Refused

INLINE_BYTES = 8 * 1024  # longer content is an artifact, and its row has a preview
PREVIEW_LENGTH = 2000  # characters
MAX_BYTES = 1024 * 1024
MEDIA_TYPE = "text/plain; charset=utf-8"
HOLDER = "memory:"  # of artifacts, before the id of the memory; no run has such a name

_encode = msgspec.msgpack.Encoder().encode


def memory_id(key: str) -> str:
    """The id of what a call writes: the same if the call is repeated, and the same in every store."""
    return f"m{b32encode(blake2b(key.encode(), digest_size=10).digest()).decode().lower()}"


def content_hash(new: NewMemory) -> bytes:
    """Equal for memories that say the same to the same readers."""
    scope = new.scope
    return blake2b(_encode((scope.agent, scope.of, scope.user, new.type, new.content)), digest_size=16).digest()


def is_long(content: str) -> bool:
    """Whether the content goes to an artifact."""
    return len(content) > INLINE_BYTES or len(content.encode()) > INLINE_BYTES


def searched_words(content: str) -> list[str]:
    """The words by which a memory is found: those of its content, or of the first part of long content."""
    return words_of(content[:INLINE_BYTES])


def agent_word(agent: str) -> str:
    """The word that all memories of an agent have as their place."""
    return f"a{_digest(agent)}"


def place_words(scope: MemoryScope, type: str) -> str:
    """The words of a memory's place: its agent, its scope and its type, each a hash."""
    return f"{agent_word(scope.agent)} {scope_word(scope)} {type_word(type)}"


def scope_word(scope: MemoryScope) -> str:
    """The word that the memories of a scope have as their place."""
    return f"s{_digest(scope.agent, scope.of, scope.user)}"


def type_word(type: str) -> str:
    """The word that memories of a type have as their place."""
    return f"t{_digest(type)}"


def _digest(*parts: str | None) -> str:
    return blake2b(_encode(parts), digest_size=10).hexdigest()


def check_size(content: str) -> None:
    """Raise Refused for content that is too long to be remembered."""
    size = len(content.encode())
    if size > MAX_BYTES:
        problem = f"the content has {size} bytes, and a memory has at most {MAX_BYTES}"
        raise Refused("memory_too_large", problem, "write less, or an artifact")


def unknown_memory(id: str) -> Refused:
    """The refusal for an id that no memory has, or none that may be seen."""
    return Refused("unknown_memory", f"there is no memory '{id}'", "search for it, or list the memories")


def check_current(id: str, superseded_by: str | None) -> None:
    """Raise Refused if a memory that is to be superseded was superseded before."""
    if superseded_by is not None:
        problem = f"the memory '{id}' was superseded by '{superseded_by}'"
        raise Refused("memory_superseded", problem, "supersede that one")

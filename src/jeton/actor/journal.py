"""Journal entries as bytes, and the hash chain over them.

Each entry's hash covers the one before it, and the run's row keeps the last. A database's own check sees neither a lost
tail nor a flipped byte in a blob; a chain that does not end in the row's hash shows both.
"""

import hashlib
from collections.abc import Iterable

import msgspec

from jeton.model.entry import Entry
from jeton.model.ids import RunId

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Entry).decode


class _Numbers(msgspec.Struct):
    """The part of an entry that says which events it has."""

    first_event: int


_numbers = msgspec.json.Decoder(_Numbers).decode


class JournalEntry(msgspec.Struct, frozen=True):
    """An entry as it is stored."""

    number: int
    hash: bytes
    body: bytes


def encode_entry(entry: Entry) -> bytes:
    """A journal entry as it is stored."""
    return _encode(entry)


def decode_entry(body: bytes) -> Entry:
    """The journal entry that was stored as these bytes."""
    return _decode(body)


def first_event_in(body: bytes) -> int:
    """The number of the first event of a stored entry, which is not decoded for it."""
    return _numbers(body).first_event


def first_hash(run: RunId) -> bytes:
    """The hash that the first entry is chained to, so that a journal cannot pass for another run's."""
    return hashlib.sha256(run.encode()).digest()


def next_hash(before: bytes, body: bytes) -> bytes:
    """The hash of an entry, given the hash of the entry before it."""
    return hashlib.sha256(before + body).digest()


def chained(run: RunId, entries: Iterable[Entry]) -> tuple[JournalEntry, ...]:
    """A whole journal with its hashes, from the first entry."""
    found: list[JournalEntry] = []
    last = first_hash(run)
    for entry in entries:
        body = _encode(entry)
        last = next_hash(last, body)
        found.append(JournalEntry(entry.number, last, body))
    return tuple(found)

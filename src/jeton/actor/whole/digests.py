"""Digests of stored rows that nothing else in a store can be compared with.

What follows from a journal is compared with it. Start keys, idempotency keys, accounts and the like do not, and some
outlive their runs. Such a row has a digest over its table and all its values, stored by the statement that stores
them, so that a value that was altered since does not fit. A row that is gone takes its digest with it.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import msgspec

from jeton.actor.whole.verified import Finding
from jeton.model.ids import RunId

DIGEST_BYTES = 8
LONGEST_KEY = 60

_encode = msgspec.msgpack.Encoder().encode


class Digested(msgspec.Struct, frozen=True):
    """The columns of a table that a digest covers, in order; the first `keys` of them name the row."""

    table: str
    keys: int
    columns: tuple[str, ...]
    digest: str = "digest"


DIGESTED = (
    Digested("meta", 1, ("key", "value")),
    Digested("definitions", 2, ("name", "version", "hash", "bundle", "deployed")),
    Digested("start_keys", 2, ("workflow", "key", "run", "input_hash")),
    Digested("inbox", 1, ("id", "run", "body")),
    Digested("layouts", 2, ("workflow", "version", "layout")),
    Digested("summaries", 1, ("run", "entries", "hash", "body")),
    Digested("artifacts", 3, ("run", "id", "media_type", "size")),
    Digested("once", 1, ("key", "call")),
    Digested("once", 1, ("key", "result", "expires"), "result_digest"),  # null until the call has a result
    Digested("emitted", 1, ("number", "id", "run", "node", "event", "data", "at")),
    Digested("triggers", 1, ("name", "body", "seen", "origin")),
    Digested(
        "firings",
        1,
        ("number", "trigger", "delivery", "type", "source", "depth", "at", "run", "code", "problem"),
    ),
    Digested("finished", 1, ("number", "run")),
    Digested("disabled", 1, ("workflow", "since")),
    Digested("accounts", 1, ("name", "balance", "declared")),
    Digested("grants", 1, ("run", "amount")),
    Digested("usage", 3, ("run", "node", "day", "workflow", "credits", "shortfall")),
    Digested("tokens_used", 4, ("run", "node", "day", "profile", "workflow", "input", "output")),
    Digested("measured", 1, ("number", "id", "run", "node", "name", "type", "labels", "value", "at")),
    Digested("metrics", 2, ("name", "labels", "type", "value")),
    Digested("mcp_pins", 2, ("server", "tool", "hash", "described", "at")),
    Digested(
        "api_keys",
        1,
        ("id", "hash", "name", "scopes", "person", "created_at", "expires_at", "revoked_at"),
    ),
    Digested("sessions", 1, ("hash", "key", "created_at", "expires_at")),
    Digested("queries", 1, ("name", "q", "at")),
    Digested("readers", 1, ("name", "place")),
    Digested("sources", 1, ("hash", "files")),
    Digested("deployments", 2, ("name", "version", "at", "source")),
    Digested(
        "memories",
        2,
        (
            *("number", "id", "agent", "scope", "user", "type", "content", "significance", "metadata"),
            *("conversation", "turn", "tainted", "superseded_by", "created_at", "updated_at"),
            *("artifact", "size", "hash", "place", "words", "length"),
        ),
    ),
    Digested("memory_vectors", 1, ("number", "model", "vector")),
)


def row_digest(table: str, *values: Any) -> bytes:
    """A digest of the values of a row, as they are read back: 1 and 1.0 and true differ."""
    return blake2b(_encode((table, values)), digest_size=DIGEST_BYTES).digest()


def altered_rows(digested: Digested, rows: Iterable[tuple[Any, ...]]) -> Iterator[Finding]:
    """Rows that do not fit their digests. A row has the covered columns, and then the digest."""
    of_run = digested.columns.index("run") if "run" in digested.columns else None
    for *values, digest in rows:
        if digest != expected_digest(digested, values):
            run = None if of_run is None or values[of_run] is None else RunId(str(values[of_run]))
            named = zip(digested.columns[: digested.keys], values, strict=False)
            key = ", ".join(f"{name} {_short(value)}" for name, value in named)
            yield Finding(run, f"the row of '{digested.table}' with {key} was altered: restore a backup")


def expected_digest(digested: Digested, values: list[Any]) -> bytes | None:
    """The digest of these values; None for a call that has no result yet."""
    if digested.digest == "result_digest" and values[1:] == [None, None]:
        return None
    if values[0] == SEQUENCES and digested.table == "meta":
        return b""  # compared with SQLite's own table instead
    return row_digest(digested.table, *values)


SEQUENCES = "sequences"
"""The key in `meta` of a copy of the numbers that SQLite gave last, which have no room for a digest."""


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_KEY else f"{text[:LONGEST_KEY]}…"

"""The journal's hash chain: each entry's hash covers the one before it, and the run's row keeps the last.

SQLite's own check sees neither a lost tail nor a flipped byte in a blob; a chain that does not end in the row's hash
shows both.
"""

import hashlib

from jeton.model.ids import RunId


def first_hash(run: RunId) -> bytes:
    """What the first entry is chained to, so that a journal cannot pass for another run's."""
    return hashlib.sha256(run.encode()).digest()


def next_hash(before: bytes, body: bytes) -> bytes:
    """The hash of an entry, given that of the entry before it."""
    return hashlib.sha256(before + body).digest()

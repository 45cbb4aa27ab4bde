"""Where a run stood, kept so that the history up to there can go.

`project.settings.snapshot_policy` is `never`, `on_complete` (if it says nothing) or `{every_n_entries: N}`, which
includes the end. Only the last snapshot of a run is kept.
"""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from jeton.hosts.sqlite.commit.rows import Write
from jeton.hosts.sqlite.file.connect import Connection, Value
from jeton.hosts.sqlite.file.many import put_many
from jeton.hosts.sqlite.file.pack import packed
from jeton.hosts.sqlite.tools.examine import digest_of, whole_sections
from jeton.model.json import Json, JsonObject

_INSERT = "insert into snapshots(run, number, hash, digest, body) values(?, ?, ?, ?, ?)"
_DELETE = "delete from snapshots where run = ? and number < ?"


class Every(msgspec.Struct, frozen=True):
    """After every so many entries, and at the end."""

    entries: int


Policy: TypeAlias = Every | None
"""None: never."""
ON_COMPLETE = Every(0)


def policy_of(settings: JsonObject) -> Policy:
    """What a project asks for. What it asks for in other words is as if it had not asked."""
    asked: Json = settings.get("snapshot_policy")
    match asked:
        case "never":
            return None
        case {"every_n_entries": int() as entries} if entries > 0 and not isinstance(entries, bool):
            return Every(entries)
        case _:
            return ON_COMPLETE


def is_due(policy: Policy, number: int, ended: bool) -> bool:
    """Whether the state after this entry is to be kept."""
    if policy is None:
        return False
    return ended or (policy.entries > 0 and (number + 1) % policy.entries == 0)


class SnapshotMirror:
    """Fulfils `jeton.hosts.sqlite.commit.rows.Mirror`."""

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        rows: list[tuple[Value, ...]] = []
        older: list[tuple[Value, ...]] = []
        for write in writes:
            if write.stored is None:
                continue
            state, number = write.live.state, write.stored.number
            head, policy = state.head, policy_of(write.actor.bundle.settings)
            if is_due(policy, number, head.ended):
                sections = whole_sections(state)
                body = None if head.ended else packed(sections)
                rows.append((head.run, number, write.hash, digest_of(sections), body))
                if policy != ON_COMPLETE or write.prior:
                    older.append((head.run, number))
        put_many(db, _INSERT, rows)
        if older:
            db.executemany(_DELETE, older)

"""Snapshots of a run's state, kept so that the history up to there can be pruned.

`project.settings.snapshot_policy` is `never`, `on_complete` (the default) or `{every_n_entries: N}`, which includes the
end. Only the last snapshot of a run is kept.
"""

import hashlib
from collections.abc import Mapping

import msgspec

from jeton.actor.sections import encode_sections
from jeton.apply.draft import Touched
from jeton.model.json import JsonObject
from jeton.model.state.run import RunState

_canonical = msgspec.json.Encoder(order="sorted").encode


class Snapshot(msgspec.Struct, frozen=True):
    """The state after an entry. Without sections it is the state of the run itself, which has ended."""

    digest: bytes
    sections: dict[str, bytes] | None
    only: bool  # the run cannot have an earlier one


class SnapshotPolicy(msgspec.Struct, frozen=True):
    """`project.settings.snapshot_policy`: after every so many entries (0: none), and at the end."""

    every: int
    at_end: bool = True


ON_COMPLETE = SnapshotPolicy(0)
NEVER = SnapshotPolicy(0, at_end=False)


def snapshot_policy(settings: JsonObject) -> SnapshotPolicy:
    """The policy of a project: `never`, `on_complete` (the default) or `{every_n_entries: N}`."""
    match settings.get("snapshot_policy"):
        case "never":
            return NEVER
        case {"every_n_entries": int() as entries} if entries > 0 and not isinstance(entries, bool):
            return SnapshotPolicy(entries)
        case _:
            return ON_COMPLETE


def snapshot_due(policy: SnapshotPolicy, number: int, ended: bool) -> bool:
    """Whether a snapshot is taken after this entry."""
    return (ended and policy.at_end) or (policy.every > 0 and (number + 1) % policy.every == 0)


def take_snapshot(state: RunState, policy: SnapshotPolicy) -> Snapshot:
    """The whole state, or only its digest if the run has ended and its sections stay as they are."""
    sections = whole_sections(state)
    return Snapshot(digest_of(sections), None if state.head.ended else sections, policy == ON_COMPLETE)


def whole_sections(state: RunState) -> dict[str, bytes]:
    """Every section of a run, as it is stored."""
    touched = Touched()
    touched.everything(state)
    touched.input = state.head.entries > 0
    return {name: body for name, body in encode_sections(state, touched).items() if body is not None}


def canonical(body: bytes) -> bytes:
    """The same bytes for the same JSON, whatever its spaces and order of keys; 1 and 1.0 stay different."""
    return _canonical(msgspec.json.decode(body))


def digest_of(sections: Mapping[str, bytes]) -> bytes:
    """A hash over all sections."""
    digest = hashlib.sha256()
    for name in sorted(sections):
        body = canonical(sections[name])
        digest.update(f"{len(name.encode())} {name} {len(body)} ".encode())
        digest.update(body)
    return digest.digest()

"""Snapshots of a run's state, kept so that the history up to there can be pruned.

`project.settings.snapshot_policy` is `never`, `on_complete` (the default) or `{every_n_entries: N}`, which includes the
end. Only the last snapshot of a run is kept.
"""

import hashlib
from collections.abc import Mapping

import msgspec

from jeton.actor.sections import Sections, encode_sections
from jeton.apply.draft import Touched
from jeton.model.json import JsonObject
from jeton.model.state.run import RunState

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
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


def take_snapshot(state: RunState, policy: SnapshotPolicy, encoded: Sections) -> Snapshot:
    """The whole state, or only its digest if the run has ended and its sections stay as they are.

    `encoded` are sections of this state that a commit has encoded already."""
    only = policy == ON_COMPLETE
    if not state.head.ended:
        sections = whole_sections(state)
        return Snapshot(digest_of(sections), sections, only)
    return Snapshot(digest_of(whole_sections(state) if state.has_more else _completed(encoded, state)), None, only)


def _completed(encoded: Sections, state: RunState) -> dict[str, bytes]:
    """Every section of a state that has nothing but input, state and output, as most runs end."""
    sections = {name: body for name, body in encoded.items() if body is not None}
    if "input" not in sections:
        sections["input"] = _encode(state.input)
    for kind, table in (("output", state.output), ("state", state.state)):
        for key, value in table.items():
            name = f"{kind}/{key}"
            if name not in sections:
                sections[name] = _encode(value)
    return sections


def whole_sections(state: RunState) -> dict[str, bytes]:
    """Every section of a run, as it is stored."""
    touched = Touched()
    touched.everything(state)
    touched.input = state.head.entries > 0
    return {name: body for name, body in encode_sections(state, touched).items() if body is not None}


def canonical(body: bytes) -> bytes:
    """The same bytes for the same JSON, whatever its spaces and order of keys; 1 and 1.0 stay different."""
    return _canonical(_decode(body))


def digest_of(sections: Mapping[str, bytes]) -> bytes:
    """A hash over all sections."""
    digest = hashlib.sha256()
    for name in sorted(sections):
        body, text = _canonical(_decode(sections[name])), name.encode()
        digest.update(b"%d %b %d %b" % (len(text), text, len(body), body))
    return digest.digest()

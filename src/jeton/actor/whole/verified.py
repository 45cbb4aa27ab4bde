"""The result of a check of a store for damage."""

import msgspec

from jeton.model.ids import RunId


class Finding(msgspec.Struct, frozen=True):
    """One problem; without a run, it concerns the store as a whole."""

    run_id: RunId | None
    problem: str


class Verified(msgspec.Struct, frozen=True):
    """The result of `jeton verify`."""

    ok: bool
    problems: tuple[Finding, ...]

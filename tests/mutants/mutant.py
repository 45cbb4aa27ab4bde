"""A bug, as a small change to the source."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """One bug: where, what stands there, and what stands there instead."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()  # that must notice it; those of every mutant if there are none

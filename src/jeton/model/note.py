"""What a task says of itself before it is done. Notes ride on the next commit and never cause one."""

from typing import TypeAlias

import msgspec


class _Note(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    """Something to show, which changes nothing."""


class ProgressNote(_Note, frozen=True, tag="progress"):
    """How far a step is: `done` from 0 to 1, if it knows."""

    step: str
    done: float | None = None
    text: str = ""


class LogNote(_Note, frozen=True, tag="log"):
    """A piece of what a step says or its program prints. `truncated`: nothing more of this attempt is kept."""

    step: str
    stream: str
    text: str
    truncated: bool = False


class MissingNote(_Note, frozen=True, tag="missing"):
    """Paths in a mapping of a step that led nowhere, and gave null."""

    step: str
    paths: tuple[str, ...]


class CostNote(_Note, frozen=True, tag="cost"):
    """How many credits an attempt has used so far, in all."""

    step: str
    credits: int


class TokensNote(_Note, frozen=True, tag="tokens"):
    """How many tokens a model call used, and what they cost, in millionths of a credit, if the profile has prices."""

    step: str
    profile: str
    input: int
    output: int
    millionths: int | None = None


Note: TypeAlias = ProgressNote | LogNote | MissingNote | CostNote | TokensNote

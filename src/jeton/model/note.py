"""Notes: what a task reports before it is done. They are recorded with the next commit and never cause one."""

from typing import TypeAlias

import msgspec


class _Note(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    """The base class of notes."""


class ProgressNote(_Note, frozen=True, tag="progress"):
    """The progress of a step: `done` from 0 to 1, if known."""

    step: str
    done: float | None = None
    text: str = ""


class LogNote(_Note, frozen=True, tag="log"):
    """A piece of a step's log or of its program's output. `truncated`: no more of this attempt is kept."""

    step: str
    stream: str
    text: str
    truncated: bool = False


class MissingNote(_Note, frozen=True, tag="missing"):
    """Paths in a step's mapping that were missing and gave null."""

    step: str
    paths: tuple[str, ...]


class CostNote(_Note, frozen=True, tag="cost"):
    """The credits that an attempt has used so far, in total."""

    step: str
    credits: int


class RetryNote(_Note, frozen=True, tag="retry"):
    """An infrastructure retry: the failure of the last call, and the number and time of the next."""

    step: str
    call: int
    due: int
    type: str
    message: str


class TokensNote(_Note, frozen=True, tag="tokens"):
    """The tokens that a model call used, and their cost in millionths of a credit, if the profile has prices."""

    step: str
    profile: str
    input: int
    output: int
    millionths: int | None = None


Note: TypeAlias = ProgressNote | LogNote | MissingNote | CostNote | TokensNote | RetryNote

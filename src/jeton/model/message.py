"""Everything a run can be told. Time comes in with the message; nobody below reads a clock."""

from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from jeton.model.failure import TaskFailed
from jeton.model.ids import TokenId
from jeton.model.json import Json
from jeton.model.note import Note


class StartRun(msgspec.Struct, frozen=True, tag="start_run"):
    """Begin. The input was checked against its schema before anyone accepted this."""

    at: int
    input: Json


class TaskStarted(msgspec.Struct, frozen=True, tag="task_started"):
    """A worker began. It rides on the next commit and never causes one."""

    at: int
    token: TokenId
    attempt: int


class TaskNoted(msgspec.Struct, frozen=True, tag="task_noted"):
    """A task says how it gets on. It rides on the next commit and never causes one."""

    at: int
    token: TokenId
    attempt: int
    note: Note


class TaskFinished(msgspec.Struct, frozen=True, tag="task_finished", omit_defaults=True):
    """A task succeeded with a result, or failed."""

    at: int
    token: TokenId
    attempt: int
    result: Json | UnsetType = UNSET
    failure: TaskFailed | None = None


class TaskLost(msgspec.Struct, frozen=True, tag="task_lost"):
    """The process that ran this attempt is gone without an answer; it must be dispatched again."""

    at: int
    token: TokenId
    attempt: int


class AlarmRang(msgspec.Struct, frozen=True, tag="alarm_rang"):
    """A time the run asked for has come. It may be stale."""

    at: int


class CancelRun(msgspec.Struct, frozen=True, tag="cancel_run", omit_defaults=True):
    """Someone wants the run to stop."""

    at: int
    reason: str = ""


class ContinueRun(msgspec.Struct, frozen=True, tag="continue_run"):
    """To itself: the last batch stopped at its bound, and there is more that moves."""

    at: int


Message: TypeAlias = StartRun | TaskStarted | TaskNoted | TaskFinished | TaskLost | AlarmRang | CancelRun | ContinueRun

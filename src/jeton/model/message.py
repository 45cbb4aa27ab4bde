"""Everything a run can be told. Time comes in with the message; nobody below reads a clock."""

from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from jeton.model.codes import StoredRefusalCode
from jeton.model.failure import RunError, TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.note import Note
from jeton.model.state.run import FiredBy, Parent, RunStatus


class StartRun(msgspec.Struct, frozen=True, tag="start_run", omit_defaults=True):
    """Begin. The input was checked against its schema before anyone accepted this, unless a parent sends it."""

    at: int
    input: Json
    workflow: str | None = None  # from a parent: as its node names it; from a trigger: with its version
    parent: Parent | None = None
    trigger: FiredBy | None = None
    overrides: dict[str, JsonObject] = {}  # of a flow, by node: inputs that this run is given
    credits: int | None = None  # all that it may spend
    account: RunId | None = None  # from a parent: who pays for the run


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


class TaskSuspended(msgspec.Struct, frozen=True, tag="task_suspended"):
    """A task sleeps: no worker has it any more, and one is to be given the same attempt when it is due."""

    at: int
    token: TokenId
    attempt: int
    due: int
    sleep: str  # its name, which is the task's own


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
    by_parent: bool = False  # who knows already, and wants no answer


class ChildEnded(msgspec.Struct, frozen=True, tag="child_ended", omit_defaults=True):
    """The run that a token of ours called is over."""

    at: int
    token: TokenId
    child: RunId
    status: RunStatus
    output: Json = None
    error: RunError | None = None


class AnswerGate(msgspec.Struct, frozen=True, tag="answer_gate", omit_defaults=True):
    """Somebody answers a gate: the one `token` waits at, or the next to open at `node` on `path`."""

    at: int
    id: str  # the reply is found by it
    value: Json
    by: str | None = None
    token: TokenId | None = None
    node: str | None = None
    path: str | None = None


class SignalRun(msgspec.Struct, frozen=True, tag="signal_run", omit_defaults=True):
    """A value under a name, for whoever waits for it, or will."""

    at: int
    id: str  # the reply is found by it
    name: str
    value: Json = None
    key: str | None = None  # the same one twice is one signal


class PauseRun(msgspec.Struct, frozen=True, tag="pause_run"):
    """Begin nothing new until told otherwise."""

    at: int


class UnpauseRun(msgspec.Struct, frozen=True, tag="unpause_run"):
    """Go on."""

    at: int


class ForkRun(msgspec.Struct, frozen=True, tag="fork_run", omit_defaults=True):
    """The first message of a run that shares another's history: from here on it is its own."""

    at: int
    run: RunId  # the other
    entry: int  # the last one shared
    since: int  # when that was: time stands still in between
    writes: dict[str, Json] = {}
    again: bool = False  # the failed nodes of a flow are to be done again
    credits: int = 0  # for a run that has what it was given


class CreditsAsked(msgspec.Struct, frozen=True, tag="credits_asked"):
    """To the account: a run needs this much more."""

    at: int
    run: RunId
    amount: int


class CreditsGranted(msgspec.Struct, frozen=True, tag="credits_granted"):
    """From the account: what there was of what the run asked for."""

    at: int
    amount: int


class CreditsClosed(msgspec.Struct, frozen=True, tag="credits_closed"):
    """To the account: a run is over, and used this much."""

    at: int
    run: RunId
    used: int


class CreditsEnded(msgspec.Struct, frozen=True, tag="credits_ended"):
    """From the run that called this one: it is short, so nothing new begins here either."""

    at: int


class TriggerHeard(msgspec.Struct, frozen=True, tag="trigger_heard", omit_defaults=True):
    """A trigger heard an event that this run published: it started a run, or (`code`, `problem`) did not."""

    at: int
    trigger: str
    depth: int  # of the run that it starts, or would
    run: RunId | None = None
    code: StoredRefusalCode | None = None
    problem: str | None = None


class ContinueRun(msgspec.Struct, frozen=True, tag="continue_run"):
    """To itself: the last batch stopped at its bound, and there is more that moves."""

    at: int


Message: TypeAlias = (
    StartRun
    | TaskStarted
    | TaskNoted
    | TaskFinished
    | TaskSuspended
    | TaskLost
    | AlarmRang
    | CancelRun
    | ChildEnded
    | AnswerGate
    | SignalRun
    | PauseRun
    | UnpauseRun
    | ForkRun
    | CreditsAsked
    | CreditsGranted
    | CreditsClosed
    | CreditsEnded
    | TriggerHeard
    | ContinueRun
)

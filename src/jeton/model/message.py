"""Messages to a run. Each carries its time, so that no code below reads a clock.

The time passes evenly while a process lives; see docs/semantics/durability.md#clocks.
"""

from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from jeton.model.chat import Attachment, SeenText
from jeton.model.codes import StoredRefusalCode
from jeton.model.failure import RunError, TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject, Schema
from jeton.model.note import Note
from jeton.model.state.run import FiredBy, Parent, RunStatus
from jeton.model.state.talk import Caller, TalkFork, TurnError, TurnStatus, WhenBusy
from jeton.model.trace_parent import TraceParent


class StartRun(msgspec.Struct, frozen=True, tag="start_run", omit_defaults=True):
    """Start the run. Its input has been checked against the schema, unless a parent run sends it."""

    at: int
    input: Json
    workflow: str | None = None  # as the parent's node names it, or from a trigger, with its version
    parent: Parent | None = None
    trigger: FiredBy | None = None
    overrides: dict[str, JsonObject] = {}  # of a flow, by node: inputs for this run
    credits: int | None = None  # the credits of its own; None: an account pays, or nobody
    account: RunId | None = None  # from a parent: the account that pays
    key: str | None = None  # of the start
    under: TraceParent | None = None  # the span of another system that led to it


class TaskStarted(msgspec.Struct, frozen=True, tag="task_started"):
    """A worker began the task. Recorded with the next commit; it never causes one."""

    at: int
    token: TokenId
    attempt: int


class TaskNoted(msgspec.Struct, frozen=True, tag="task_noted"):
    """A note of a task. Recorded with the next commit; it never causes one."""

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


class TaskSuspended(msgspec.Struct, frozen=True, tag="task_suspended", omit_defaults=True):
    """A task sleeps until `due`, when the same attempt is handed to a worker again."""

    at: int
    token: TokenId
    attempt: int
    due: int
    sleep: str  # the name of the sleep, unique in its task
    state: Json = None  # what the task wants to find then


class TaskAsked(msgspec.Struct, frozen=True, tag="task_asked", omit_defaults=True):
    """A task asks people something. With the answer, the same attempt is handed to a worker again."""

    at: int
    token: TokenId
    attempt: int
    title: str
    schema: Schema | None = None  # of the answer
    state: Json = None  # what the task wants to find then
    timeout_ms: int | None = None
    continued: int = 0  # how often the attempt had given its worker back before; tells questions apart


class TaskLost(msgspec.Struct, frozen=True, tag="task_lost"):
    """The process that ran this attempt ended without an answer."""

    at: int
    token: TokenId
    attempt: int


class TaskReturned(msgspec.Struct, frozen=True, tag="task_returned"):
    """The process that ran this attempt is shutting down and gives it back: it is not the task that ends its worker."""

    at: int
    token: TokenId
    attempt: int


class AlarmRang(msgspec.Struct, frozen=True, tag="alarm_rang", omit_defaults=True):
    """An alarm that the run asked for. It may be stale."""

    at: int
    wall: int | None = None  # the system clock's time, for waits until a point in time; None: it is `at`


class CancelRun(msgspec.Struct, frozen=True, tag="cancel_run", omit_defaults=True):
    """Cancel the run."""

    at: int
    reason: str = ""
    by_parent: bool = False  # the parent waits for no answer
    start: StartRun | None = None  # of a run that is set aside, and has not handled its start


class ChildEnded(msgspec.Struct, frozen=True, tag="child_ended", omit_defaults=True):
    """A child run that a token called is over."""

    at: int
    token: TokenId
    child: RunId
    status: RunStatus
    output: Json = None
    error: RunError | None = None
    spent: int = 0  # for an agent, by model calls of it and of the runs below: in millionths of a credit


class AnswerGate(msgspec.Struct, frozen=True, tag="answer_gate", omit_defaults=True):
    """An answer to a gate: the one that `token` waits at, or the next to open at `node` on `path`."""

    at: int
    id: str  # identifies the reply
    value: Json
    by: str | None = None
    token: TokenId | None = None
    node: str | None = None
    path: str | None = None


class SignalRun(msgspec.Struct, frozen=True, tag="signal_run", omit_defaults=True):
    """A named value for a token that waits for it, or will."""

    at: int
    id: str  # identifies the reply
    name: str
    value: Json = None
    key: str | None = None  # a second signal with the same key is ignored


class PauseRun(msgspec.Struct, frozen=True, tag="pause_run"):
    """Pause the run: nothing new begins."""

    at: int


class UnpauseRun(msgspec.Struct, frozen=True, tag="unpause_run"):
    """End the pause."""

    at: int


class ForkRun(msgspec.Struct, frozen=True, tag="fork_run", omit_defaults=True):
    """The first message of a fork: a run that shares another run's history up to an entry."""

    at: int
    run: RunId  # whose history is shared
    entry: int  # the last entry shared
    since: int  # the time of that entry
    writes: dict[str, Json] = {}
    again: bool = False  # run the failed nodes of a flow again
    credits: int = 0  # more credits for a run that has credits of its own
    talk: TalkFork | None = None  # of a conversation: the turn that it goes on with


class CreditsAsked(msgspec.Struct, frozen=True, tag="credits_asked"):
    """To the account: a run asks for credits."""

    at: int
    run: RunId
    amount: int


class CreditsGranted(msgspec.Struct, frozen=True, tag="credits_granted"):
    """From the account: the credits it gives, which may be fewer than asked for."""

    at: int
    amount: int


class CreditsClosed(msgspec.Struct, frozen=True, tag="credits_closed"):
    """To the account: a run is over, with the credits it used."""

    at: int
    run: RunId
    used: int


class CreditsEnded(msgspec.Struct, frozen=True, tag="credits_ended"):
    """From the parent: it has too few credits, so nothing new begins here either."""

    at: int


class BudgetAsked(msgspec.Struct, frozen=True, tag="budget_asked"):
    """To the account of an agent and day: a turn asks for millionths of a credit, of so many credits a day."""

    at: int
    run: RunId
    turn: int
    agent: str
    day: str
    amount: int
    limit: int


class BudgetAnswered(msgspec.Struct, frozen=True, tag="budget_answered", omit_defaults=True):
    """From the account of an agent and day: the amount is reserved, or less than that is left."""

    at: int
    turn: int
    agent: str
    day: str
    amount: int
    granted: bool
    used: int = 0
    limit: int = 0


class BudgetSettled(msgspec.Struct, frozen=True, tag="budget_settled", omit_defaults=True):
    """To the account of an agent and day: millionths that come back or were used beyond, and credits that are added."""

    at: int
    agent: str
    day: str
    refund: int = 0
    added: int = 0


class TriggerHeard(msgspec.Struct, frozen=True, tag="trigger_heard", omit_defaults=True):
    """What a trigger did with an event that this run published: started `run`, or refused with `code` and `problem`."""

    at: int
    trigger: str
    depth: int  # of the run that it started, or would have
    run: RunId | None = None
    code: StoredRefusalCode | None = None
    problem: str | None = None


class ChatSent(msgspec.Struct, frozen=True, tag="chat_sent", omit_defaults=True):
    """To a conversation: a chat message."""

    at: int
    id: str  # identifies the reply
    text: str
    caller: Caller = Caller()
    attachments: tuple[Attachment, ...] = ()
    key: str | None = None  # a second chat message with the same key is ignored
    when_busy: WhenBusy = "queue"
    to: str | None = None  # an agent that joined; None: the conversation's own
    data: Json = None
    output_schema: Schema | None = None
    seen: tuple[SeenText, ...] = ()  # with `interrupt`


class StopTurn(msgspec.Struct, frozen=True, tag="stop_turn", omit_defaults=True):
    """To a conversation: stop a turn, or all that move; or the turn that a token of another run asked for."""

    at: int
    id: str = ""  # identifies the reply; empty: none is wanted
    turn: int | None = None
    run: RunId | None = None
    token: TokenId | None = None
    reason: str = ""
    seen: tuple[SeenText, ...] = ()  # of the answers that are being streamed


class WaitersAdded(msgspec.Struct, frozen=True, tag="waiters_added", omit_defaults=True):
    """To a run, or to a conversation and the turn that a token asked for: further conversations wait for its end."""

    at: int
    waiting: tuple[tuple[RunId, TokenId], ...]  # the conversations, and their calls
    run: RunId
    token: TokenId


class TurnOver(msgspec.Struct, frozen=True, tag="turn_over", omit_defaults=True):
    """From a conversation: the turn that a token asked for is over."""

    at: int
    token: TokenId
    conversation: RunId
    turn: int
    status: TurnStatus
    text: str = ""
    data: Json = None
    error: TurnError | None = None
    tainted: bool = False  # the turn has read something untrusted


def turned_away(chat: ChatSent, conversation: RunId, code: str, problem: str, at: int) -> tuple[RunId, TurnOver] | None:
    """The message to a token whose chat message nobody takes, with the token's run; None if no token sent it."""
    caller = chat.caller
    if caller.run is None or caller.token is None:
        return None
    return caller.run, TurnOver(at, caller.token, conversation, 0, "failed", error=TurnError(code, problem))


class ContinueRun(msgspec.Struct, frozen=True, tag="continue_run"):
    """To itself: the last batch stopped at its limit of moves, and more is to be done."""

    at: int


Message: TypeAlias = (
    StartRun
    | TaskStarted
    | TaskNoted
    | TaskFinished
    | TaskSuspended
    | TaskAsked
    | TaskLost
    | TaskReturned
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
    | BudgetAsked
    | BudgetAnswered
    | BudgetSettled
    | TriggerHeard
    | ChatSent
    | StopTurn
    | WaitersAdded
    | TurnOver
    | ContinueRun
)

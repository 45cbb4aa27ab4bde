"""Everything planning can decide. A decision is complete in itself: folding it needs nothing but the state.

The journal is made of these, so field names are short words and defaults are left out.
"""

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from jeton.model.failure import RunError, TaskFailed
from jeton.model.ids import GroupId, RunId, SlotId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.note import Note
from jeton.model.state.credits import Purse
from jeton.model.state.flow_run import Executed, WaitingNode
from jeton.model.state.ranges import Ranges
from jeton.model.state.run import FiredBy, GateAnswer, Parent, RunStatus, Segment, TokenEnd


class _Decision(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="do"):
    """What planning says should change; not yet true."""


class BeginRun(_Decision, frozen=True, tag="begin_run"):
    at: int
    input: Json
    deadline: int | None = None
    parent: Parent | None = None
    trigger: FiredBy | None = None
    overrides: dict[str, JsonObject] = {}
    purse: Purse | None = None


class CreateToken(_Decision, frozen=True, tag="create_token"):
    token: TokenId
    node: str
    path: str
    parent: TokenId | None = None
    slot: SlotId | None = None
    loops: dict[int, int] = {}
    error: JsonObject | None = None


class CreateTokens(_Decision, frozen=True, tag="create_tokens"):
    """Consecutive creations, as one."""

    tokens: tuple[CreateToken, ...]


class DispatchToken(_Decision, frozen=True, tag="dispatch_token"):
    token: TokenId
    node: str
    at: int
    deadline: int
    attempt: int = 1
    input: Json | UnsetType = UNSET
    missing: tuple[str, ...] = ()  # paths of the input mapping that gave null


class RedeliverToken(_Decision, frozen=True, tag="redeliver_token"):
    """Give the same attempt to a worker again: its process died, or nobody ever began it."""

    token: TokenId
    node: str
    at: int
    deadline: int
    attempt: int
    deliveries: int


class SuspendToken(_Decision, frozen=True, tag="suspend_token"):
    """Its task sleeps: no worker is held until it is due."""

    token: TokenId
    node: str
    at: int
    due: int
    sleep: str


class WakeToken(_Decision, frozen=True, tag="wake_token"):
    """Its task has slept: give the same attempt to a worker again. No worker was lost, so the count begins anew."""

    token: TokenId
    node: str
    at: int
    deadline: int
    attempt: int


class MarkExecuting(_Decision, frozen=True, tag="mark_executing"):
    token: TokenId
    at: int
    deadline: int


class NoteTask(_Decision, frozen=True, tag="note_task"):
    """Keep what a task said of itself; nothing else follows from it."""

    token: TokenId
    node: str
    attempt: int
    note: Note


class WaitForTimer(_Decision, frozen=True, tag="wait_for_timer"):
    token: TokenId
    node: str
    at: int
    due: int
    label: str | None = None
    missing: tuple[str, ...] = ()


class CallWorkflow(_Decision, frozen=True, tag="call_workflow"):
    """Start another workflow as a run of its own, and wait for its end."""

    token: TokenId
    node: str
    at: int
    child: RunId
    workflow: str
    input: Json | UnsetType = UNSET
    deadline: int | None = None
    inherit_artifacts: bool = False
    missing: tuple[str, ...] = ()


class EndChild(_Decision, frozen=True, tag="end_child"):
    """The child is over, as it said itself."""

    token: TokenId
    child: RunId
    status: RunStatus
    error: RunError | None = None


class StopChild(_Decision, frozen=True, tag="stop_child"):
    """Nobody waits for the child any more: it is cancelled, with its own children."""

    token: TokenId
    child: RunId
    reason: str


class OpenGate(_Decision, frozen=True, tag="open_gate"):
    token: TokenId
    node: str
    at: int
    title: str
    deadline: int | None = None
    missing: tuple[str, ...] = ()


class TakeAnswer(_Decision, frozen=True, tag="take_answer"):
    """An answer that fits. `early`: it was kept under this number, and is not any more."""

    token: TokenId
    node: str
    answer: GateAnswer
    early: int | None = None


class KeepAnswer(_Decision, frozen=True, tag="keep_answer"):
    """An answer to a gate that is not open yet."""

    number: int
    node: str
    path: str
    answer: GateAnswer


class TimeOutGate(_Decision, frozen=True, tag="time_out_gate"):
    token: TokenId
    node: str


class WaitForSignal(_Decision, frozen=True, tag="wait_for_signal"):
    token: TokenId
    node: str
    at: int
    name: str
    deadline: int | None = None
    label: str | None = None
    missing: tuple[str, ...] = ()


class KeepSignal(_Decision, frozen=True, tag="keep_signal"):
    """A signal came. It is kept until somebody takes it, which may be at once."""

    number: int
    name: str
    at: int
    value: Json = None
    key: str | None = None


class TakeSignal(_Decision, frozen=True, tag="take_signal"):
    """One signal, one waiter."""

    token: TokenId
    name: str
    number: int


class ReplyTo(_Decision, frozen=True, tag="reply_to"):
    """What whoever sent the message `id` is told."""

    id: str
    accepted: bool
    why: str = ""


class NoteFiring(_Decision, frozen=True, tag="note_firing"):
    """Keep what a trigger made of an event that the run published; nothing else follows from it."""

    trigger: str
    depth: int
    run: RunId | None = None
    code: str | None = None
    problem: str | None = None


class SetPaused(_Decision, frozen=True, tag="set_paused"):
    paused: bool


class ForkHistory(_Decision, frozen=True, tag="fork_history"):
    """What was another run's history up to here goes on as this run's own; `shift` is how long time stood still."""

    at: int
    run: RunId
    entry: int
    shift: int
    deadline: int | None = None
    writes: dict[str, Json] = {}
    credits: int = 0


class ReserveCredits(_Decision, frozen=True, tag="reserve_credits"):
    """Take what a node costs, before it begins."""

    token: TokenId
    node: str
    amount: int


class SettleCredits(_Decision, frozen=True, tag="settle_credits"):
    """What a node really cost: the rest is put back, and what is beyond its price nobody paid."""

    token: TokenId
    node: str
    cost: int
    refund: int = 0
    shortfall: int = 0


class AwaitCredits(_Decision, frozen=True, tag="await_credits"):
    """Some node cannot begin before it is paid for."""


class AskForCredits(_Decision, frozen=True, tag="ask_for_credits"):
    at: int
    amount: int


class TakeCredits(_Decision, frozen=True, tag="take_credits"):
    """What the account gave."""

    amount: int


class DeclareShort(_Decision, frozen=True, tag="declare_short"):
    """There is too little: nothing new begins any more, in the runs it called neither."""

    missing: int


class LendCredits(_Decision, frozen=True, tag="lend_credits"):
    """What a run below is given of what it asked for."""

    run: RunId
    amount: int


class ReclaimCredits(_Decision, frozen=True, tag="reclaim_credits"):
    """A run below is over: what it was given and did not use is back."""

    run: RunId
    used: int


class UndoCall(_Decision, frozen=True, tag="undo_call"):
    """The run that a node called is exhausted: the call is still to be made, once there is more."""

    token: TokenId
    node: str


class BeginNode(_Decision, frozen=True, tag="begin_node"):
    """A node of a flow begins."""

    token: TokenId
    node: str


class HoldNode(_Decision, frozen=True, tag="hold_node"):
    """A node of a flow ran and asked the run to wait; it is not run again."""

    token: TokenId
    node: str
    at: int
    held: WaitingNode


class ExecuteNode(_Decision, frozen=True, tag="execute_node"):
    """A node of a flow is done. `dead_end`: it chose a branch that nothing leaves by; `waited`: its wait is over."""

    token: TokenId
    node: str
    executed: Executed
    dead_end: bool = False
    waited: bool = False


class BreakNode(_Decision, frozen=True, tag="break_node"):
    """A node of a flow failed."""

    token: TokenId
    node: str
    failure: TaskFailed


class SettleNodes(_Decision, frozen=True, tag="settle_nodes"):
    """These nodes of a flow are skipped, these may begin, and these wait for so many connections yet."""

    skipped: tuple[str, ...] = ()
    ready: tuple[str, ...] = ()
    remaining: dict[str, int] = {}


class ReopenNodes(_Decision, frozen=True, tag="reopen_nodes"):
    """These nodes of a flow failed, or were skipped for a failure, and are as if they had never been reached."""

    failed: tuple[str, ...]
    skipped: tuple[str, ...]
    remaining: dict[str, int]


class RetryToken(_Decision, frozen=True, tag="retry_token"):
    """Try the task again at `due`, as business attempt `attempt`."""

    token: TokenId
    node: str
    at: int
    due: int
    attempt: int
    failure: TaskFailed


class FinishNode(_Decision, frozen=True, tag="finish_node"):
    """The node succeeded: write its mapped output. `missing` are the paths that gave null."""

    token: TokenId
    node: str
    work: Literal["task", "timer"] | None = None  # what it waited for, if that has no decision of its own
    writes: dict[str, Json] = {}
    missing: tuple[str, ...] = ()


class FailNode(_Decision, frozen=True, tag="fail_node"):
    """The node failed. Whether the failure is handled is for routing to say."""

    token: TokenId
    node: str
    error: JsonObject


class Considered(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """One transition looked at: followed or not, and why."""

    transition: int
    verdict: Literal["matched", "false", "missing", "loop_limit_reached", "not_first"]
    path: str | None = None  # the missing one


class RouteToken(_Decision, frozen=True, tag="route_token"):
    """Where a token goes. `ends` is unset while it stays, parked at a fan-in."""

    token: TokenId
    node: str
    ends: TokenEnd | None = None
    considered: tuple[Considered, ...] = ()


class OpenGroup(_Decision, frozen=True, tag="open_group"):
    group: GroupId
    name: str
    node: str
    origin: TokenId
    path: str
    total: int
    segments: tuple[Segment, ...]
    outer: SlotId | None = None
    loops: dict[int, int] = {}
    error: JsonObject | None = None


class ParkToken(_Decision, frozen=True, tag="park_token"):
    """The token reached a fan-in of `group`, which it is in, directly or through inner slots."""

    token: TokenId
    group: GroupId
    node: str
    transition: int


class SettleSlot(_Decision, frozen=True, tag="settle_slot"):
    """Nothing is under way in the slot any more. `node`: it arrived there; `escaped`: its output goes outwards."""

    slot: SlotId
    at: int
    node: str | None = None
    transition: int | None = None
    deadline: int | None = None
    value: Json | UnsetType = UNSET
    escaped: JsonObject | None = None


class OpenFanIn(_Decision, frozen=True, tag="open_fan_in"):
    """Exactly once: these slots are taken, their tokens end completed."""

    group: GroupId
    node: str
    slots: Ranges = ()
    tokens: Ranges = ()


class MergeBranches(_Decision, frozen=True, tag="merge_branches"):
    """The branches' outputs, as one value, into the enclosing scope."""

    group: GroupId
    node: str
    target: str
    value: Json
    outer: SlotId | None = None


class TimeOutFanIn(_Decision, frozen=True, tag="time_out_fan_in"):
    group: GroupId
    node: str


class CloseGroup(_Decision, frozen=True, tag="close_group"):
    """Nothing of the group is left to wait for."""

    group: GroupId


class EndTokens(_Decision, frozen=True, tag="end_tokens"):
    """These end without routing on: cancelled, or timed out with their fan-in."""

    tokens: Ranges
    status: TokenEnd
    reason: str


class AbandonTokens(_Decision, frozen=True, tag="abandon_tokens"):
    """These may finish, and change nothing."""

    tokens: Ranges


class IgnoreLate(_Decision, frozen=True, tag="ignore_late"):
    """A result nobody waits for any more; recorded, never applied."""

    token: TokenId
    attempt: int
    why: str


class SetStatus(_Decision, frozen=True, tag="set_status"):
    status: Literal["running", "waiting"]


class EndRun(_Decision, frozen=True, tag="end_run"):
    at: int
    status: RunStatus
    output: Json | UnsetType = UNSET
    error: RunError | None = None
    missing: tuple[str, ...] = ()
    broken: bool = False  # the state contradicted a decision: drop it all, and keep the evidence in `error`
    untold: bool = False  # the parent stopped it, and waits for no answer


Decision: TypeAlias = (
    BeginRun
    | CreateToken
    | CreateTokens
    | DispatchToken
    | RedeliverToken
    | SuspendToken
    | WakeToken
    | MarkExecuting
    | NoteTask
    | WaitForTimer
    | CallWorkflow
    | EndChild
    | StopChild
    | OpenGate
    | TakeAnswer
    | KeepAnswer
    | TimeOutGate
    | WaitForSignal
    | KeepSignal
    | TakeSignal
    | ReplyTo
    | NoteFiring
    | SetPaused
    | ForkHistory
    | ReserveCredits
    | SettleCredits
    | AwaitCredits
    | AskForCredits
    | TakeCredits
    | DeclareShort
    | LendCredits
    | ReclaimCredits
    | UndoCall
    | BeginNode
    | HoldNode
    | ExecuteNode
    | BreakNode
    | ReopenNodes
    | SettleNodes
    | RetryToken
    | FinishNode
    | FailNode
    | RouteToken
    | OpenGroup
    | ParkToken
    | SettleSlot
    | OpenFanIn
    | MergeBranches
    | TimeOutFanIn
    | CloseGroup
    | EndTokens
    | AbandonTokens
    | IgnoreLate
    | SetStatus
    | EndRun
)

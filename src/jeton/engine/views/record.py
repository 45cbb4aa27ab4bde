"""The record of a run: its status, times, pointers and output, without its history."""

from datetime import datetime

import msgspec

from jeton.actor.rows import RunRow
from jeton.apply.timers import token_due
from jeton.engine.views.firings import FiringView
from jeton.model.failure import Refused, RunError
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.state.flow_run import NodeView
from jeton.model.state.phase import Dispatched, Executing, Pending
from jeton.model.state.run import TERMINAL, RunState, RunStatus, Token
from jeton.model.times import maybe_moment, moment

_NEVER = 1 << 63


class NoOutput(Refused):
    """The output of a run that has none was asked for: the run has not completed."""

    def __init__(self, record: "RunRecord") -> None:
        self.record = record
        why = f": {record.error.message}" if record.error is not None else ""
        super().__init__("no_output", f"run {record.run_id} is {record.status}{why}", "check its status first")


class ForkedFrom(msgspec.Struct, frozen=True):
    """The run whose history a fork shares, and the last journal entry shared."""

    run_id: RunId
    entry: int


class RunRecord(msgspec.Struct, frozen=True):
    """One run. `root_run_id` is its own id, unless another run called it.

    The pointers (`current_nodes`, `waiting_at_node`, `waiting_label`, `next_step_at`) are empty once it has ended.
    """

    run_id: RunId
    workflow: str
    version: int
    status: RunStatus
    paused: bool
    submitted_at: datetime
    root_run_id: RunId
    parent_run_id: RunId | None = None
    forked_from: ForkedFrom | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    trigger_type: str = "manual"
    trigger_id: str | None = None
    trigger_depth: int = 0
    current_nodes: tuple[str, ...] = ()
    waiting_at_node: str | None = None
    waiting_label: str | None = None
    next_step_at: datetime | None = None
    output: Json = None
    error: RunError | None = None
    error_stack: str | None = None
    nodes: dict[str, NodeView] = {}  # of a flow, in topological order; empty in lists
    fired: tuple[FiringView, ...] | None = None  # what its events and its end fired: the first hundred; only in `get`

    @property
    def ended(self) -> bool:
        return self.status in TERMINAL

    def output_or_raise(self) -> Json:
        """The output of a completed run; raises NoOutput for any other."""
        if self.status != "completed":
            raise NoOutput(self)
        return self.output


class _Pointers(msgspec.Struct, frozen=True):
    current_nodes: tuple[str, ...] = ()
    waiting_at_node: str | None = None
    waiting_label: str | None = None
    next_step_at: int | None = None


_NO_POINTERS = _Pointers()


def record_of(row: RunRow, state: RunState | None, nodes: dict[str, NodeView] | None = None) -> RunRecord:
    """The record of a run. Without the state, as in lists, `next_step_at` is the only pointer."""
    if row.status in TERMINAL:
        pointers = _NO_POINTERS
    elif state is not None:
        pointers = _pointers(state)
    else:
        pointers = _Pointers(next_step_at=row.wake if row.status == "waiting" else None)
    return RunRecord(
        run_id=row.run,
        workflow=row.workflow,
        version=row.version,
        status=row.status,
        paused=row.paused,
        submitted_at=moment(row.submitted_at),
        root_run_id=row.run if row.parent is None else row.parent.root,
        parent_run_id=None if row.parent is None else row.parent.run,
        forked_from=None if row.forked is None else ForkedFrom(row.forked.run, row.forked.entry),
        started_at=maybe_moment(row.started_at),
        completed_at=maybe_moment(row.ended_at),
        trigger_type="manual" if row.trigger is None else row.trigger.type,
        trigger_id=None if row.trigger is None else row.trigger.id,
        trigger_depth=0 if row.trigger is None else row.trigger.depth,
        current_nodes=pointers.current_nodes,
        waiting_at_node=pointers.waiting_at_node,
        waiting_label=pointers.waiting_label,
        next_step_at=maybe_moment(pointers.next_step_at),
        output=row.output,
        error=row.error,
        error_stack=stack_of(row.error),
        nodes=nodes or {},
    )


def _pointers(state: RunState) -> _Pointers:
    """The nodes of the live tokens, and the wait that ends first."""
    live = [token for token in state.tokens.values() if not token.abandoned]
    nodes = tuple(dict.fromkeys(token.node for token in live))
    waiting = [(token, *waits) for token in live if (waits := _wait(token)) is not None]
    if not waiting:
        return _Pointers(nodes)
    first, label, _ = min(waiting, key=lambda each: (_due(each[0]) or _NEVER, each[2]))
    return _Pointers(nodes, first.node, label, _due(first))


def _wait(token: Token) -> tuple[str | None, int] | None:
    """The label of what a token waits for, and since when; None if it does not wait."""
    phase = token.phase
    return None if isinstance(phase, Pending | Dispatched | Executing) else (phase.caption, phase.since)


def _due(token: Token) -> int | None:
    found = token_due(token)
    return None if found is None else found[0]


def stack_of(error: RunError | None) -> str | None:
    """The worker's traceback, if the error has one."""
    if error is None or not isinstance(error.details, dict):
        return None
    stack = error.details.get("stack")
    return stack if isinstance(stack, str) else None

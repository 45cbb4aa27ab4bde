"""A picture of a workflow, independent of its format: boxes, arrows, and the number of tokens at each node."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Literal, TypeAlias

import msgspec

from jeton.engine.views.tokens import TokenStatus, TokenView
from jeton.model.definition.flow import ERROR, MAIN, Connection, Flow, FlowNode
from jeton.model.definition.task import Task
from jeton.model.definition.workflow import (
    AgentTarget,
    EndTarget,
    GateTarget,
    MOfN,
    Node,
    Synchronization,
    Target,
    TaskTarget,
    Transition,
    WaitTarget,
    Workflow,
    WorkflowTarget,
)

Tone: TypeAlias = Literal["idle", "active", "waiting", "done", "failed", "stopped"]
CountName: TypeAlias = Literal["active", "waiting", "done", "failed", "stopped"]

COUNTED_AS: dict[TokenStatus, CountName] = {
    "pending": "active",
    "dispatched": "active",
    "executing": "active",
    "waiting_for_siblings": "waiting",
    "waiting_for_timer": "waiting",
    "waiting_for_retry": "waiting",
    "waiting_for_subworkflow": "waiting",
    "waiting_for_agent": "waiting",
    "waiting_for_gate": "waiting",
    "waiting_for_signal": "waiting",
    "completed": "done",
    "failed": "failed",
    "timed_out": "failed",
    "cancelled": "stopped",
}


class Counts(msgspec.Struct, frozen=True):
    """The number of tokens at a node, by state."""

    active: int = 0
    waiting: int = 0
    done: int = 0
    failed: int = 0
    stopped: int = 0
    skipped: int = 0

    @property
    def tone(self) -> Tone:
        """The state that gives the node its colour: activity first, then failures, then completion."""
        for tone in ("active", "waiting", "failed", "done", "stopped"):
            if getattr(self, tone):
                return tone
        return "stopped" if self.skipped else "idle"

    @property
    def began(self) -> bool:
        """Whether a token came to the node, whatever became of it."""
        return bool(self.active or self.waiting or self.done or self.failed or self.stopped)

    @property
    def text(self) -> str:
        """`2 active · 1 done`; empty without tokens."""
        return " · ".join(f"{getattr(self, name)} {name}" for name in self.__struct_fields__ if getattr(self, name))


class Box(msgspec.Struct, frozen=True):
    """One node."""

    name: str
    kind: str
    detail: str
    is_initial: bool
    counts: Counts = Counts()


class Arrow(msgspec.Struct, frozen=True):
    """One transition; `labels` are its condition, fan-out, fan-in and loop limit."""

    source: str
    target: str
    labels: tuple[str, ...] = ()
    fans_out: bool = False
    joins: bool = False
    on_failure: bool = False  # its condition reads the last error, so it is followed after a failure
    taken: bool = False  # a token of the run followed it


class Picture(msgspec.Struct, frozen=True):
    """A workflow or flow to draw."""

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    has_run: bool = False


def picture_of(
    workflow: Workflow | Flow,
    tokens: Iterable[TokenView] | None = None,
    run: str | None = None,
    skipped: Iterable[str] = (),
) -> Picture:
    """The picture of a workflow or flow, with a run's tokens and the skipped nodes of a flow's run."""
    known = None if tokens is None else list(tokens)
    counts = _counts(known or ())
    if isinstance(workflow, Flow):
        return _flow(workflow, {**dict.fromkeys(skipped, Counts(skipped=1)), **counts}, known is not None, run)
    boxes = (
        _box(name, node, name == workflow.initial_node, counts.get(name, Counts()))
        for name, node in workflow.nodes.items()
    )
    title = workflow.name if run is None else f"{workflow.name}, run {run}"
    moves = _moves(known or ())
    often = Counter((each.source, each.target) for each in workflow.transitions)
    # of two transitions between the same nodes, the tokens do not say which was followed
    arrows = (
        _arrow(each, (each.source, each.target) in moves and often[each.source, each.target] == 1)
        for each in workflow.transitions
    )
    return Picture(title, tuple(boxes), tuple(arrows), known is not None)


def _moves(tokens: Collection[TokenView]) -> set[tuple[str, str]]:
    """The steps that tokens took, from node to node: to a new token, or to a fan-in."""
    nodes = {token.id: token.node for token in tokens}
    moves = {(nodes[token.parent], token.node) for token in tokens if token.parent is not None}
    return moves | {(token.node, token.waits_at) for token in tokens if token.waits_at is not None}


def _flow(flow: Flow, counts: dict[str, Counts], has_run: bool, run: str | None) -> Picture:
    """The picture of a flow. Arrows are labelled with handles other than `main`: `true`, `→ a`, `true → a`."""
    entered = {connection.target for connection in flow.connections}
    boxes = tuple(
        Box(name, flow.nodes[name].type, _detail(flow.nodes[name]), name not in entered, counts.get(name, Counts()))
        for name in flow.order
    )
    arrows = tuple(
        Arrow(
            each.source,
            each.target,
            _handles(each, flow),
            on_failure=_is_for_failures(each, flow),
            taken=_delivered(each, flow, counts),
        )
        for each in flow.connections
    )
    return Picture(flow.name if run is None else f"{flow.name}, run {run}", boxes, arrows, has_run)


def _delivered(connection: Connection, flow: Flow, counts: dict[str, Counts]) -> bool:
    """Whether both ends began, and nothing else can have started the target: a branch may not have been chosen."""
    source, target = (counts.get(node, Counts()) for node in (connection.source, connection.target))
    if not target.began:
        return False
    for_failures, on_error = _is_for_failures(connection, flow), flow.nodes[connection.source].on_error
    if for_failures:
        return bool(source.failed)
    entering = sum(each.target == connection.target for each in flow.connections)
    ran = source.done or (source.failed and on_error is not None and on_error != "route")
    return bool(ran) and (connection.from_output == MAIN or entering == 1)


def _detail(node: FlowNode) -> str:
    """The most telling value of a node's configuration."""
    said = next(
        (node.data[key] for key in ("condition", "value", "workflow", "agent", "title") if key in node.data), None
    )
    return "" if said is None else str(said)


def _is_for_failures(connection: Connection, flow: Flow) -> bool:
    """Whether only a failure of its source makes the connection live: one that is routed, or replaced by a default."""
    return connection.from_output == ERROR and flow.nodes[connection.source].on_error is not None


def _handles(connection: Connection, flow: Flow) -> tuple[str, ...]:
    on_failure = ("on failure",) if _is_for_failures(connection, flow) else ()
    ends = "" if connection.to_input == MAIN else f"→ {connection.to_input}"
    begins = "" if connection.from_output == MAIN else connection.from_output
    label = f"{begins} {ends}".strip()
    return (*on_failure, label) if label else on_failure


def _counts(tokens: Iterable[TokenView]) -> dict[str, Counts]:
    found: dict[str, dict[CountName, int]] = {}
    for token in tokens:
        # a token that waits for its siblings is shown at the fan-in, any other at its own node
        node = token.waits_at if token.status == "waiting_for_siblings" and token.waits_at else token.node
        at = found.setdefault(node, {})
        name = COUNTED_AS[token.status]
        at[name] = at.get(name, 0) + 1
    return {node: Counts(**at) for node, at in found.items()}


def _box(name: str, node: Node, is_initial: bool, counts: Counts) -> Box:
    kind, detail = _target(node.target)
    return Box(name, kind, detail, is_initial, counts)


def _target(target: Target | None) -> tuple[str, str]:
    match target:
        case None:
            return "pass", ""
        case TaskTarget(task):
            return "task", task if isinstance(task, str) else _actions(task)
        case WaitTarget():
            return "wait", target.label or _wait(target)
        case WorkflowTarget(workflow):
            return "workflow", workflow
        case GateTarget(title):
            return "gate", title
        case AgentTarget(agent):
            return "agent", agent
        case EndTarget(failed):
            return "end", "completed" if failed is None else f"failed: {failed.type}"


def _actions(task: Task) -> str:
    return ", ".join(step.action if isinstance(step.action, str) else step.action.kind for step in task.steps)


def _wait(target: WaitTarget) -> str:
    if target.hears:
        return f"signal {' or '.join(target.hears)}"
    return f"until {target.until}" if target.until is not None else f"{target.seconds} s"


def _arrow(transition: Transition, taken: bool = False) -> Arrow:
    on_failure = "_last_error" in str(transition.condition)
    labels: list[str] = ["on failure"] if on_failure else []
    if transition.condition is not True:
        labels.append(str(transition.condition))
    if transition.foreach is not None:
        labels.append(f"for each {transition.foreach.item_var or 'item'}")
    if transition.spawn_count is not None:
        labels.append(f"× {transition.spawn_count}")
    if transition.synchronization is not None:
        labels.append(_synchronization(transition.synchronization))
    if transition.loop_config is not None:
        labels.append(f"at most {transition.loop_config.max_iterations}×")
    return Arrow(
        transition.source,
        transition.target,
        tuple(labels),
        fans_out=transition.makes_slots,
        joins=transition.synchronization is not None,
        on_failure=on_failure,
        taken=taken,
    )


def _synchronization(sync: Synchronization) -> str:
    strategy = sync.strategy
    needed = f"{strategy.m_of_n} of n" if isinstance(strategy, MOfN) else strategy
    return f"join: {needed}"

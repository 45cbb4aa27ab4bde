"""What a conformance case is, and short ways to write workflows down."""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from jeton.model.decision import Decision
from jeton.model.definition.trigger import Trigger
from jeton.model.message import AnswerGate, CancelRun, Message, PauseRun, SignalRun, UnpauseRun
from jeton.model.state.flow_run import NodeView
from jeton.model.state.run import FiredBy

Data = dict[str, Any]
LETS_GO = "lets go"  # the id of an answer that belongs to no rule


class Act(msgspec.Struct, frozen=True):
    """What somebody does once a decision of some run is durable: tell that run, or the root, something.

    Where the order of acts matters, each follows a decision that the one before it brings about (`reply_to`, say) and
    not a time: on a busy machine a request may take longer than any time a case could wait. For the same reason a run
    that must not go on before somebody has acted waits at a `HELD` node."""

    when: str  # the decision's tag
    tell: Callable[[Any], Message]  # worked out from the decision
    node: str | None = None  # only a decision about this node
    after_ms: int = 0
    to: Literal["there", "root"] = "there"
    nth: int = 0  # which of those that fit


class ReplySeen(msgspec.Struct, frozen=True):
    """What somebody was told."""

    id: str
    accepted: bool
    why: str


class RunSeen(msgspec.Struct, frozen=True):
    """A run that the root called, or that those called."""

    run: str
    workflow: str
    status: str
    output: Any
    root: str
    depth: int
    error_type: str | None = None


class FiringSeen(msgspec.Struct, frozen=True):
    """What became of a delivery to a trigger: how the run ended that it started, or why there is none."""

    trigger: str
    type: str
    depth: int
    status: str | None = None
    code: str | None = None


class TokenSeen(msgspec.Struct, frozen=True):
    """A token as the tokens view shows it when the run has ended."""

    node: str
    status: str
    path: str
    branch_index: int | None


class Outcome(msgspec.Struct, frozen=True):
    """Everything a host shows of a run that ended."""

    status: str
    output: Any
    error_type: str | None
    error_message: str
    tokens: tuple[TokenSeen, ...]
    events: tuple[Data, ...]
    took_ms: int
    sections: tuple[str, ...] = ()  # what is still stored of the run's state
    children: tuple[RunSeen, ...] = ()
    replies: tuple[ReplySeen, ...] = ()
    decisions: tuple[str, ...] = ()  # of the root, by their tags
    views: dict[str, NodeView] = {}  # of a flow
    firings: tuple[FiringSeen, ...] = ()  # oldest first
    journal: bytes = b""  # of the root: all that its state can be made of again

    def reply(self, id: str) -> ReplySeen:
        return next(reply for reply in self.replies if reply.id == id)

    def nodes(self, status: str = "completed") -> list[str]:
        """Where tokens ended, in the order they were made."""
        return [token.node for token in self.tokens if token.status == status]

    def count(self, node: str, status: str = "completed") -> int:
        return self.nodes(status).count(node)

    def types(self) -> list[str]:
        return [event["type"] for event in self.events]


def nothing(_: Outcome) -> None:
    """No more to check than the status and the output."""


class Case(msgspec.Struct, frozen=True):
    """Given a workflow and an input, when it runs, then this."""

    id: str
    workflow: Data
    input: Data = {}
    status: str = "completed"
    output: Any = msgspec.UNSET
    error: str | None = None
    also: Callable[[Outcome], None] = nothing
    tasks: Data = {}
    others: Data = {}  # workflows that this one calls, or that triggers start
    triggers: tuple[Trigger, ...] = ()  # as values: a file could not name what is not there
    acts: tuple[Act, ...] = ()
    flow: Data | None = None  # instead of a workflow
    actions: Data = {}
    overrides: Data = {}
    trigger: FiredBy | None = None
    credits: int | None = None
    settings: Data = {}  # the project's
    agents: Data = {}  # all sections that agents need
    hurries: bool = False  # somebody has to act before a timer rings, for which a busy server may be too slow


def workflow(
    nodes: Data, *transitions: Data, initial: str | None = None, output: Data | None = None, **rest: Any
) -> Data:
    """A token graph whose first node is the initial one."""
    graph: Data = {
        "initial_node": initial or next(iter(nodes)),
        "nodes": nodes,
        "transitions": list(transitions),
        **rest,
    }
    if output is not None:
        graph["output_mapping"] = output
    return graph


def to(source: str, target: str, condition: str | None = None, priority: int = 1, **rest: Any) -> Data:
    """A transition."""
    edge: Data = {"from": source, "to": target, "priority": priority, **rest}
    if condition is not None:
        edge["condition"] = condition
    return edge


def sets(writes: Data | None = None, **values: str) -> Data:
    """A node that computes values and, unless told otherwise, writes each into the output section."""
    mapping = writes if writes is not None else {f"output.{key}": f"result.{key}" for key in values}
    node: Data = {"action": {"kind": "context", "implementation": {"set": values}}}
    if mapping:
        node["output_mapping"] = mapping
    return node


def mock(output: Any = None, delay_ms: int = 0, fail: str | None = None, times: int = 99, **node: Any) -> Data:
    """A node with a mocked task."""
    implementation: Data = {"output": {} if output is None else output}
    if delay_ms:
        implementation["delay_ms"] = delay_ms
    if fail is not None:
        implementation["fail"] = {"times": times, "message": fail, "transient": False}
    return {"action": {"kind": "mock", "implementation": implementation}, **node}


def join(source: str, target: str, strategy: Any = "all", merge: Data | None = None, **sync: Any) -> Data:
    """A transition into a fan-in."""
    condition = sync.pop("condition", None)
    priority = sync.pop("priority", 1)
    synchronization: Data = {"strategy": strategy, **sync}
    if merge is not None:
        synchronization["merge"] = {"source": "_branch.output", **merge}
    return to(source, target, condition, priority, synchronization=synchronization)


def each(
    source: str, target: str, collection: str, item_var: str = "item", group: str | None = "g", **rest: Any
) -> Data:
    """A fan-out over a list."""
    parallel = {"max_parallel": rest.pop("max_parallel")} if "max_parallel" in rest else {}
    edge = to(source, target, foreach={"collection": collection, "item_var": item_var, **parallel}, **rest)
    return edge if group is None else {**edge, "sibling_group": group}


HELD: Data = {"gate": {"title": "may it go on?"}}  # until somebody `lets_go`


# what people do


def answers(
    id: str, value: Any, *, at: str, by: str | None = None, when: str = "open_gate", after_ms: int = 0, nth: int = 0
) -> Act:
    """Answer the gate that opens at a node."""
    return Act(when, lambda d: AnswerGate(0, id, value, by, d.token), at, after_ms, nth=nth)


def answers_early(id: str, value: Any, *, at: str, path: str | None = None, after_ms: int = 0) -> Act:
    """Answer a gate by its node and path as soon as the run has begun."""
    return Act("begin_run", lambda _: AnswerGate(0, id, value, node=at, path=path), after_ms=after_ms)


def signals(
    id: str, name: str, value: Any = None, *, when: str = "begin_run", key: str | None = None, after_ms: int = 0
) -> Act:
    """Send the root a signal."""
    return Act(when, lambda _: SignalRun(0, id, name, value, key), after_ms=after_ms, to="root")


def lets_go(at: str, *, when: str = "reply_to", node: str | None = None, nth: int = 0) -> Act:
    """Let the root go on behind a node that is `HELD`. `Outcome.replies` does not have the reply to it."""
    return Act(when, lambda _: AnswerGate(0, LETS_GO, None, node=at), node, to="root", nth=nth)


def cancels(when: str, *, node: str | None = None, reason: str = "enough", after_ms: int = 0) -> Act:
    """Cancel the root."""
    return Act(when, lambda _: CancelRun(0, reason), node, after_ms, "root")


def pauses(when: str, *, node: str | None = None, after_ms: int = 0) -> Act:
    return Act(when, lambda _: PauseRun(0), node, after_ms, "root")


def unpauses(when: str, *, node: str | None = None, after_ms: int = 0, nth: int = 0) -> Act:
    return Act(when, lambda _: UnpauseRun(0), node, after_ms, "root", nth)


def tag(decision: Decision) -> str:
    """The name of a decision, as the journal has it."""
    return str(type(decision).__struct_config__.tag)

"""What a conformance case is, and short ways to write workflows down."""

from collections.abc import Callable
from typing import Any

import msgspec

Data = dict[str, Any]


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

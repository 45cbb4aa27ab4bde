"""Flows from a seed, with a script of what their Python nodes do."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.simulation.grammar.flow_data import with_flow_data
from tests.simulation.oracle.model import Object

HANDLES = ("main", "x", "y")
OWN_HANDLES: dict[str, tuple[str, ...]] = {  # of the types that take no other input
    "constant": ("main", "value"),
    "sum": ("values",),
    **dict.fromkeys(("add", "subtract", "multiply", "divide"), ("a", "b")),
}
VALUES: tuple[Any, ...] = (0, 1, 2, "x", "y", None, True, {"k": 1}, [1, 2])
OWN_VALUES: dict[str, tuple[Any, ...]] = {
    "sum": ([1, 2],),
    **dict.fromkeys(("add", "subtract", "multiply", "divide"), VALUES[:3]),
}
CONDITIONS: tuple[Any, ...] = (
    "inputs.main == 1",
    "has(context.x)",
    "context.y == 'y'",
    "inputs.main",
    True,
    "inputs.main + 1 == 2",
)
EXPRESSIONS: tuple[Any, ...] = (
    "context.x",
    "inputs.main",
    "inputs.y",
    "'x'",
    3,
    "context",
    "inputs.main + 1",
    "context.k.x",
)
MALFORMED: tuple[Object, ...] = (
    {"_branch": 3},
    {"_wait": {"seconds": 0}},
    {"_wait": {"seconds": "soon"}},
    {"_wait_until": {"timestamp": "soon"}},
    {"_wait": {"seconds": 1}, "_waitUntil": {"timestamp": "2030-01-01T00:00:00Z"}},
)
ON_ERROR: tuple[Any, ...] = (
    "route",
    "route",
    {"default": {}},
    {"default": {"x": 1, "error": "none"}},
    {"default": {"_branch": "y", "y": "y"}},
)
WAITS: tuple[Object, ...] = (
    {"_wait": {"seconds": 2, "label": "nap"}},
    {"_wait_until": {"timestamp": "2030-01-01T00:00:00Z"}},
    {"_waitUntil": {"timestamp": "1999-01-01T00:00:00Z"}},
)


def make_flow(random: Random) -> Object:
    """Nodes in one order, connections mostly along another, so that declaration and dependence differ."""
    names = [f"n{number}" for number in range(random.randint(0, 9))]
    nodes = {name: make_node(random) for name in names}
    along = random.sample(names, len(names))
    back = random.random() < 0.3
    connections: list[Object] = []
    for _ in range(random.randint(0, 2 * len(names)) if names else 0):
        first, second = random.randrange(len(along)), random.randrange(len(along))
        if not back and first == second:
            continue
        if not back or random.random() < 0.7:
            first, second = min(first, second), max(first, second)
        connections.append(make_connection(random, along[first], along[second], nodes))
    flow: Object = {"nodes": nodes, "connections": connections}
    if back:
        flow["cycles"] = "ignore_back_edges"
    if random.random() < 0.25:
        flow["on_error"] = "fail"
    if random.random() < 0.1:
        flow["limits"] = {"max_nodes": random.randint(1, 8)}
    if random.random() < 0.2:
        flow["output_mapping"] = {"out": "context.x", "all": "context", "fixed": 3}
    return with_flow_data(Random(str(flow)), flow)


def make_node(random: Random) -> Object:
    kinds = ("work", "work", "work", "trigger", "constant", "add", "divide", "sum", "set", "if_else", "switch", "merge",
             "wait", "nobody", "multiply", "subtract", "fail")  # fmt: skip
    node: Object = {"type": random.choice(kinds)}
    match node["type"]:
        case "constant":
            node["data"] = {"value": random.choice(VALUES)}
        case "set":
            node["data"] = {key: random.choice(EXPRESSIONS) for key in random.sample(("x", "y", "k"), 2)}
        case "if_else":
            node["data"] = {"condition": random.choice(CONDITIONS)}
        case "switch":
            node["data"] = {"value": random.choice(EXPRESSIONS), "cases": ["x", "1", "3"]}
        case "fail":
            message = random.choice(("no", "{{ inputs.main }}", "{{ context.x }}"))
            node["data"] = {"type": random.choice(("dear", "late")), "message": message}
        case "wait":
            node["data"] = {"seconds": random.choice((1, 0.5, 30))}
        case _:
            pass
    handles = OWN_HANDLES.get(node["type"], HANDLES)
    if random.random() < 0.5:
        values = OWN_VALUES.get(node["type"], VALUES)
        node["inputs"] = {handle: random.choice(values) for handle in handles if random.random() < 0.7}
    if random.random() < 0.25:
        node["on_error"] = random.choice(ON_ERROR)
    if random.random() < 0.3:
        node["run_when"] = random.choice(("any", "settled", "all"))
    if random.random() < 0.2 or node["type"] == "sum":
        node["repeated"] = ["values"] if node["type"] == "sum" else [random.choice(_handles_to_repeat(handles))]
    return node


def _handles_to_repeat(handles: tuple[str, ...]) -> tuple[str, ...]:
    """A number is no list, so nodes that calculate repeat `main` alone."""
    return ("main",) if handles == ("a", "b") else handles


def make_connection(random: Random, source: str, target: str, nodes: Object) -> Object:
    outputs = {"constant": "value", "if_else": "true", "switch": "x"}
    output = outputs.get(nodes[source]["type"], "result" if "a" in str(nodes[source]["type"]) else "x")
    made: Object = {"from": source, "to": target}
    if random.random() < 0.6:
        made["from_output"] = random.choice((output, output, "main", "x", "y", "false", "default"))
    if "on_error" in nodes[source] and random.random() < 0.5:
        made["from_output"] = "error"
    if random.random() < 0.6 or nodes[target]["type"] in OWN_HANDLES:
        made["to_input"] = random.choice(OWN_HANDLES.get(nodes[target]["type"], HANDLES))
    return made


def make_result(random: Random) -> Object | None:
    """What a Python node gives back; nothing if it fails."""
    if random.random() < 0.12:
        return None
    result: Object = {key: random.choice(VALUES) for key in ("x", "y", "k", "result", "value") if random.random() < 0.4}
    if random.random() < 0.3:
        result["_branch"] = random.choice(("main", "x", "y", "true", "nowhere"))
    if random.random() < 0.15:
        result.update(random.choice(WAITS))
    if random.random() < 0.05:
        result.update(random.choice(MALFORMED))
    return result


def make_overrides(random: Random, flow: Object) -> Object:
    chosen = [node for node in flow["nodes"] if random.random() < 0.1]
    return {node: {random.choice(HANDLES): random.choice(VALUES)} for node in chosen}

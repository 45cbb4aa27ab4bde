"""Expressions over lists, texts and the run, and nodes that wait by them, put into a flow that is complete without.

They are drawn apart from the flow, so that a seed keeps its shape. Texts of failures, which the oracle does not know,
must not become part of another text, so only what goes back to a value is made into JSON.
"""

from random import Random
from typing import Any

from tests.simulation.grammar import functions
from tests.simulation.oracle.model import Object

OWN_LISTS = ("[inputs.main, context.x]", "[context.x, 1]", "[inputs.y].flatten()", "inputs.main", "[context.k, 2, 1]")
VALUES: tuple[Any, ...] = (
    "[inputs.main, context.x].distinct()",
    "[[1], inputs.y].flatten()",
    "[inputs.main, 2].max()",
    "[context.x, 1].sort().first()",
    "[context.x, inputs.main].sum()",
    "inputs.main.reverse()",
    "inputs.main.slice(0, 1)",
    "[2, 1].sort_by(x, 0 - x).last()",
    "range(context.x)",
    "json.parse(json.text(context))",
    "json.parse(json.text([inputs.main])).first()",
    "json.parse(context.y)",
    "json.text([run.workflow, run.version])",
    "base64.decode(base64.encode(run.workflow))",
    "hash.sha256(run.workflow)",
    "base64.decode(context.y)",
    "run.workflow",
    "run.key",
    "run.trigger",
    "size(run.id) > 0",
)
CONDITIONS: tuple[Any, ...] = (
    "run.workflow == 'f'",
    "run.trigger != null",
    "run.trigger.type == 'manual'",
    "run.key == inputs.main",
    "[inputs.main].flatten().distinct() == [1]",
    "size([context.x].flatten()) > 1",
    "json.parse(json.text(context)).x == 1",
    "[1, context.x].max() > 1",
)
CHOICES: tuple[Any, ...] = (
    "[context.x, 1].first()",
    "run.workflow",
    "['3', '1'].sort().first()",
    "size([inputs.main])",
)
TIMES: tuple[Any, ...] = (
    "2030-01-01T00:00:00Z",
    "'2030-01-01T00:00:00Z'",
    "['2031-01-01T00:00:00Z', '2030-01-01T00:00:00Z'].min()",
    "run.started_at",
    "context.x",
    "'soon'",
)
TEMPLATES = (
    "{{ run.workflow }}",
    "{{ run.workflow }} of {{ run.version }}",
    "{{ run.gone }}",
    "{{ context.gone }}",
    "no",
)
GATE_TIMEOUTS: tuple[Any, ...] = (
    7,
    "size(run.workflow) * 30",
    "[9, 4].min()",
    "size(inputs) * 10",
    "context.x",
    "inputs.main",
    "[context.x, 1].max() * 5",
)
ON_TIMEOUT: tuple[Any, ...] = ("fail", {"x": 2, "y": "y"}, {"_branch": "y"}, 3, None, [1])
SECONDS: tuple[Any, ...] = ("size(run.workflow)", "[1, 2].sum()", "inputs.main", "context.x + 1", "[].first()")
TIMEOUTS: tuple[Any, ...] = (10, 30, 5000, "size(run.workflow) * 40", "input.x * 50", "size(run.id) * 1000", "'soon'")
TASK_TIMEOUTS: tuple[Any, ...] = (
    "size(run.workflow) * 5000",
    "input.x * 5000",
    "[3000, 5000].max()",
    "size(input) * 5000",
    "input.main.sum() * 5000",
    "input.y * 5000",
)


def with_flow_data(rng: Random, flow: Object) -> Object:
    """The flow, with some of its expressions over lists, texts and the run."""
    made: Object = {**flow, "nodes": {name: _node(rng, node) for name, node in flow["nodes"].items()}}
    if "output_mapping" in made and rng.random() < 0.4:
        told = {"told": "run.workflow", "list": "[context.x].flatten()", "fired": "run.trigger"}
        made["output_mapping"] = {**made["output_mapping"], **told}
    return made


def with_timeouts(rng: Random, flow: Object) -> Object:
    """The flow, now and then with little time, with tasks whose time comes from data, and with gates."""
    nodes = dict(flow["nodes"])
    for name, node in nodes.items():
        if node["type"] == "work" and rng.random() < 0.12:
            nodes[name] = {**node, "type": f"timed{rng.randrange(len(TASK_TIMEOUTS))}"}
        elif node["type"] == "merge" and rng.random() < 0.3:
            nodes[name] = {**node, "type": "gate", "data": _gate(rng)}
    timeout: Object = {"timeout_ms": rng.choice(TIMEOUTS)} if rng.random() < 0.12 else {}
    return {**flow, "nodes": nodes, **timeout}


def timed_tasks() -> Object:
    """A task for each of the timeouts."""
    steps = [{"ref": "only", "action": {"kind": "mock"}}]
    return {f"timed{number}": {"steps": steps, "timeout_ms": each} for number, each in enumerate(TASK_TIMEOUTS)}


def _node(rng: Random, node: Object) -> Object:
    if rng.random() > 0.35:
        return node
    data: Object = node.get("data", {})
    match node["type"]:
        case "set":
            data = {**data, rng.choice(list(data)): _value(rng)}
        case "if_else":
            data = {"condition": rng.choice(CONDITIONS)}
        case "switch":
            data = {**data, "value": rng.choice(CHOICES)}
        case "wait" if rng.random() < 0.4:
            return {**node, "type": "wait_until", "data": {"timestamp": rng.choice(TIMES)}}
        case "wait":
            data = {**data, "seconds": rng.choice(SECONDS)}
        case "merge" if rng.random() < 0.3:
            return {**node, "type": "template", "data": {"template": rng.choice(TEMPLATES)}}
        case "fail":
            data = {**data, "message": "{{ run.workflow }}"}
        case _:
            return node
    return {**node, "data": data}


def _value(rng: Random) -> str:
    if rng.random() < 0.5:
        return str(rng.choice(VALUES))
    if rng.random() < 0.3:
        return functions.text_expression(rng, functions.ALONE)
    return functions.item_expression(rng, OWN_LISTS, by_text=False)


def _gate(rng: Random) -> Object:
    """A gate that nobody answers. Of its title and its timeout, only one may be wrong."""
    gate: Object = {"timeout_ms": rng.choice(GATE_TIMEOUTS), "on_timeout": rng.choice(ON_TIMEOUT)}
    return {**gate, "timeout_ms": 7, "title": rng.choice(TEMPLATES)} if rng.random() < 0.3 else gate

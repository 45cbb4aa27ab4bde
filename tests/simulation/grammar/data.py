"""Numbers, lists and texts that come from data, put into a random graph that is complete without them.

They are drawn apart from the graph, so that a seed keeps its shape. Most give what their place needs; some give no
count, no list or no length of time, and some cannot be evaluated for every input.
"""

from random import Random
from typing import Any

from tests.simulation.grammar import functions
from tests.simulation.grammar.words import Object, count_expression

OWN_LISTS = ("input.xs", "input.xs", "input.xss", "state.a", "output.b", "[input.n, 2]", "range(input.n)")

ABOUT_THE_RUN = (
    "run.id",
    "run.root_id",
    "run.workflow",
    "run.key",
    "run.trigger",
    "run.started_at",
    "run",
    "size(run.id)",
)
OF_LISTS_AND_TEXTS = (
    "input.xs.sum()",
    "input.xs.max()",
    "input.xs.sort().reverse()",
    "input.xss.flatten().distinct()",
    "input.xss.sort_by(x, size(x))",
    "input.xs.slice(0, 1)",
    "input.xs.last()",
    "state.a.first()",
    "output.b.min()",
    "range(input.n)",
    "json.text(input)",
    "json.parse(json.text(input.xss))",
    "json.parse(run.workflow)",
    "base64.encode(run.workflow)",
    "base64.decode(run.workflow)",
    "hash.sha256(json.text(input.xs))",
)
RUN_CONDITIONS = (
    "run.id == run.root_id",
    "run.key == null",
    "run.trigger != null",
    "run.started_at < '2023-11-14T22:13:20.005Z'",
    "size(run.id) > input.n",
    "input.xs.distinct() == input.xs",
    "input.xs.sum() > 2",
    "input.xs.max() > 1",
)
LISTS = (
    "input.xs.sort()",
    "input.xs.distinct().reverse()",
    "input.xss.flatten()",
    "input.xs.slice(0, 1)",
    "range(input.n)",
    "json.parse(json.text(input.xs))",
    "json.parse('[3, 1, 2]').sort()",
    "input.flag",
)
COUNTS_OF_SLOTS = ("size(run.workflow)", "size(input.xs.distinct())", "input.xs.max()", "input.gone", "input.n * 1.0")
SECONDS = ("input.n * 0.001", "input.xs.sum() * 0.002", "input.xs.max() * 0.001", "input.n - 1", "input.flag")
TASK_TIMEOUTS = ("input.n * 20 + 5", "size(run.id) * 20", "size(input.xs) * 9", "input.gone", "size(run.workflow) * 12")
RUN_TIMEOUTS = ("input.n * 20 + 15", "size(input.xs) * 30", "size(run.id) * 15", "input.gone", "input.xs.max() * 20")


def with_data(rng: Random, workflow: Object) -> Object:
    """The workflow, with some of its numbers, lists and values from expressions."""
    nodes = {name: _node(rng, node) for name, node in workflow["nodes"].items()}
    made: Object = {**workflow, "nodes": nodes, "transitions": [_way(rng, way) for way in workflow["transitions"]]}
    if "timeout_ms" in made and rng.random() < 0.5:
        made["timeout_ms"] = rng.choice(RUN_TIMEOUTS)
    if "output_mapping" in made and rng.random() < 0.2:
        made["output_mapping"] = {**made["output_mapping"], "told": _value(rng)}
    return made


def tasks_with_data(rng: Random, tasks: Object) -> Object:
    """The tasks, with some of their timeouts from expressions."""
    return {name: _task(rng, task) for name, task in tasks.items()}


def _task(rng: Random, task: Object) -> Object:
    if rng.random() > 0.2:
        return task
    usual = f"size(range({task['timeout_ms']}))"
    return {**task, "timeout_ms": usual if rng.random() < 0.5 else rng.choice(TASK_TIMEOUTS)}


def _value(rng: Random) -> str:
    if rng.random() < 0.4:
        return rng.choice((functions.item_expression, functions.text_expression))(rng, OWN_LISTS)
    return rng.choice(ABOUT_THE_RUN if rng.random() < 0.5 else OF_LISTS_AND_TEXTS)


def _node(rng: Random, node: Object) -> Object:
    made = dict(node)
    for mapping in ("input_mapping", "output_mapping"):
        if mapping in made and rng.random() < 0.15:
            targets = list(made[mapping])
            made[mapping] = {**made[mapping], rng.choice(targets): _value(rng)}
    wait: Object = made.get("wait", {})
    if "seconds" in wait and rng.random() < 0.25:
        made["wait"] = {"seconds": rng.choice(SECONDS)}
    elif "until" in wait and rng.random() < 0.25:
        made["wait"] = {"until": "run.started_at"}
    return made


def _way(rng: Random, way: Object) -> Object:
    made = dict(way)
    condition: Any = made.get("condition")
    if isinstance(condition, str) and rng.random() < 0.1:
        asked = rng.choice(RUN_CONDITIONS)
        if rng.random() < 0.3:
            asked = f"{functions.number_expression(rng, OWN_LISTS)} > {rng.randint(0, 2)}"
        made["condition"] = f"({condition}) {rng.choice(('&&', '||'))} {asked}"
    if isinstance(made.get("spawn_count"), str) and rng.random() < 0.3:
        made["spawn_count"] = rng.choice(COUNTS_OF_SLOTS)
    if "foreach" in made:
        made["foreach"] = _foreach(rng, made["foreach"])
    return made


def _foreach(rng: Random, foreach: Object) -> Object:
    made = dict(foreach)
    if made["collection"] == "input.xs" and rng.random() < 0.3:
        listed = functions.list_expression(rng, OWN_LISTS)
        made["collection"] = listed if rng.random() < 0.3 else rng.choice(LISTS)
    if rng.random() < (0.4 if "max_parallel" in made else 0.08):
        made["max_parallel"] = count_expression(rng, made.get("max_parallel", 2))
    return made

"""Nodes that end the whole run, put into a random graph that is complete without them."""

from random import Random

from tests.simulation.grammar import words
from tests.simulation.grammar.words import Object

FAILED: Object = {"type": "stopped", "message": "enough of {{ input.n }}"}
UNTOLD: Object = {"type": "stopped", "message": "enough of {{ input.gone }}"}  # the template cannot be rendered


def with_ends(rng: Random, workflow: Object) -> Object:
    """The workflow, now and then with a way from some node to an end that is tried before all others."""
    if rng.random() > 0.25:
        return workflow
    nodes, transitions = dict(workflow["nodes"]), [dict(each) for each in workflow["transitions"]]
    for number in range(rng.choice((1, 1, 2))):
        end = f"z{number}"
        source = rng.choice(list(workflow["nodes"]))
        nodes[end] = {"end": rng.choice(("completed", "completed", {"failed": FAILED}, {"failed": UNTOLD}))}
        leaving = [each for each in transitions if each["from"] == source]
        for each in leaving:
            each["priority"] = each.get("priority", 1) + 1
        way: Object = {"from": source, "to": end, "priority": 0}
        if leaving or rng.random() < 0.5:
            has_result = "task" in nodes[source]
            way["condition"] = words.condition(rng, branch=False, result=has_result)
            if has_result and rng.random() < 0.3:
                way["condition"] = words.handler_condition(rng)
        transitions.append(way)
    return {**workflow, "nodes": nodes, "transitions": transitions}

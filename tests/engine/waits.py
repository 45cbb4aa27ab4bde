"""Workflows that wait for people, for signals and for other workflows."""

from jeton import Engine, Run
from jeton.model.json import JsonObject

YES_OR_NO: JsonObject = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}
LIBRARY: JsonObject = {
    "workflows": {
        "ask": {
            "initial_node": "gate",
            "nodes": {
                "gate": {
                    "gate": {"title": "Ship {{ input.what }}?", "schema": YES_OR_NO},
                    "output_mapping": {"output.ok": "result.ok"},
                },
                "yes": {"output_mapping": {"output.said": "'yes'"}},
                "no": {"output_mapping": {"output.said": "'no'"}},
            },
            "transitions": [
                {"from": "gate", "to": "yes", "condition": "result.ok"},
                {"from": "gate", "to": "no", "priority": 2},
            ],
        },
        "later": {
            "initial_node": "nap",
            "nodes": {
                "nap": {"wait": {"signal": "go"}},
                "gate": {"gate": {"title": "Now?"}, "output_mapping": {"output.answer": "result"}},
            },
            "transitions": [{"from": "nap", "to": "gate"}],
        },
        "two": {
            "initial_node": "gate",
            "nodes": {
                "gate": {
                    "gate": {"title": "Two of you?", "approvals": 2, "assignees": ["ada", "bob", "eve"]},
                    "output_mapping": {"output.answers": "result"},
                }
            },
        },
        "many": {
            "initial_node": "a",
            "nodes": {"a": {}, "gate": {"gate": {"title": "Which?"}}},
            "transitions": [{"from": "a", "to": "gate", "foreach": {"collection": "[1, 2]"}}],
        },
        "hears_later": {
            "initial_node": "gate",
            "nodes": {"gate": {"gate": {"title": "Listen?"}}, "wait": {"wait": {"signal": "other"}}},
            "transitions": [{"from": "gate", "to": "wait"}],
        },
        "branched": {
            "initial_node": "a",
            "nodes": {"a": {}, "gate": {"gate": {"title": "It?"}, "output_mapping": {"output.answer": "result"}}},
            "transitions": [{"from": "a", "to": "gate", "foreach": {"collection": "input.items"}}],
        },
        "hear": {
            "initial_node": "wait",
            "nodes": {
                "wait": {
                    "wait": {"signal": "paid", "schema": {"type": "integer"}, "label": "the money"},
                    "output_mapping": {"output.paid": "result"},
                }
            },
        },
        "outer": {
            "initial_node": "call",
            "nodes": {
                "call": {
                    "workflow": "ask",
                    "input_mapping": {"what": "'it'"},
                    "output_mapping": {"output.inner": "result.said"},
                },
                "after": {},
            },
            "transitions": [
                {"from": "call", "to": "after", "condition": "result.said == 'yes'"},
                {"from": "call", "to": "after", "priority": 2},
            ],
        },
        "outermost": {
            "initial_node": "call",
            "nodes": {"call": {"workflow": "outer", "output_mapping": {"output.inner": "result.inner"}}},
        },
        "slip": {
            "initial_node": "set",
            "nodes": {
                "set": {"output_mapping": {"state.n": "input.n"}},
                "work": {"action": {"kind": "mock", "implementation": {"output": {}}}},
                "check": {
                    "action": {"kind": "assert", "implementation": {"that": "input.n == 7"}},
                    "input_mapping": {"n": "state.n"},
                },
                "done": {"output_mapping": {"output.n": "state.n"}},
            },
            "transitions": [
                {"from": "set", "to": "work"},
                {"from": "work", "to": "check"},
                {"from": "check", "to": "done"},
            ],
        },
    }
}


async def parked(engine: Engine, workflow: str, input: object = None) -> Run:
    """Start a run, and return it when it waits."""
    run = await engine.start(workflow, input)
    await engine.idle()
    return run

"""Small workflows for tests of hosts."""

from collections.abc import Mapping
from itertools import pairwise

from jeton.definitions import library_from
from jeton.model.definition.workflow import Library

Definition = Mapping[str, object]


def chain(length: int) -> Definition:
    """Nodes in a row, each adding one to `state.n`."""
    names = [f"n{i}" for i in range(length)]
    return {
        "initial_node": "n0",
        "nodes": {
            name: {
                "task": "work",
                "input_mapping": {"n": "input.n" if name == "n0" else "state.n"},
                "output_mapping": {"state.n": "result.n"},
            }
            for name in names
        },
        "transitions": [{"from": a, "to": b} for a, b in pairwise(names)],
        "output_mapping": {"n": "state.n"},
    }


QUORUM: Definition = {
    "initial_node": "split",
    "nodes": {
        "split": {},
        "judge": {"task": "work", "input_mapping": {"n": "item"}, "output_mapping": {"_branch.output.n": "result.n"}},
        "join": {},
    },
    "transitions": [
        {"from": "split", "to": "judge", "foreach": {"collection": "input.items", "item_var": "item"}},
        {
            "from": "judge",
            "to": "join",
            "synchronization": {
                "strategy": {"m_of_n": 3},
                "merge": {"source": "_branch.output.n", "target": "state.votes", "strategy": "append"},
            },
        },
    ],
    "output_mapping": {"votes": "size(state.votes)"},
}

RETRY: Definition = {
    "initial_node": "try",
    "nodes": {"try": {"task": "shaky", "output_mapping": {"state.n": "result.n"}}},
    "output_mapping": {"n": "state.n"},
}

WAIT: Definition = {
    "initial_node": "rest",
    "nodes": {"rest": {"wait": {"seconds": "input.s"}}, "after": {"task": "work", "input_mapping": {"n": "0"}}},
    "transitions": [{"from": "rest", "to": "after"}],
}

HOLD: Definition = {
    "initial_node": "hold",
    "nodes": {"hold": {"task": "work", "output_mapping": {"state.n": "result.n"}}},
    "output_mapping": {"n": "state.n"},
}

FAMILY: Definition = {
    "initial_node": "split",
    "nodes": {
        "split": {},
        "call": {
            "workflow": "child",
            "input_mapping": {"n": "item"},
            "output_mapping": {"_branch.output.n": "result.n"},
        },
        "join": {},
    },
    "transitions": [
        {"from": "split", "to": "call", "foreach": {"collection": "[1, 2, 3]", "item_var": "item"}},
        {
            "from": "call",
            "to": "join",
            "synchronization": {"merge": {"source": "_branch.output.n", "target": "state.ns", "strategy": "append"}},
        },
    ],
    "output_mapping": {"ns": "state.ns"},
}


def asking(target: Definition) -> Definition:
    """Work, then a gate or a wait for a signal, then work again; the output is the answer or the signal."""
    return {
        "initial_node": "before",
        "nodes": {
            "before": {"task": "work"},
            "ask": {**target, "output_mapping": {"state.said": "result"}},
            "after": {"task": "work", "input_mapping": {"n": "0"}, "output_mapping": {"state.n": "result.n"}},
        },
        "transitions": [{"from": "before", "to": "ask"}, {"from": "ask", "to": "after"}],
        "output_mapping": {"said": "state.said"},
    }


GATE = asking({"gate": {"title": "go on?"}})
SIGNAL = asking({"wait": {"signal": "go"}})

_ACTION = {"kind": "python", "implementation": {"function": "tests:nothing"}}


def library(**workflows: Definition) -> Library:
    """A library of these workflows, loaded and checked."""
    return library_from(
        {
            "workflows": workflows,
            "tasks": {
                "work": {"steps": [{"action": "act"}]},
                "shaky": {
                    "steps": [{"action": "act", "on_failure": "retry"}],
                    "retry": {"max_attempts": 3, "initial_delay_ms": 5},
                },
            },
            "actions": {"act": _ACTION},
        }
    ).require()

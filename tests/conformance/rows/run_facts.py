"""What expressions, templates and tasks read as `run`."""

import pytest

from jeton.model.state.run import FiredBy
from tests.conformance.case import Case, Outcome, answers, each, join, sets, to, workflow
from tests.conformance.flow_nodes import TRIGGER, case, flow, node, wire

FIRED = FiredBy("webhook", 2, "hook")
EVERYWHERE = workflow(
    {
        "first": {"input_mapping": {"id": "run.id"}, "output_mapping": {"state.id": "result.id"}},
        "task": sets({"state.task": "result.id"}, id="run.id"),
        "ask": {"gate": {"title": "{{ run.workflow }} of {{ run.id }}"}},
        "branch": {"input_mapping": {"id": "run.root_id"}, "output_mapping": {"state.id": "result.id"}},
        "end": {},
    },
    to("first", "task", "run.id == state.id"),
    to("task", "ask", "state.task == run.id && run.started_at != ''"),
    each("ask", "branch", "[run.id, run.id]"),
    join("branch", "end", merge={"source": "_branch.output.id", "target": "state.ids", "strategy": "collect"}),
    output={
        "same": "state.ids == [run.id, run.root_id]",
        "id": "run.id",
        "version": "run.version",
        "key": "run.key",
        "trigger": "run.trigger",
    },
)


def title_names_the_run(seen: Outcome) -> None:
    (opened,) = [event for event in seen.events if event["type"] == "gate.opened"]
    assert {**seen.output, "id": ""} == {"same": True, "id": "", "version": 1, "key": None, "trigger": None}
    assert opened["title"].split(" of ")[1] == seen.output["id"]


ROWS = [
    pytest.param(
        Case(
            "run in every scope",
            EVERYWHERE,
            acts=(answers("a", {}, at="ask"),),
            also=title_names_the_run,
        ),
        id="run is readable in mappings, conditions, collections, titles and tasks",
    ),
    pytest.param(
        Case(
            "run of a trigger",
            workflow({"a": {}}, output={"trigger": "run.trigger"}),
            output={"trigger": {"type": "webhook", "id": "hook", "depth": 2}},
            trigger=FIRED,
        ),
        id="a run that was fired knows its trigger",
    ),
    pytest.param(
        Case(
            "run of a child",
            workflow({"a": {"workflow": "child", "output_mapping": {"output.child": "result"}}}, output={
                "root": "output.child.root == run.id", "own": "output.child.id != run.id", "name": "output.child.name"
            }),
            others={
                "child": workflow({"b": {}}, output={"root": "run.root_id", "id": "run.id", "name": "run.workflow"})
            },
            output={"root": True, "own": True, "name": "child"},
        ),
        id="a child has an id of its own, and the root's",
    ),
    pytest.param(
        case(
            "run in a flow",
            flow(
                {
                    "start": TRIGGER,
                    "set": node("set", {"id": "run.id"}),
                    "same": node("if_else", {"condition": "inputs.main.id == run.id"}),
                    "text": node("template", {"template": "{{ run.version }}"}),
                },
                wire("start", "set"),
                wire("set", "same"),
                wire("same", "text", "true"),
                output_mapping={"text": "context.text", "key": "run.key"},
            ),
            output={"text": "1", "key": None},
        ),
        id="run is readable in nodes, templates and the output of flows",
    ),
]  # fmt: skip

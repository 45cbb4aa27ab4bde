"""Actions, looked at with the kinds that an executor has."""

import pytest

from jeton.definitions import library_from
from jeton.engine.build.source import KINDS
from jeton.model.json import Json, JsonObject


def problems(action: JsonObject, settings: JsonObject | None = None) -> list[tuple[str, str]]:
    data: dict[str, Json] = {"actions": {"a": action}, "project": {"settings": settings or {}}}
    return [(problem.code, problem.path) for problem in library_from(data, kinds=KINDS).problems]


ROOTS: JsonObject = {"files": {"workspace": "files"}}
READ: JsonObject = {"operation": "read", "root": "workspace"}


@pytest.mark.parametrize(
    ("action", "then"),
    [
        pytest.param({"kind": "shell", "implementation": {"argv": ["ls"]}}, [], id="sound"),
        pytest.param(
            {"kind": "shell", "implementation": {"argv": ["ls", "x={y}"]}},
            [("bad_implementation", "actions.a.implementation.argv[1]")],
            id="what a kind says points at its place",
        ),
        pytest.param(
            {"kind": "file", "implementation": {"operation": "move", "root": "workspace"}},
            [("bad_implementation", "actions.a.implementation.operation")],
            id="a wrong value",
        ),
        pytest.param({"kind": "shel"}, [("unknown_kind", "actions.a.kind")], id="a kind that is misspelt"),
        pytest.param({"kind": "file", "implementation": READ}, [], id="a root of the project"),
        pytest.param(
            {"kind": "file", "implementation": {**READ, "root": "worksapce"}},
            [("unknown_root", "actions.a.implementation.root")],
            id="a root that is none",
        ),
        pytest.param(
            {"kind": "python", "implementation": {"function": "a:b"}, "isolation": "process"}, [], id="isolation"
        ),
        pytest.param(
            {"kind": "mock", "isolation": "process"},
            [("unsupported_isolation", "actions.a.isolation")],
            id="isolation of what is no function",
        ),
    ],
)
def test_an_action_at_load(action: JsonObject, then: list[tuple[str, str]]) -> None:
    assert problems(action, ROOTS) == then


def test_inline_actions_are_looked_at_too() -> None:
    step: JsonObject = {"action": {"kind": "shell", "implementation": {"argv": []}}}
    node: JsonObject = {"action": {"kind": "file", "implementation": {"operation": "read"}}}
    data: dict[str, Json] = {
        "tasks": {"t": {"steps": [step]}},
        "workflows": {"w": {"initial_node": "n", "nodes": {"n": node}}},
    }
    found = [(problem.code, problem.path) for problem in library_from(data, kinds=KINDS).problems]
    assert found == [
        ("bad_implementation", "tasks.t.steps[0].action.implementation.argv"),
        ("bad_implementation", "workflows.w.nodes.n.action.implementation"),
    ]

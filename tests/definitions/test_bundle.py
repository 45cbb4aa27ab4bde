"""A library cut down to one workflow and what it can reach."""

from jeton.definitions import library_from
from jeton.definitions.bundle import bundle_of
from jeton.model.json import Json

MOCK: Json = {"kind": "mock", "implementation": {"output": {}}}
LIBRARY = library_from(
    {
        "workflows": {
            "parent": {
                "initial_node": "a",
                "nodes": {"a": {"workflow": "child"}, "b": {"task": "used"}, "c": {"action": "named"}},
                "transitions": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}],
            },
            "child": {"initial_node": "a", "nodes": {"a": {"task": "of_child"}}},
            "stranger": {"initial_node": "a", "nodes": {"a": {"task": "unused"}}},
        },
        "tasks": {
            "used": {"steps": [{"action": "in_step"}]},
            "of_child": {"steps": [{"action": MOCK}]},
            "unused": {"steps": [{"action": "elsewhere"}]},
        },
        "flows": {
            "drawn": {
                "nodes": {
                    "a": {"type": "used"},
                    "b": {"type": "named@1"},
                    "c": {"type": "workflow", "data": {"workflow": "child"}},
                    "d": {"type": "workflow", "data": {"workflow": "inner"}},
                }
            },
            "inner": {"nodes": {"a": {"type": "merge"}}},
        },
        "triggers": {"nightly": {"type": "schedule", "start": "drawn", "cron": "@daily"}},
        "actions": {"named": MOCK, "in_step": MOCK, "elsewhere": MOCK},
        "project": {"settings": {"snapshot_policy": "never"}},
    }
).library


def test_a_bundle_has_what_the_workflow_reaches_and_no_more() -> None:
    bundle = bundle_of(LIBRARY, "parent")
    assert sorted(bundle.workflows) == ["child", "parent"]
    assert sorted(bundle.tasks) == ["of_child", "used"]
    assert sorted(bundle.actions) == ["in_step", "named"]
    assert bundle.settings == LIBRARY.settings


def test_a_leaf_brings_only_itself() -> None:
    bundle = bundle_of(LIBRARY, "child")
    assert (sorted(bundle.workflows), sorted(bundle.tasks), sorted(bundle.actions)) == (["child"], ["of_child"], [])


def test_a_flow_brings_what_its_nodes_name_and_no_trigger() -> None:
    bundle = bundle_of(LIBRARY, "drawn")
    assert sorted(bundle.flows) == ["drawn", "inner"]
    assert sorted(bundle.workflows) == ["child"]
    assert sorted(bundle.tasks) == ["of_child", "used"]
    assert sorted(bundle.actions) == ["in_step", "named"]
    assert bundle.triggers == {}

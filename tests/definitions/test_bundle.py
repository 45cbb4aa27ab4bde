"""A library cut down to one workflow and what it can reach."""

from jeton.definitions import library_from
from jeton.definitions.bundle import bundle_of, deployable, joined
from jeton.model.definition.workflow import Library
from jeton.model.json import Json
from tests.definitions.agents.given_agents import SHOP, with_parts
from tests.definitions.given import loaded

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


SHOPPING = loaded(SHOP).require()


def reached(bundle: Library) -> dict[str, list[str]]:
    """The names in a bundle, without profiles and settings, which are always all there."""
    sections = {
        key: getattr(bundle, key) for key in bundle.__struct_fields__ if key not in ("settings", "model_profiles")
    }
    return {section: sorted(found) for section, found in sections.items() if found}


def test_an_agent_brings_its_persona_its_tools_and_all_they_reach() -> None:
    bundle = bundle_of(SHOPPING, "agent:bob")
    assert reached(bundle) == {
        "agents": ["bob", "eve"],
        "personas": ["helper", "judge"],
        "tools": ["ask_bob", "expert", "judge", "refund", "report", "search"],
        "workflows": ["extract", "shorten", "write_report"],
        "flows": ["assemble"],
        "tasks": ["judge", "pay"],
        "actions": ["charge"],
        "prompts": ["verdict"],
    }
    assert bundle.settings == SHOPPING.settings
    assert bundle.model_profiles == SHOPPING.model_profiles


def test_an_agent_brings_personas_that_a_fork_can_put_in_its_place() -> None:
    profile: Json = {"provider": "scripted", "script": []}
    personas: Json = {
        "plain": {"model_profile": "fake", "tools": ["send"]},
        "other_prompt": {"model_profile": "fake", "instructions": "Be brief.", "tools": ["send@1"]},
        "other_tool": {"model_profile": "fake", "tools": ["send", "delete"]},
        "other_workflow": {"model_profile": "fake", "memory_extraction": "learn"},
    }
    library = library_from(
        {
            "model_profiles": {"fake": profile},
            "tasks": {"work": {"steps": [{"action": MOCK}]}},
            "tools": {"send": {"task": "work"}, "delete": {"task": "work"}},
            "workflows": {"learn": {"initial_node": "a", "nodes": {"a": {}}}},
            "personas": personas,
            "agents": {"bob": {"persona": "plain"}},
        }
    ).library
    bundle = bundle_of(library, "agent:bob")
    assert sorted(bundle.personas) == ["other_prompt", "plain"]
    assert sorted(bundle.tools) == ["send"]


def test_an_agent_asked_by_a_workflow_or_a_flow_is_in_its_bundle() -> None:
    asked = reached(bundle_of(SHOPPING, "agent:bob"))
    assert reached(bundle_of(SHOPPING, "triage")) == {**asked, "workflows": sorted((*asked["workflows"], "triage"))}
    assert "zoe" in bundle_of(SHOPPING, "drawn").agents


def test_a_workflow_that_asks_nobody_has_nothing_of_agents() -> None:
    assert reached(bundle_of(SHOPPING, "other")) == {"workflows": ["other"], "actions": ["unused"]}


def test_an_action_brings_its_prompt_and_its_tools() -> None:
    found = {"workflows": ["write_report"], "tasks": ["judge"], "prompts": ["verdict"], "tools": ["search"]}
    assert reached(bundle_of(SHOPPING, "write_report")) == found


def test_a_bundle_of_an_agent_has_the_bundles_of_all_it_can_call() -> None:
    """What is called is found by the hash of its bundle, taken from the caller's bundle alone."""
    names = deployable(SHOPPING)
    assert {"agent:bob", "agent:eve", "agent:zoe", "triage", "drawn"} <= set(names)
    for name in names:
        whole = bundle_of(SHOPPING, name)
        assert name in deployable(whole)
        for child in deployable(whole):
            assert bundle_of(whole, child) == bundle_of(SHOPPING, child)


def test_an_agent_and_a_workflow_may_have_one_name() -> None:
    library = loaded(with_parts(workflows={"bob": "{initial_node: a, nodes: {a: }}"})).require()
    assert reached(bundle_of(library, "bob")) == {"workflows": ["bob"]}
    assert bundle_of(library, "agent:bob").workflows == {}


def test_joined_libraries_have_the_definitions_of_both() -> None:
    first = loaded(with_parts(agents={"ann": "{persona: helper}"})).require()
    both = joined(first, SHOPPING)
    assert sorted(both.agents) == ["ann", "bob", "eve", "zoe"]
    assert both.personas["helper"] == SHOPPING.personas["helper"]
    assert {"refund", "report"} <= set(both.tools)
    assert sorted(both.prompts) == ["ask", "verdict"]

"""Agents are deployed with the file that defines them, each as `agent:NAME`."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import jeton
from jeton.engine.engine import Engine
from tests.definitions.agents.given_agents import SHOP, node, tool, with_parts


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with jeton.open(tmp_path / "runs.db", grace_s=0) as opened:
        yield opened


def file(folder: Path, text: str) -> Path:
    (folder / "library.yaml").write_text(text)
    return folder / "library.yaml"


async def test_each_agent_has_a_version_of_its_own(engine: Engine, tmp_path: Path) -> None:
    deployed = await engine.deploy(file(tmp_path, SHOP))
    assert {name for name in deployed.versions if name.startswith("agent:")} == {"agent:bob", "agent:eve", "agent:zoe"}
    assert set(deployed.versions.values()) == {1}
    assert deployed.warnings == ()
    again = await engine.deploy(file(tmp_path, SHOP))
    assert again.versions == deployed.versions


async def test_a_change_is_a_new_version_of_every_agent_that_it_reaches(engine: Engine, tmp_path: Path) -> None:
    base = with_parts(
        personas={"other": "{model_profile: fake}"}, agents={"eve": "{persona: helper}", "zoe": "{persona: other}"}
    )
    await engine.deploy(file(tmp_path, base))
    changed = await engine.deploy(file(tmp_path, base.replace("Refund an order.", "Give money back.")))
    assert changed.versions == {"agent:bob": 2, "agent:eve": 2, "agent:zoe": 1}


async def test_a_workflow_and_an_agent_may_have_one_name(engine: Engine, tmp_path: Path) -> None:
    deployed = await engine.deploy(file(tmp_path, with_parts(workflows={"bob": "{initial_node: a, nodes: {a: }}"})))
    assert deployed.versions == {"bob": 1, "agent:bob": 1}
    assert (await (await engine.start("bob")).result()).status == "completed"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param(node("agent: bob@7"), "workflows.w.nodes.a.agent", id="of a node"),
        pytest.param(tool("agent: bob@7"), "tools.refund.agent", id="of a tool"),
        pytest.param(
            with_parts(flows={"f": "{nodes: {a: {type: agent, data: {agent: bob@7}}}}"}),
            "flows.f.nodes.a.data.agent",
            id="of a flow",
        ),
    ],
)
async def test_a_version_that_is_named_must_be_there(engine: Engine, tmp_path: Path, text: str, path: str) -> None:
    with pytest.raises(jeton.DefinitionError) as refused:
        await engine.deploy(file(tmp_path, text))
    (problem,) = refused.value.problems
    assert (problem.code, problem.path) == ("unknown_version", path)
    assert problem.problem == "there is no version 7 of agent 'bob'"
    assert problem.remedy == "write 'bob@1', which it has here, or 'bob'"


@pytest.mark.parametrize("key", ["context_assembly", "memory_extraction", "compaction"])
async def test_so_must_that_of_a_workflow_of_a_persona(engine: Engine, tmp_path: Path, key: str) -> None:
    text = with_parts(
        personas=f"{{model_profile: fake, {key}: mine@3}}", workflows={"mine": "{initial_node: a, nodes: {a: }}"}
    )
    with pytest.raises(jeton.DefinitionError) as refused:
        await engine.deploy(file(tmp_path, text))
    assert [(p.code, p.path) for p in refused.value.problems] == [("unknown_version", f"personas.helper.{key}")]


async def test_definitions_with_errors_are_not_deployed(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(jeton.DefinitionError, match="there is no tool called 'x'"):
        await engine.deploy(file(tmp_path, with_parts(personas="{model_profile: fake, tools: [x]}")))


async def test_an_agent_is_not_started(engine: Engine, tmp_path: Path) -> None:
    await engine.deploy(file(tmp_path, with_parts()))
    with pytest.raises(jeton.Refused, match=r"'bob' is an agent.*engine.converse\('bob'\)"):
        await engine.start("agent:bob")
    with pytest.raises(jeton.Refused, match="no workflow 'bob' is deployed"):
        await engine.start("bob")
    assert await engine.list() == ()

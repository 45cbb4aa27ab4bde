"""Agents built in Python, talked to without being deployed before."""

from pathlib import Path

import pytest

import jeton


@jeton.tool
def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


def bob(*script: dict[str, object]) -> jeton.Agent:
    fake = jeton.ModelProfile("fake", provider="scripted", script=list(script))
    return jeton.Agent("bob", persona=jeton.Persona(instructions="Help.", model_profile=fake, tools=[add]))


ADDS = bob(
    {"tool_calls": [{"name": "add", "input": {"a": 2, "b": 3}}]},
    {"when": "tool_results[0].result.sum == 5", "text": "Five."},
)


async def test_an_agent_is_deployed_and_talked_to(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "s.db") as engine:
        talk = await engine.converse(ADDS, key="one")
        assert (await (await talk.send("2 + 3?")).result(20)).replies == ["Five."]
        again = await engine.converse(ADDS, key="one")
        assert again.id == talk.id
        assert (await engine.converse(ADDS, conversation=talk.id)).id == talk.id


async def test_another_version_is_deployed_for_the_next_turn(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "s.db") as engine:
        talk = await engine.converse(bob({"text": "Old."}, {"text": "Old."}), key="one")
        assert (await (await talk.send("hi")).result(20)).replies == ["Old."]
        talk = await engine.converse(bob({"text": "Old."}, {"text": "New."}), key="one")
        assert (await (await talk.send("hi")).result(20)).replies == ["New."]


def test_without_await(tmp_path: Path) -> None:
    with jeton.open_sync(tmp_path / "s.db") as engine:
        talk = engine.converse(ADDS)
        assert talk.send("2 + 3?").result(20).replies == ["Five."]


async def test_a_workflow_cannot_be_talked_to(tmp_path: Path) -> None:
    flow = jeton.Workflow("flow")
    async with jeton.open(tmp_path / "s.db") as engine:
        with pytest.raises(jeton.Refused, match="'agent' must be a text, and is of type Workflow"):
            await engine.converse(flow)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]

"""What is sent to a model begins with what was sent before, byte for byte, so that the caches of providers hit."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.model.json import JsonObject
from tests.executor.models.wire_bench import MODELS
from tests.executor.models.wire_protocols import Answer
from tests.executor.models.wire_server import Seen, WireServer, serving

TURNS = 30
RECENT = 20
TOPICS = ("apples", "pears", "plums")


def plan() -> list[Answer]:
    """Two turns of three call tools."""
    answers: list[Answer] = []
    for turn in range(1, TURNS + 1):
        if turn % 3:
            calls = tuple(("look", json.dumps({"n": turn, "place": place})) for place in range(turn % 3))
            answers.append(Answer("I look." if turn % 2 else "", calls))
        answers.append(Answer(f"That was number {turn}."))
    return answers


def library(provider: str, server: WireServer) -> JsonObject:
    """An agent that looks things up, and remembers everything that was said to it."""
    profile: JsonObject = {"provider": provider, "model": MODELS[provider], "base_url": server.url(provider)}
    write: JsonObject = {
        "action": {"kind": "memory", "implementation": {"operation": "write"}},
        "input_mapping": {"type": "'fact'", "content": "'The user said: ' + input.message"},
    }
    return {
        "project": {"settings": {"secrets": {"key": {"env": "JETON_WIRE_KEY"}}}},
        "model_profiles": {provider: {**profile, "api_key": {"secret": "key"}}},
        "tasks": {
            "look": {"steps": [{"ref": "a", "action": {"kind": "mock", "implementation": {"output": {"v": 1}}}}]}
        },
        "tools": {"look": {"description": "Look.", "task": "look"}},
        "workflows": {"keep": {"initial_node": "a", "nodes": {"a": write}}},
        "personas": {
            "helper": {
                "instructions": "You are {{ agent }}.",
                "model_profile": provider,
                "tools": ["look"],
                "memory": {"types": ["fact"], "recall": 3},
                "memory_extraction": "keep",
                "recent_turns": RECENT,
            }
        },
        "agents": {provider: {"persona": "helper"}},
    }


async def talk_with(provider: str, store: Path) -> tuple[list[Seen], list[str]]:
    """Thirty turns: the requests that were sent, and the types of the conversation's events."""
    async with serving(*plan()) as server, jeton.open(store) as engine:
        await engine.deploy(library(provider, server))
        talk = await engine.converse(provider)
        for turn in range(TURNS):
            done = await (await talk.send(f"More about {TOPICS[turn % 3]}, number {turn}")).result(30)
            assert (done.status, done.issues) == ("completed", {}), done.error
        return server.seen, [str(event["type"]) async for event in engine.events(talk.id)]


def sent(seen: Seen) -> tuple[str, str]:
    """What stands before the messages, and the messages, as they were sent but for their closing bracket."""
    body: Any = {**seen.body}
    messages: Any = body.pop("messages")
    return json.dumps(body), json.dumps(messages)[:-1]


@pytest.mark.parametrize("provider", ["anthropic", pytest.param("openai", marks=pytest.mark.long)])
async def test_each_request_extends_the_one_before_it_until_the_window_moves(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JETON_WIRE_KEY", "sk-do-not-tell-anyone")
    seen, events = await talk_with(provider, tmp_path / "store.db")
    requests = [sent(each) for each in seen]
    assert len(requests) == len(plan())
    assert len({before for before, _ in requests}) == 1, "instructions and tools stay as they are"
    breaks = [later for (_, first), (_, later) in pairwise(requests) if not later.startswith(f"{first}, ")]
    assert (len(breaks), events.count("window.shrunk")) == (1, 1)
    recalled = [messages.count("What you remember") for _, messages in requests]
    assert max(recalled) >= RECENT / 2, "memories stay where they were recalled"

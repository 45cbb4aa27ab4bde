"""`kill -9` while models stream: each call is made once more, and nothing of the half answers is kept.

usage: python -m tests.crash.streamed STORE LIBRARY     talk to each agent, and say each piece of an answer
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

import jeton
from jeton.engine.talk.conversation import Conversation
from jeton.engine.views.conversation import TurnView
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.json import JsonObject
from tests.executor.models.wire_bench import MODELS
from tests.executor.models.wire_protocols import Answer
from tests.executor.models.wire_server import Failing, WireServer, serving

KEY = "k"
HALF, WHOLE = Answer("Halfway through this sentence the process ends."), Answer("A whole answer.")
FIRST_PIECE = b"Halfw"


# the process that is killed


async def play(store: Path, library: JsonObject) -> None:
    """Talk to all agents of a library."""
    agents = library["agents"]
    assert isinstance(agents, dict)
    async with jeton.open(store) as engine:
        await engine.deploy(library)
        listening = [asyncio.create_task(_listen(engine, agent)) for agent in agents]
        await asyncio.gather(*[_send(engine, agent) for agent in agents])
        await asyncio.gather(*listening)


async def _send(engine: jeton.Engine, agent: str) -> tuple[Conversation, TurnView]:
    """Say something to an agent, however often this is done."""
    talk = await engine.converse(agent, key=KEY)
    return talk, await (await talk.send("Hello?", key=KEY)).result(60)


async def _listen(engine: jeton.Engine, agent: str) -> None:
    talk = await engine.converse(agent, key=KEY)
    async for event in talk.stream():
        if event["type"] == "message.delta":
            sys.stdout.write(f"{agent} {event['text']}\n")
            sys.stdout.flush()


# the one that kills it


async def problems_of_streams(providers: Sequence[str]) -> list[str]:
    """Kill a process that hears answers by these protocols, go on in this one, and compare with what should be."""
    os.environ.setdefault("JETON_WIRE_KEY", "sk-do-not-tell-anyone")
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "store.db")
        async with _servers(providers) as at:
            found = await _kill_midstream(store, _library(at))
            async with jeton.open(store) as engine:
                for provider, server in at.items():
                    found += await _wrong_in(engine, provider, server)
        files = [Path(below, name) for below, _, names in os.walk(folder) for name in names]
        found += [f"{file.name} has a half answer" for file in files if FIRST_PIECE in file.read_bytes()]
        return found + [str(finding) for finding in verify(store).problems]


@asynccontextmanager
async def _servers(providers: Sequence[str]) -> AsyncGenerator[dict[str, WireServer]]:
    """One for each protocol: it stalls in the middle of its first answer, and gives the second whole."""
    plan = (Failing("stalled", HALF), WHOLE, Answer("One too many."))
    async with AsyncExitStack() as stack:
        yield {provider: await stack.enter_async_context(serving(*plan)) for provider in providers}


def _library(at: dict[str, WireServer]) -> JsonObject:
    """An agent for each protocol, called like it."""
    profiles: JsonObject = {}
    for provider, server in at.items():
        address: JsonObject = {"base_url": server.url(provider), "api_key": {"secret": "key"}}
        profiles[provider] = {"provider": provider, "model": MODELS[provider], **address}
    return {
        "project": {"settings": {"secrets": {"key": {"env": "JETON_WIRE_KEY"}}}},
        "model_profiles": profiles,
        "personas": {provider: {"model_profile": provider} for provider in at},
        "agents": {provider: {"persona": provider} for provider in at},
    }


async def _kill_midstream(store: Path, library: JsonObject) -> list[str]:
    """Kill the process once a piece of each answer was heard."""
    words = ["-m", "tests.crash.streamed", str(store), msgspec.json.encode(library).decode()]
    process = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    agents, heard = library["agents"], dict[str, str]()
    assert isinstance(agents, dict)
    async with asyncio.timeout(60):
        while len(heard) < len(agents):
            agent, _, text = (await process.stdout.readline()).decode().partition(" ")
            assert agent in agents, "the process has ended"
            heard.setdefault(agent, text.strip())
    process.kill()
    await process.wait()
    return [f"{agent} said {text}" for agent, text in heard.items() if not HALF.text.startswith(text or "nothing")]


async def _wrong_in(engine: jeton.Engine, provider: str, server: WireServer) -> list[str]:
    talk, turn = await _send(engine, provider)
    found = [] if turn.replies == [WHOLE.text] else [f"{provider}: {turn.status} {turn.error} {turn.replies}"]
    if len(server.seen) != 2:
        found.append(f"{provider} was asked {len(server.seen)} times")
    if server.seen[0].body != server.seen[-1].body:
        found.append(f"{provider} was asked for something else")
    events = [event["type"] async for event in engine.events(talk.id)]
    if (events.count("move.started"), events.count("move.restarted")) != (1, 1):
        found.append(f"{provider}: {events}")
    return found


if __name__ == "__main__":
    asyncio.run(play(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2])))

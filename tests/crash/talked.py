"""A turn with two sync tools, one of which needs approval, and an async one, while the process is being killed.

What the model and the tools are asked is written down beside the store, where no crash undoes it.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import jeton
from jeton.actor.journal import decode_entry
from jeton.engine.talk.conversation import Conversation
from jeton.engine.views.conversation import TurnView
from jeton.hosts.sqlite.file.connect import connect_reader
from jeton.model.chat import ModelMessage
from jeton.model.decision import AddMove
from jeton.model.json import JsonObject
from jeton.model.transcript import json_text
from jeton.plugins import (
    CalledTool,
    Embeddings,
    ModelAnswer,
    ModelCall,
    ModelProblem,
    OnText,
    RequestFailed,
    TokenUsage,
    ToolMessage,
    register_model_client,
)

TALK = "talk"
REPLIES = ["I look, pay and ask around.", 'Seen {"v":1}, paid {"v":2}.', 'Now I know {"v":3}.']
TOOLS = ("look", "pay", "research")
KEY = "k"
LOOK_S = 0.005

Say = Callable[[str], None]


# the outside: it remembers what it was asked


def _note(folder: str, line: str) -> None:
    with Path(folder, "asked").open("a") as asked:
        asked.write(f"{line}\n")


def asked_in(folder: Path) -> list[list[str]]:
    """What the model and the tools were asked so far, in order."""
    asked = folder / "asked"
    return [line.split() for line in asked.read_text().splitlines()] if asked.exists() else []


@jeton.action
def look(folder: str) -> dict[str, int]:
    _note(folder, f"look {jeton.current_call().idempotency_key}")
    return {"v": 1}


@jeton.action
def pay(folder: str) -> dict[str, int]:
    _note(folder, f"pay {jeton.current_call().idempotency_key}")
    return {"v": 2}


@jeton.action
async def research(folder: str) -> dict[str, int]:
    """Not done before the turn lingers: its result must not be there when the model is asked for the second time."""
    _note(folder, f"research {jeton.current_call().idempotency_key}")
    while not await asyncio.to_thread(Path(folder, "lingers").exists):
        await asyncio.sleep(LOOK_S)
    return {"v": 3}


class Outspoken:
    """A model that writes down what it was asked before it answers."""

    def load(self) -> None:
        """Nothing has to be imported."""

    async def generate(self, call: ModelCall, on_text: OnText) -> ModelAnswer:
        move, folder = call.request.script.moves, str(call.profile.parameters["folder"])
        _note(folder, f"model {move}")
        calls = tuple(CalledTool(name, {"folder": folder}) for name in TOOLS) if move == 0 else ()
        text = _told(call.request.messages[-1]) or REPLIES[move]
        for start in range(0, len(text), 5):
            on_text(text[start : start + 5])
            await asyncio.sleep(0)
        return ModelAnswer(text, calls, usage=TokenUsage(10, 10))

    async def embed(self, call: ModelCall, texts: Sequence[str]) -> Embeddings:
        raise RequestFailed(ModelProblem("model_error", "it has no vectors"))

    def problem_of(self, error: Exception) -> ModelProblem | None:
        return None

    async def close(self) -> None:
        """Nothing is open."""


def _told(newest: ModelMessage) -> str | None:
    """What to say of the results that came with the newest message."""
    if isinstance(newest, ToolMessage):
        seen, paid = (result.result for result in newest.results[:2])
        return f"Seen {json_text(seen)}, paid {json_text(paid)}."
    found = re.search(r"\(research\): (.*)", newest.text)
    return None if found is None else f"Now I know {found[1]}."


register_model_client("outspoken", Outspoken)


def library(folder: Path) -> JsonObject:
    """An agent whose model and tools write into a folder."""
    more: dict[str, JsonObject] = {"look": {}, "pay": {"needs_approval": True}, "research": {"async": True}}
    return {
        "model_profiles": {"loud": {"provider": "outspoken", "parameters": {"folder": str(folder)}}},
        "tasks": {name: {"steps": [{"ref": "a", "action": name}]} for name in TOOLS},
        "tools": {name: {"description": name, "task": name, **more[name]} for name in TOOLS},
        "personas": {"helper": {"model_profile": "loud", "tools": [*TOOLS]}},
        "agents": {"bob": {"persona": "helper"}},
    }


# one turn


async def play_talk(store: Path, say: Say) -> None:
    """Open the store, send a chat message, approve what needs it, and wait for the end of the turn."""
    try:
        async with jeton.open(store) as engine:
            talk = await _begin(engine, store.parent)
            say(f"started {talk.id}")
            turn = await _see_through(talk, store.parent, say)
            say(f"ended {talk.id} {turn.status}")
    except jeton.Refused as refused:
        say(f"refused {refused.code}")


async def _begin(engine: jeton.Engine, folder: Path) -> Conversation:
    await engine.deploy(library(folder))
    return await engine.converse("bob", key=KEY, user="ann")


async def _see_through(talk: Conversation, folder: Path, say: Say = lambda _: None) -> TurnView:
    """Send the chat message, approve what needs it, let the async call end once the turn lingers, and wait."""
    sent = await talk.send("go", key=KEY)
    say(f"told {talk.id}")
    ending = asyncio.create_task(sent.result())
    try:
        while not ending.done():
            for gate in await talk.gates():
                await talk.answer({"decision": "approve"}, gate=gate.id)
            if (await talk.turns())[0].phase == "lingering":
                (folder / "lingers").touch()
            await asyncio.wait([ending], timeout=LOOK_S)
        return await ending
    finally:
        ending.cancel()


# afterwards


def committed_moves(store: Path) -> set[str]:
    """The answers of the model that are in the journal."""
    if not store.exists():
        return set()
    db = connect_reader(store)
    try:
        if not db.execute("select count(*) from sqlite_schema where name = 'journal'").get:
            return set()
        entries = [decode_entry(body) for (body,) in db.execute("select body from journal")]
    finally:
        db.close()
    return {str(x.number) for entry in entries for x in entry.decisions if isinstance(x, AddMove)}


async def problems_of_talk(store: Path, said: list[list[str]]) -> list[str]:
    """Open what is left, send the same chat message again, see the turn through, and compare with what should be."""
    kept, before, found = committed_moves(store), asked_in(store.parent), list[str]()
    words = {word for word, *_ in said}
    async with asyncio.timeout(60), jeton.open(store) as engine:
        known = await engine.conversations()
        if "started" in words and not known:
            found.append("the conversation was acknowledged and is lost")
        talk = await _begin(engine, store.parent)
        there = await talk.turns()
        if "told" in words and not there:
            found.append("the chat message was acknowledged and is lost")
        if "ended" in words and [turn.status for turn in there] != ["completed"]:
            found.append("the turn had ended and has not")
        turn = await _see_through(talk, store.parent)
        if (turn.status, turn.replies, turn.issues) != ("completed", REPLIES, {}):
            found.append(f"the turn ended {turn.status} {turn.error} with {turn.replies} {turn.issues}")
        if len(await engine.conversations()) != 1 or await engine.gates():
            found.append("there is more than one conversation, or a gate is open still")
    asked = asked_in(store.parent)
    return found + _wrong_keys(asked) + _asked_again(kept, asked[len(before) :])


def _wrong_keys(asked: list[list[str]]) -> list[str]:
    """Tools that were not called, or under more than one key; and keys of more than one tool."""
    keys = {tool: {key for name, key in asked if name == tool} for tool in TOOLS}
    found = [f"{tool} was called under the keys {sorted(each)}" for tool, each in keys.items() if len(each) != 1]
    shared = len({key for each in keys.values() for key in each}) < sum(map(len, keys.values()))
    return [*found, f"keys are shared: {keys}"] if shared else found


def _asked_again(kept: set[str], since: list[list[str]]) -> list[str]:
    """Answers that were committed and asked for again, or that were asked for more than once since."""
    times = Counter(move for name, move in since if name == "model")
    found = [f"answer {move} was committed, and asked for again" for move in sorted(kept & set(times))]
    wanted = {str(move): 1 for move in range(len(REPLIES)) if str(move) not in kept}
    return found if kept & set(times) or times == wanted else [*found, f"the model was asked {times}, not {wanted}"]

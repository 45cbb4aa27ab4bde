"""Small agents: tools of every kind, short limits, workflows around them, and models that say anything."""

from random import Random
from typing import Any, Literal

import msgspec

from jeton.hosts.simulated.script import Answer, Script, ScriptedCall
from jeton.model.chat import CalledTool, ModelAnswer, ModelFailed, ScriptPlace, TokenUsage
from jeton.model.failure import TaskFailed
from jeton.model.json import Json
from jeton.model.note import TokensNote
from jeton.model.state.ranges import count_in

Object = dict[str, Any]

NUMBER: Object = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
MESSAGE: Object = {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}
TALK: Object = {"type": "object", "required": ["talk"], "properties": {"talk": {"type": "string"}}}
BOTH = ("agent:bob-0", "agent:bob-1")  # the conversations of a seed, as the simulated host names them
PRICES: Object = {"input": 2_000, "output": 2_000}
SLOW_MS = 60  # longer than most turns
TASK: Object = {"steps": [{"ref": "s", "action": {"kind": "mock"}}]}
TOOLS: dict[str, Object] = {
    "look": {"task": "t"},
    "find": {"task": "t"},
    "fetch": {"task": "t", "untrusted": True},
    "break": {"task": "t"},
    "retry": {"task": "t", "retry": {"max_attempts": 3, "initial_delay_ms": 2}},
    "stall": {"task": "t", "timeout_ms": 15},
    "pay": {"task": "t", "once": True},
    "alone": {"task": "t", "exclusive": True},
    "ask": {"task": "t", "needs_approval": True},
    "hurry": {"task": "t", "needs_approval": {"timeout_ms": 8}},
    "both": {"task": "t", "needs_approval": {"approvals": 2}},
    "wary": {"task": "t", "needs_approval": "tainted"},
    "careful": {"task": "t", "exclusive": True, "needs_approval": True},
    "later": {"task": "t", "async": True},
    "later_once": {"task": "t", "async": True, "once": True},
    "later_ask": {"task": "t", "async": True, "needs_approval": True},
    "side": {"workflow": "side"},
    "side_later": {"workflow": "side", "async": True},
    "side_short": {"workflow": "side", "timeout_ms": 10},
    "cross": {"workflow": "cross", "input_schema": TALK},
    "cross_later": {"workflow": "cross", "input_schema": TALK, "async": True},
    "cid": {"agent": "cid", "input_schema": MESSAGE},
    "cid_later": {"agent": "cid", "input_schema": MESSAGE, "async": True},
    "eve": {"agent": "eve", "mode": "loop_in", "input_schema": MESSAGE},
}
WORKFLOWS: dict[str, Object] = {
    "side": {
        "initial_node": "work",
        "nodes": {"work": {"task": "t"}, "rest": {"wait": {"seconds": 0.004}, "output_mapping": {"output.v": "1"}}},
        "transitions": [{"from": "work", "to": "rest"}],
    },
    "cross": {
        "initial_node": "asks",
        "nodes": {
            "asks": {
                "agent": {"name": "bob", "conversation": "input.talk"},
                "input_mapping": {"message": "'and you?'"},
                "output_mapping": {"output.said": "result.text"},
            }
        },
        "transitions": [],
    },
    "gather": {
        "initial_node": "gathers",
        "nodes": {"gathers": {"task": "t", "output_mapping": {"output.messages": "result.messages"}}},
        "transitions": [],
    },
    "learn": {"initial_node": "learns", "nodes": {"learns": {"task": "t"}}, "transitions": []},
    "shorten": {
        "initial_node": "shortens",
        "nodes": {"shortens": {"task": "t", "output_mapping": {"output.summary": "result.summary"}}},
        "transitions": [],
    },
    "asks": {
        "initial_node": "first",
        "nodes": {
            "first": {
                "agent": "bob",
                "input_mapping": {"message": "'from a run'", "more": "1"},
                "output_mapping": {"state.talk": "result.conversation_id", "output.first": "result.text"},
            },
            "second": {
                "agent": {"name": "bob", "conversation": "state.talk", "timeout_ms": 200},
                "input_mapping": {"message": "'and again'"},
                "output_mapping": {"output.second": "result.text"},
            },
        },
        "transitions": [{"from": "first", "to": "second"}],
    },
}


def agents_from(rng: Random) -> Object:
    """Three agents: bob, who is spoken to; eve, who joins; cid, who is asked in a conversation of his own."""
    names = rng.sample(sorted(TOOLS), rng.randint(2, 9))
    if rng.random() < 0.5:
        names = sorted({*names, rng.choice(("later", "later_ask", "side_later"))})
    if rng.random() < 0.1:
        names = sorted({"cross", *names[:2]})
    simple = [name for name in sorted(TOOLS) if "agent" not in TOOLS[name]]
    personas = {
        "bold": _persona(rng, names),
        "even": _persona(rng, [*rng.sample(simple, 3), *(["cid"] if rng.random() < 0.3 else [])]),
        "calm": _persona(rng, [*rng.sample(simple, 2), *(["cid"] if rng.random() < 0.2 else [])]),
    }
    window = {"context_window": rng.choice((900, 1_500)), "parameters": {"max_tokens": 100}}
    profile = {"provider": "scripted", "script": [{"text": "x"}], **(window if rng.random() < 0.25 else {})}
    if rng.random() < 0.3:
        profile["prices"] = PRICES
        for persona in personas.values():
            if rng.random() < 0.7:
                persona["budget"] = _budget(rng)
    tools = {name: {"description": name, "input_schema": NUMBER, **tool} for name, tool in TOOLS.items()}
    return {
        "model_profiles": {"fake": profile},
        "tasks": {"t": TASK},
        "tools": tools,
        "personas": personas,
        "agents": {"bob": {"persona": "bold"}, "eve": {"persona": "even"}, "cid": {"persona": "calm"}},
        "workflows": WORKFLOWS,
        **({"project": {"settings": {"credits": {"balance": rng.randint(3, 60)}}}} if rng.random() < 0.15 else {}),
    }


def _budget(rng: Random) -> Object:
    """Little enough that some turns run out of it: a call may cost about three credits, and costs less than one."""
    most = {"turn": (2, 4, 6), "conversation": (4, 8, 20), "agent_day": (4, 8, 20)}
    kinds = rng.sample(sorted(most), rng.choice((1, 1, 2)))
    return {kind: rng.choice(most[kind]) for kind in kinds} | {"on_empty": rng.choice(("end", "ask"))}


def _persona(rng: Random, tools: list[str]) -> Object:
    persona: Object = {
        "instructions": "Help.",
        "model_profile": "fake",
        "tools": tools,
        "recent_turns": rng.choice((1, 2, 3, 20)),
        "max_moves_per_turn": rng.choice((1, 2, 3, 6, 6)),
        "max_parallel_tools": rng.choice((1, 2, 8, 8)),
    }
    if rng.random() < 0.2:
        persona["turn_timeout_ms"] = rng.choice((15, 60, 400))
    for key, workflow, chance in (
        ("context_assembly", "gather", 0.15),
        ("memory_extraction", "learn", 0.25),
        ("compaction", "shorten", 0.5),
    ):
        if rng.random() < chance:
            persona[key] = workflow
    return persona


class TalkScript(Script):
    """Models and tools of a seed. What they say depends on the call alone."""

    def __init__(self, made: Object, seed: int) -> None:
        super().__init__(seed=seed)
        personas = made["personas"]
        self._tools: dict[str, list[str]] = {
            name: personas[agent["persona"]]["tools"] for name, agent in made["agents"].items()
        }

    def answer(self, call: ScriptedCall) -> Answer:
        chance, (kind, _, suffix) = self.chance(call), call.node.partition(":")
        if kind == "model":
            tools = self._tools[suffix or call.workflow.partition(":")[2]]
            return Answer(_said(chance, call, tools), takes_ms=chance.randint(1, 12))
        if kind == "tool":
            return _worked(chance, call)
        if chance.random() < 0.2 and call.node in ("gathers", "learns", "shortens", "compaction", "work"):
            return Answer(failure=TaskFailed("boom", "as it should"), takes_ms=3)
        text = f"seen {call.run}"
        result: Json = {"messages": [{"role": "user", "text": text}], "summary": text, "v": 1}
        notes = (TokensNote("s", "fake", 50, 50, 200_000),) if call.node in ("gathers", "learns", "shortens") else ()
        return Answer(result, takes_ms=chance.randint(1, 12), notes=notes)


def _worked(chance: Random, call: ScriptedCall) -> Answer:
    name = call.node.partition(":")[2]
    slow = name.startswith("later") or name == "stall"
    takes = chance.randint(1, SLOW_MS if slow else 12)
    if name == "break" or (name == "retry" and call.attempt < 3) or chance.random() < 0.1:
        return Answer(failure=TaskFailed("boom", "as it should", retry=name == "retry"), takes_ms=takes)
    return Answer({"v": f"{name}@{call.path}"}, takes_ms=takes)


class Given(msgspec.Struct):
    """What a model call is given, as far as it matters here."""

    script: ScriptPlace
    tools: list[str] | None = None


def _said(chance: Random, call: ScriptedCall, tools: list[str]) -> Json:
    """A whole answer: text, calls, both, nothing, or a failure."""
    given = msgspec.convert(call.input, Given)
    used, bare = (count_in(given.script.used),), given.tools == []
    roll, text = chance.random(), f"{call.run}/{call.path}/{call.visit} says {'so ' * chance.randint(1, 9)}"
    if roll < 0.03:
        return _plain(ModelFailed("model_error", "as it should", used=used))
    if roll < 0.05:
        return _plain(ModelFailed("context_too_long", "as it should", used=used))
    if roll < 0.12:
        return _plain(ModelAnswer(" " if chance.random() < 0.5 else "", used=used))
    calls: tuple[CalledTool, ...] = ()
    if chance.random() < (0.1 if bare else 0.6):
        calls = tuple(_called(chance, tools) for _ in range(chance.choice((1, 1, 2, 3, 4))))
    if calls and chance.random() < 0.6:
        text = ""
    finish: Literal["length", "stop"] = "length" if chance.random() < 0.06 else "stop"
    usage = TokenUsage(chance.randint(1, 500), chance.randint(1, 50))
    return _plain(ModelAnswer(text, calls, usage, finish, "fake", "scripted", used=used))


def _called(chance: Random, tools: list[str]) -> CalledTool:
    name = chance.choice(tools)
    roll = chance.random()
    if roll < 0.04:
        return CalledTool("nothing", {"n": 1})
    if roll < 0.08:
        return CalledTool(name, {"n": "many"})
    if roll < 0.1:
        return CalledTool(name, raw='{"n": 1')
    if name.startswith("cross"):
        return CalledTool(name, {"talk": chance.choice(BOTH)})
    if "agent" in TOOLS[name]:
        return CalledTool(name, {"message": f"{name}, what of {chance.randint(1, 99)}?"})
    return CalledTool(name, {"n": chance.randint(1, 99)})


def _plain(reply: ModelAnswer | ModelFailed) -> Json:
    plain: Json = msgspec.to_builtins(reply)
    return plain

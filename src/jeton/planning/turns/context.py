"""Context assembly: what a turn's first model call is given besides the window, and the memories that are recalled."""

from typing import Literal

import msgspec

from jeton.model import decision as d
from jeton.model.chat import AssistantMessage, ModelMessage, SystemMessage, UserMessage
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunState, Token
from jeton.model.state.talk import Turn, TurnError
from jeton.model.times import rfc3339
from jeton.planning.program.workflow import Program
from jeton.planning.turns.places import agent_in, new_call, tokens_of, turn_of
from jeton.planning.turns.stop import end_turn

MOST_SIMILAR = 8
MOST_SAID = 20_000  # characters of what was said, in the search for memories that are similar
RECALLED = "What you remember that may matter here:"


class AssembledMessage(msgspec.Struct, frozen=True):
    """A message that an assembly workflow gives."""

    role: Literal["user", "assistant", "system"]
    text: str


class Assembled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The output of an assembly workflow."""

    messages: tuple[AssembledMessage, ...]
    tools: tuple[str, ...] | None = None
    instructions: str | None = None


def plan_context(program: Program, state: RunState, turn: Turn, now: int) -> list[d.Decision]:
    """Assemble the context: by the persona's workflow, by recalling memories, or at once."""
    agent = agent_in(program, turn)
    if any(token.node != agent.node("timeout") for token in tokens_of(state, turn.number)):
        return []  # it is under way
    persona = agent.persona
    if persona.context_assembly is not None:
        return [new_call(state, agent.node("assembly"), turn.number)]
    if persona.memory is not None and persona.memory.recall > 0:
        return [new_call(state, agent.node("recall"), turn.number)]
    return [d.PrepareTurn(turn.number, (_time(now),))]


def assembly_input(program: Program, state: RunState, turn: Turn) -> JsonObject:
    """What an assembly workflow is given."""
    talk = state.talk
    recent: list[Json] = [
        recent_turn(state, number)
        for number, each in sorted(talk.turns.items())
        if number != turn.number and each.phase in ("ended", "lingering") and each.began_at is not None
    ]
    pending: list[Json] = [
        {"turn": each.number, "calls": len(each.background)} for each in talk.active() if each.background
    ]
    return {
        "conversation_id": state.head.run,
        "message": talk.given[turn.number].said.text,
        "recent_turns": recent,
        "tools": list(agent_in(program, turn).tools),
        "pending": pending,
    }


def recent_turn(state: RunState, number: int) -> JsonObject:
    """A turn as workflows of an agent are given it."""
    talk = state.talk
    turn = talk.turns[number]
    moves: list[Json] = []
    for index in range(turn.moves):
        move = talk.moves[number, index]
        calls: list[Json] = []
        for position, call in enumerate(move.calls):
            found = talk.results.get((number, index, position))
            shown: JsonObject = {"name": call.name, "input": call.input}
            if found is not None and found.result.error is not None:
                shown["error"] = found.result.error.message
            elif found is not None:
                shown["result"] = found.result.result
            calls.append(shown)
        moves.append({"text": move.text, "tool_calls": calls})
    replies: list[Json] = [talk.moves[number, index].text for index in range(turn.moves)]
    return {
        "turn": number,
        "agent": turn.agent,
        "message": talk.given[number].said.text,
        "replies": [reply for reply in replies if reply],
        "moves": moves,
        "status": turn.status,
    }


def plan_assembled(program: Program, state: RunState, token: Token, result: Json, now: int) -> list[d.Decision]:
    """Take what an assembly workflow gave. Another form of output fails the turn."""
    turn, done = turn_of(state, token), d.RouteToken(token.id, token.node, "completed")
    try:
        assembled = msgspec.convert(result, Assembled)
    except msgspec.ValidationError as problem:
        error = TurnError(
            "assembly_failed", f"context assembly must give {{messages, tools?, instructions?}}: {problem}"
        )
        return [done, *end_turn(state, turn, now, "failed", error, token)]
    messages = tuple(_message(each) for each in assembled.messages)
    own, tools = agent_in(program, turn).tools, assembled.tools
    given = None if tools is None else tuple(name for name in tools if name in own)  # it adds none
    prepared = d.PrepareTurn(turn.number, (), messages, assembled.instructions, given)
    return [done, prepared]


def _message(given: AssembledMessage) -> ModelMessage:
    match given.role:
        case "user":
            return UserMessage(given.text)
        case "assistant":
            return AssistantMessage(given.text)
        case "system":
            return SystemMessage(given.text)


def recall_input(program: Program, state: RunState, turn: Turn) -> JsonObject:
    """What a search for memories is given."""
    memory = agent_in(program, turn).persona.memory
    limit = 0 if memory is None else memory.recall
    return {"query": state.talk.given[turn.number].said.text, "limit": limit}


def plan_recalled(state: RunState, token: Token, result: Json, now: int) -> list[d.Decision]:
    """Put recalled memories with the chat message, where they stay."""
    turn = turn_of(state, token)
    memories = [each for each in _memories(result) if isinstance(each.get("content"), str)]
    lines = [f"- ({each.get('type')}) {each['content']}" for each in memories]
    context = [_time(now), *([UserMessage("\n".join([RECALLED, *lines]))] if lines else [])]
    tainted = any(_is_tainted(each) for each in memories)
    recalled = tuple(str(each.get("id")) for each in memories)
    scores = tuple(_scores(each) for each in memories)
    scores = scores if any(scores) else ()
    done = d.RouteToken(token.id, token.node, "completed")
    return [done, d.PrepareTurn(turn.number, tuple(context), tainted=tainted, recalled=recalled, scores=scores)]


def _scores(memory: JsonObject) -> JsonObject:
    found = memory.get("scores")
    return found if isinstance(found, dict) else {}


def similar_input(state: RunState, turn: Turn) -> JsonObject:
    """What a search for memories that are similar to a turn is given: what was said in it."""
    shown = recent_turn(state, turn.number)
    replies = shown["replies"]
    texts = [shown["message"], *(replies if isinstance(replies, list) else ())]
    return {"query": " ".join(str(text) for text in texts)[:MOST_SAID], "limit": MOST_SIMILAR}


def plan_similar(state: RunState, token: Token, result: Json) -> list[d.Decision]:
    """Keep the memories that are similar to a turn, for the workflow that extracts memories from it."""
    memories = tuple(_memories(result))
    tainted = any(_is_tainted(each) for each in memories)
    done = d.RouteToken(token.id, token.node, "completed")
    return [done, d.RecallSimilar(turn_of(state, token).number, memories, tainted)]


def _memories(result: Json) -> list[JsonObject]:
    found = result.get("memories") if isinstance(result, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _is_tainted(memory: JsonObject) -> bool:
    source = memory.get("source")
    return isinstance(source, dict) and source.get("tainted") is True


def _time(now: int) -> UserMessage:
    return UserMessage(f"(It is {rfc3339(now)}.)")

"""Where a call belongs."""

import msgspec
import pytest

from jeton.model.failure import BrokenInvariant
from jeton.planning.program.workflow import Program
from jeton.planning.turns.places import (
    agent_in,
    call_of,
    kind_of_node,
    new_call,
    program_at,
    program_of,
    talk_of,
    tokens_of,
    tool_in,
    turn_of,
)
from tests.planning.given import workflow
from tests.planning.talking import BOB, agent, at_node, call, chat, says, talk

STATE = talk(BOB, chat(), says("", call("look"), call("pay", sum=1))).state()
TURN = STATE.talk.turns[1]
OTHER = agent("max_moves_per_turn: 3")


def other(_: int) -> Program:
    return OTHER


def versioned(version: int) -> Program:
    assert BOB.talk is not None
    return msgspec.structs.replace(BOB, talk=msgspec.structs.replace(BOB.talk, version=version, at=other))


def test_a_call_belongs_to_a_turn_a_move_and_a_position() -> None:
    place = call_of(STATE, at_node(STATE, "tool:pay"))
    assert (place.turn, place.move, place.position, place.call.name) == (TURN, 0, 1, "pay")
    assert turn_of(STATE, at_node(STATE, "tool:pay")) == TURN
    assert [token.node for token in tokens_of(STATE, 1)] == ["tool:look", "tool:pay"]
    assert tokens_of(STATE, 2) == []


def test_a_token_of_another_call_is_not_for_a_tool() -> None:
    state = talk(BOB, chat()).state()
    with pytest.raises(BrokenInvariant, match="not for a tool call"):
        call_of(state, at_node(state, "model"))


def test_a_turn_goes_on_with_the_version_that_it_began_with() -> None:
    begun = msgspec.structs.replace(TURN, version=2)
    assert program_of(versioned(2), begun).talk is not OTHER.talk
    assert program_of(versioned(3), begun) is OTHER
    assert agent_in(versioned(3), begun).persona.max_moves_per_turn == 3
    STATE.talk.turns[1] = begun
    assert program_at(versioned(3), STATE, at_node(STATE, "tool:look")) is OTHER
    STATE.talk.turns[1] = TURN


def test_an_agent_has_the_tools_of_its_persona_only() -> None:
    assert tool_in(BOB, TURN, "look") is not None
    assert tool_in(BOB, TURN, "gone") is None
    assert tool_in(BOB, msgspec.structs.replace(TURN, agent="amy"), "look") is None


def test_only_programs_of_agents_have_agents() -> None:
    with pytest.raises(BrokenInvariant, match="not of an agent"):
        talk_of(workflow("nodes: {a: {}}"))
    with pytest.raises(BrokenInvariant, match="not in the conversation"):
        agent_in(BOB, msgspec.structs.replace(TURN, agent="eve"))


def test_the_kind_of_a_call_is_before_the_colon() -> None:
    assert [kind_of_node(node) for node in ("model", "model:amy", "tool:look")] == ["model", "model", "tool"]


def test_new_calls_are_numbered_on() -> None:
    first, second = new_call(STATE, "tool:look", 1, 0, 0), new_call(STATE, "tool:look", 1, 0, 1, after=1)
    assert (second.token, first.path, second.path) == (first.token + 1, "turn.1.0.0", "turn.1.0.1")

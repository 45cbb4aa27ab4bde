"""The next step of a conversation's turns, decided from their state: a call, another move, a reply, or a wait."""

from jeton.model import decision as d
from jeton.model.state.run import RunState
from jeton.model.state.talk import Turn
from jeton.planning.program.workflow import Program
from jeton.planning.turns.ask import plan_ask
from jeton.planning.turns.chat import plan_next_turn
from jeton.planning.turns.context import plan_context
from jeton.planning.turns.places import agent_in, new_call, tokens_of
from jeton.planning.turns.stop import end_turn
from jeton.planning.turns.tools import plan_calls


def plan_turn(program: Program, state: RunState, number: int, now: int) -> list[d.Decision]:
    """Plan the next step of a turn, after something of it changed. Planning again without a change gives nothing."""
    turn = state.talk.turns.get(number)
    if turn is None or not turn.moving:
        return plan_next_turn(program, state, now)
    match turn.phase:
        case "assembling":
            return plan_context(program, state, turn, now)
        case "deciding":
            return [] if turn.asking or _is_compacting(state, turn) else plan_ask(program, state, turn, now)
        case "executing":
            return _plan_executing(program, state, turn, now)
        case "extracting":
            return _plan_extraction(program, state, turn, now)
        case _:
            return []


def _is_compacting(state: RunState, turn: Turn) -> bool:
    return any(token.node.startswith("compaction") for token in tokens_of(state, turn.number))


def _plan_executing(program: Program, state: RunState, turn: Turn, now: int) -> list[d.Decision]:
    """Start calls whose time has come; when all have answered, ask the model again, or let the turn end."""
    move = turn.moves - 1
    calls = state.talk.calls_of(turn.number, move)
    if any((turn.number, move, index) not in state.talk.results for index in range(len(calls))):
        return plan_calls(program, state, turn, now)
    text = state.talk.moves[turn.number, move].text
    spoke_only = not calls or (bool(text) and all(_is_started(state, turn, index) for index in range(len(calls))))
    if turn.steered or not spoke_only or (turn.came and not turn.background):
        return plan_ask(program, state, turn, now)
    if turn.background or turn.came:
        return [d.LingerTurn(turn.number)]
    return plan_end(program, state, turn, now)


def _is_started(state: RunState, turn: Turn, call: int) -> bool:
    """Whether a call of the last move is async, and was acknowledged: not one that could not be made."""
    place = turn.number, turn.moves - 1, call
    return place in turn.background or place in turn.came


def plan_end(program: Program, state: RunState, turn: Turn, now: int) -> list[d.Decision]:
    """Extract memories, if the agent has any, and end the turn."""
    persona = agent_in(program, turn).persona
    if persona.memory_extraction is not None or persona.memory is not None:
        return [d.ExtractTurn(turn.number)]
    return end_turn(state, turn, now, "completed")


def _plan_extraction(program: Program, state: RunState, turn: Turn, now: int) -> list[d.Decision]:
    """Begin extraction. A workflow is given the memories that are similar to the turn, so these are looked up first."""
    agent = agent_in(program, turn)
    calls = agent.node("similar"), agent.node("extraction")
    if any(token.node in calls for token in tokens_of(state, turn.number)):
        return []
    if agent.persona.memory_extraction is not None and turn.similar is None:
        return [new_call(state, agent.node("similar"), turn.number)]
    return [new_call(state, agent.node("extraction"), turn.number)]

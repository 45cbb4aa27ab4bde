"""Asking the model: what stands before its answer, and when it is asked for the last time."""

from collections.abc import Sequence

from jeton.model import decision as d
from jeton.model.chat import ToolResult, UserMessage
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunState
from jeton.model.state.talk import Turn
from jeton.model.transcript import json_text, plain_result, reads_tainted, said_text
from jeton.planning.program.workflow import Program
from jeton.planning.turns.places import agent_in, new_call
from jeton.planning.turns.window import plan_window

LATER = "Results of work that went on in the background:"
NUDGE = "Please answer."
LAST = "The limit of tool calls for this turn is reached. Answer now, without tools."


def plan_ask(program: Program, state: RunState, turn: Turn, now: int, *, nudge: bool = False) -> list[d.Decision]:
    """Ask the model for the turn's next move, with what was said and what came meanwhile."""
    agent = agent_in(program, turn)
    room = None if nudge else plan_window(program, state, turn, now)
    if room is not None:
        return room
    before, told = notes_of([state.talk.came[call].result for call in turn.came])
    before += [said_text(said) for said in turn.steered]
    latest = turn.steered[-1].text if turn.steered else None
    flags: list[d.Decision] = []
    last = turn.last
    if nudge:
        before.append(UserMessage(NUDGE))
    elif turn.moves >= agent.persona.max_moves_per_turn and not last:
        last = True
        before.append(UserMessage(LAST))
        flags.append(d.FlagTurn(turn.number, "move_limit"))
    tainted = not turn.tainted and reads_tainted(state.talk, turn.number)
    ask = d.AskModel(turn.number, turn.moves, tuple(before), tuple(told), latest, last, nudge, tainted)
    return [*flags, ask, new_call(state, agent.node("model"), turn.number)]


def notes_of(results: Sequence[ToolResult]) -> tuple[list[UserMessage], list[JsonObject]]:
    """One note with the results of async calls, if there are any, and the same for scripts."""
    if not results:
        return [], []
    lines = [f"- {result.id} ({result.name}): {_shown(result)}" for result in results]
    return [UserMessage("\n".join([LATER, *lines]))], [plain_result(result) for result in results]


def _shown(result: ToolResult) -> str:
    if result.error is None:
        return json_text(result.result)
    error: Json = {"code": result.error.code, "message": result.error.message}
    return f"error {json_text(error)}"

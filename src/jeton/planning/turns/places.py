"""Where a call belongs: its turn, the version that the turn began with, and the tokens that work for it."""

from typing import NamedTuple

from jeton.model.chat import ToolCall
from jeton.model.decision import CreateToken
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.ids import TokenId
from jeton.model.state.run import RunState, Token
from jeton.model.state.talk import Turn, call_path, place_of
from jeton.planning.program.talk import CompiledAgent, CompiledTool, TalkProgram
from jeton.planning.program.workflow import Program


class CallPlace(NamedTuple):
    """A tool call under way: its turn, the number of the move, its position, and the call."""

    turn: Turn
    move: int
    position: int
    call: ToolCall


def talk_of(program: Program) -> TalkProgram:
    """The compiled agent of a program."""
    if program.talk is None:
        raise BrokenInvariant("the program is not of an agent")
    return program.talk


def program_of(program: Program, turn: Turn) -> Program:
    """The program of the version that a turn began with."""
    talk = talk_of(program)
    if turn.version in (0, talk.version) or talk.at is None:
        return program
    found: Program = talk.at(turn.version)
    return found


def program_at(program: Program, state: RunState, token: Token) -> Program:
    """The program that a token's node is of: in a conversation, that of its turn."""
    turn = state.talk.turns.get(place_of(token.path)[0]) if program.talk is not None else None
    return program if turn is None else program_of(program, turn)


def agent_in(program: Program, turn: Turn) -> CompiledAgent:
    """The agent that answers in a turn."""
    agents = talk_of(program_of(program, turn)).agents
    if turn.agent not in agents:
        raise BrokenInvariant("the agent of a turn is not in the conversation", agent=turn.agent)
    return agents[turn.agent]


def tool_in(program: Program, turn: Turn, name: str) -> CompiledTool | None:
    """A tool that the agent of a turn has."""
    talk, agent = talk_of(program_of(program, turn)), agent_in(program, turn)
    return talk.tools.get(name) if name in agent.tools else None


def retries_all(program: Program, node: str, failure: TaskFailed) -> bool:
    """Whether a failed call is made again by the policy of its tool, which holds for every failure but these."""
    tool = talk_of(program).tools.get(node.removeprefix("tool:"))
    return tool is not None and tool.definition.retry is not None and failure.type not in _FINAL


_FINAL = ("input_invalid", "timed_out", "worker_lost")


def turn_of(state: RunState, token: Token) -> Turn:
    """The turn that a token works for."""
    return state.talk.turns[place_of(token.path)[0]]


def call_of(state: RunState, token: Token) -> CallPlace:
    """The tool call that a token is for."""
    number, move, index = place_of(token.path)
    if move is None or index is None:
        raise BrokenInvariant("the token is not for a tool call", token=token.id)
    return CallPlace(state.talk.turns[number], move, index, state.talk.calls_of(number, move)[index])


def tokens_of(state: RunState, turn: int) -> list[Token]:
    """The tokens that work for a turn."""
    return [token for token in state.tokens.values() if place_of(token.path)[0] == turn]


def kind_of_node(node: str) -> str:
    """The kind of call that a node stands for."""
    return node.partition(":")[0]


def new_call(
    state: RunState, node: str, turn: int, move: int | None = None, index: int | None = None, after: int = 0
) -> CreateToken:
    """A token for a call. `after`: how many tokens the same decisions create before it."""
    return CreateToken(TokenId(state.head.next_token + after), node, call_path(turn, move, index))

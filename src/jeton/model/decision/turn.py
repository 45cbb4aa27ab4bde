"""Decisions about the turns of a conversation."""

from typing import Literal, TypeAlias

from jeton.model.chat import ModelMessage, UserMessage
from jeton.model.decision.base import DecisionBase
from jeton.model.ids import TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.state.talk import Caller, CallResult, Given, Move, Said, TurnError, TurnStatus


class OpenConversation(DecisionBase, frozen=True, tag="open_conversation"):
    """The second decision of a conversation: whom it is with."""

    agent: str


class AddTurn(DecisionBase, frozen=True, tag="add_turn"):
    """Queue a turn for a chat message."""

    turn: int
    agent: str
    caller: Caller
    given: Given
    key: str | None = None
    beside: int | None = None  # the turn that looped this agent in, and waits for it


class BeginTurn(DecisionBase, frozen=True, tag="begin_turn"):
    """Begin a turn, with the newest version of the agent."""

    turn: int
    at: int
    version: int


class PrepareTurn(DecisionBase, frozen=True, tag="prepare_turn"):
    """What context assembly gave. The turn's first model call follows."""

    turn: int
    context: tuple[UserMessage, ...] = ()
    messages: tuple[ModelMessage, ...] | None = None
    instructions: str | None = None
    tools: tuple[str, ...] | None = None
    tainted: bool = False
    recalled: tuple[str, ...] = ()  # ids of memories
    scores: tuple[JsonObject, ...] = ()  # of these


class AskModel(DecisionBase, frozen=True, tag="ask_model"):
    """Ask the model for the next move. `before`: what stands before its answer, besides the results of tools.

    If the model was asked for this move before, it is added to what was asked then."""

    turn: int
    move: int
    before: tuple[UserMessage, ...] = ()
    told: tuple[JsonObject, ...] = ()
    latest: str | None = None  # the last chat message among it
    last: bool = False
    nudge: bool = False
    tainted: bool = False  # the request has something of another turn that is tainted


class RestartMove(DecisionBase, frozen=True, tag="restart_move"):
    """The model is asked again, because the worker was lost: what it streamed is void."""

    turn: int
    move: int
    delivery: int


class AddMove(DecisionBase, frozen=True, tag="add_move"):
    """Record the model's answer. `used`: entries of the profile's script."""

    turn: int
    number: int
    move: Move
    used: tuple[int, ...] = ()


class UseScript(DecisionBase, frozen=True, tag="use_script"):
    """Record entries of a script that were used for calls without an answer."""

    agent: str
    used: tuple[int, ...]


class AnswerCall(DecisionBase, frozen=True, tag="answer_call"):
    """Record the result of a tool call."""

    turn: int
    move: int
    call: int
    result: CallResult
    taints: bool = False


class HoldCall(DecisionBase, frozen=True, tag="hold_call"):
    """Let a call that may be made wait, because too many others are under way, or an exclusive one."""

    token: TokenId
    turn: int
    move: int
    call: int


class StartAsync(DecisionBase, frozen=True, tag="start_async"):
    """Acknowledge an async tool call, which goes on in the background."""

    turn: int
    move: int
    call: int


class KeepAsync(DecisionBase, frozen=True, tag="keep_async"):
    """The result of an async call has come; the model is told when it is the turn's time."""

    turn: int
    move: int
    call: int
    result: CallResult
    taints: bool = False


class SteerTurn(DecisionBase, frozen=True, tag="steer_turn"):
    """Give a turn that moves another chat message, for its next model call."""

    turn: int
    said: Said
    key: str | None = None


class LingerTurn(DecisionBase, frozen=True, tag="linger_turn"):
    """Only async work is left: other turns may move."""

    turn: int


class ExtractTurn(DecisionBase, frozen=True, tag="extract_turn"):
    """The turn has said everything; memories are extracted from it."""

    turn: int


class RecallSimilar(DecisionBase, frozen=True, tag="recall_similar"):
    """Keep the memories that are similar to a turn, for the workflow that extracts memories from it."""

    turn: int
    memories: tuple[JsonObject, ...]
    tainted: bool = False


class FlagTurn(DecisionBase, frozen=True, tag="flag_turn"):
    """Note an issue of a turn."""

    turn: int
    issue: str
    value: Json = True


class AllowTool(DecisionBase, frozen=True, tag="allow_tool"):
    """A person approved a tool for the whole conversation."""

    tool: str


class EditCall(DecisionBase, frozen=True, tag="edit_call"):
    """A person put another input in place of the model's."""

    turn: int
    move: int
    call: int
    input: Json


class JoinConversation(DecisionBase, frozen=True, tag="join_conversation"):
    """Another agent joins the conversation."""

    agent: str


class SpendBudget(DecisionBase, frozen=True, tag="spend_budget"):
    """Count what a model call cost."""

    turn: int
    millionths: int  # of a credit
    upkeep: bool = False  # of memory or the window, and of no move


class AddBudget(DecisionBase, frozen=True, tag="add_budget"):
    """A person gave more credits."""

    turn: int
    credits: int


class ShrinkWindow(DecisionBase, frozen=True, tag="shrink_window"):
    """Let the turns up to this one leave the window; `summary` stands for all turns that left it."""

    upto: int
    why: Literal["recent_turns", "compacted", "left_out"]
    summary: str | None = None
    tainted: bool = False  # the summary is made from a turn that is tainted


class ShortenResults(DecisionBase, frozen=True, tag="shorten_results"):
    """Give the large results of answers before this place in the window as previews from now on."""

    turn: int
    upto: int


class CompactTurn(DecisionBase, frozen=True, tag="compact_turn"):
    """Make a turn's next request shorter, before the model is asked. `refused`: the provider said it was too long."""

    turn: int
    refused: bool = False


class EndTurn(DecisionBase, frozen=True, tag="end_turn"):
    """End a turn, and tell its caller."""

    turn: int
    at: int
    status: TurnStatus
    error: TurnError | None = None
    text: str = ""  # the reply that the caller is given
    data: Json = None


TurnDecision: TypeAlias = (
    OpenConversation
    | AddTurn
    | BeginTurn
    | PrepareTurn
    | AskModel
    | RestartMove
    | AddMove
    | UseScript
    | AnswerCall
    | HoldCall
    | StartAsync
    | KeepAsync
    | SteerTurn
    | LingerTurn
    | ExtractTurn
    | RecallSimilar
    | FlagTurn
    | AllowTool
    | EditCall
    | JoinConversation
    | SpendBudget
    | AddBudget
    | ShrinkWindow
    | ShortenResults
    | CompactTurn
    | EndTurn
)

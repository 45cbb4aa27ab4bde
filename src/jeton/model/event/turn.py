"""Facts about the turns of a conversation."""

from typing import TypeAlias

from jeton.model.chat import Attachment, TokenUsage, ToolError
from jeton.model.event.base import FactBase
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.state.talk import TurnError


class ConversationOpened(FactBase, frozen=True, tag="conversation.opened"):
    """A conversation with an agent began."""

    agent: str


class MessageAdded(FactBase, frozen=True, tag="message.added"):
    """Somebody said something: `by` is a user or an agent."""

    turn: int
    by: str | None
    text: str
    attachments: tuple[Attachment, ...] = ()
    move: int | None = None
    interrupted: bool = False


class TurnQueued(FactBase, frozen=True, tag="turn.queued"):
    """A turn waits for its time."""

    turn: int
    agent: str


class TurnStarted(FactBase, frozen=True, tag="turn.started"):
    """A turn began."""

    turn: int
    version: int


class TurnPrepared(FactBase, frozen=True, tag="turn.prepared"):
    """The context of a turn is assembled."""

    turn: int
    recalled: tuple[str, ...] = ()


class TurnSteered(FactBase, frozen=True, tag="turn.steered"):
    """A turn that moves was given another chat message."""

    turn: int


class TurnLingering(FactBase, frozen=True, tag="turn.lingering"):
    """Only async work of a turn is left."""

    turn: int


class TurnExtracting(FactBase, frozen=True, tag="turn.extracting"):
    """Memories are extracted from a turn."""

    turn: int


class TurnFlagged(FactBase, frozen=True, tag="turn.flagged"):
    """Something of a turn did not go well."""

    turn: int
    issue: str
    value: Json = True


class TurnCompacting(FactBase, frozen=True, tag="turn.compacting"):
    """Older turns are summarised, before the model is asked."""

    turn: int


class BudgetAdded(FactBase, frozen=True, tag="turn.budget_added"):
    """A person gave a turn more credits."""

    turn: int
    credits: int


class TurnCompleted(FactBase, frozen=True, tag="turn.completed"):
    """A turn ended well."""

    turn: int


class TurnFailed(FactBase, frozen=True, tag="turn.failed"):
    """A turn ended with an error."""

    turn: int
    error: TurnError | None = None


class TurnCancelled(FactBase, frozen=True, tag="turn.cancelled"):
    """A turn was stopped."""

    turn: int
    error: TurnError | None = None


class TurnExhausted(FactBase, frozen=True, tag="turn.exhausted"):
    """A turn ended because its budget, or the account's credits, were used up."""

    turn: int
    error: TurnError | None = None


class MoveStarted(FactBase, frozen=True, tag="move.started"):
    """The model is asked."""

    turn: int
    move: int


class MoveRestarted(FactBase, frozen=True, tag="move.restarted"):
    """The model is asked again, because the worker was lost. What was streamed before is void."""

    turn: int
    move: int
    delivery: int


class MoveCompleted(FactBase, frozen=True, tag="move.completed"):
    """The model answered."""

    turn: int
    move: int
    profile: str
    model: str
    usage: TokenUsage
    calls: int


class MoveInterrupted(FactBase, frozen=True, tag="move.interrupted"):
    """The turn ended before the model's answer was whole."""

    turn: int
    move: int


class ToolCalled(FactBase, frozen=True, tag="move.tool_called"):
    """The model called a tool."""

    turn: int
    move: int
    call: int
    tool: str
    input: Json = None


class ToolStarted(FactBase, frozen=True, tag="move.tool_started"):
    """An async tool call goes on in the background, and the model is told so."""

    turn: int
    move: int
    call: int


class InputEdited(FactBase, frozen=True, tag="move.input_edited"):
    """A person put another input in place of the model's."""

    turn: int
    move: int
    call: int
    input: Json


class ToolAllowed(FactBase, frozen=True, tag="conversation.tool_allowed"):
    """A person approved a tool for the whole conversation."""

    tool: str


class ToolAnswered(FactBase, frozen=True, tag="move.tool_answered"):
    """A tool call has its result. `later`: it was async, and the model was told before that it had started."""

    turn: int
    move: int
    call: int
    tool: str
    error: ToolError | None = None
    later: bool = False


class AgentAsked(FactBase, frozen=True, tag="agent.asked"):
    """A token asked an agent, and waits for the end of the turn."""

    token: TokenId
    conversation: RunId
    agent: str


class AgentJoined(FactBase, frozen=True, tag="agent.joined"):
    """An agent joined the conversation."""

    agent: str


class AgentStopped(FactBase, frozen=True, tag="agent.stopped"):
    """A turn that a token waited for was stopped."""

    token: TokenId
    conversation: RunId
    reason: str


class ResultsShortened(FactBase, frozen=True, tag="window.results_shortened"):
    """Large results of older tool calls are given to models as previews from now on."""

    turn: int


class WindowShrunk(FactBase, frozen=True, tag="window.shrunk"):
    """Turns up to this one left the window that models are given."""

    upto: int
    why: str


TurnFact: TypeAlias = (
    ConversationOpened
    | MessageAdded
    | TurnQueued
    | TurnStarted
    | TurnPrepared
    | TurnSteered
    | TurnLingering
    | TurnExtracting
    | TurnFlagged
    | TurnCompacting
    | BudgetAdded
    | TurnCompleted
    | TurnFailed
    | TurnCancelled
    | TurnExhausted
    | MoveStarted
    | MoveRestarted
    | MoveCompleted
    | MoveInterrupted
    | ToolCalled
    | ToolStarted
    | InputEdited
    | ToolAllowed
    | ToolAnswered
    | AgentAsked
    | AgentJoined
    | AgentStopped
    | ResultsShortened
    | WindowShrunk
)

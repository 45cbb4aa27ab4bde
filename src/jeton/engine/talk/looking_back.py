"""Looking back at conversations: forks before a turn, replays, scripts, and what a model was given."""

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET

from jeton.actor.replay import replay
from jeton.actor.starts import NewFork
from jeton.engine.arguments import MOST_ROWS, check_maybe_texts, check_whole
from jeton.engine.lookup import Lookup
from jeton.engine.talk.conversations import Conversations
from jeton.engine.views.conversation import MoveView, ToolCallView, TurnView, WaitView
from jeton.model.chat import ModelMessage
from jeton.model.decision import AddMove, AskModel, PrepareTurn, ShrinkWindow
from jeton.model.entry import Entry
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.reference import name_of
from jeton.model.state.run import Head
from jeton.model.state.talk import Given, RecordedCall, Said, TalkFork
from jeton.model.transcript import messages_of

ToolsMode: TypeAlias = Literal["recorded", "live"]


class Difference(msgspec.Struct, frozen=True):
    """What differs between a turn and its replay: text, calls, tokens, credits or status, before and after."""

    what: Literal["status", "text", "calls", "tokens", "credits"]
    before: Json
    after: Json


class ReplayedTurn(msgspec.Struct, frozen=True):
    """A turn that was replayed, in a conversation of its own."""

    turn: int
    conversation_id: RunId
    same: bool
    differences: tuple[Difference, ...]


class MoveExplanation(msgspec.Struct, frozen=True):
    """What a model was given for a move, and what was left out."""

    turn: int
    move: int
    instructions: str | None  # None: the persona's
    messages: tuple[ModelMessage, ...]
    tools: tuple[str, ...] | None  # None: the persona's
    recalled: tuple[str, ...]  # ids of memories
    scores: tuple[JsonObject, ...]  # of these memories
    summarised_turns: int  # turns up to this one stand in the summary
    left_out_turns: int  # turns up to this one were left out
    answered_by: str | None
    waiting_for: tuple[WaitView, ...]  # who is waited for now, if the turn is active


class LookingBack:
    """Forks, replays and explains conversations."""

    def __init__(self, lookup: Lookup, conversations: Conversations) -> None:
        self._lookup = lookup
        self.conversations = conversations
        self._host = lookup.host

    async def fork(
        self,
        conversation: str,
        turn: int,
        *,
        message: str | None = None,
        persona: str | None = None,
        profile: str | None = None,
        tools: ToolsMode = "recorded",
    ) -> RunId:
        """Begin a conversation that shares this one's history before a turn, and goes on with that turn."""
        check_whole("turn", turn, 1, MOST_ROWS)
        check_maybe_texts(message=message, persona=persona, profile=profile)
        view = await self.conversations.view(conversation)
        found = next((each for each in view.turns if each.id == turn), None)
        if found is None:
            raise Refused("unknown_turn", f"the conversation has no turn {turn}", "see its turns with show")
        said = Said(found.message if message is None else message, self._host.now(), None, found.attachments)
        recorded = tuple(_recorded(call) for move in found.moves for call in move.tool_calls)
        given = Given(said, profile=profile, recorded=recorded if tools == "recorded" else None)
        row = await self.conversations.row(conversation)
        if persona is not None or profile is not None:
            given = await self._with_persona(row.workflow, given, persona, profile)
        fork = TalkFork(turn, found.agent, given)
        return await self._host.fork(NewFork(row.run, 0, talk=fork))

    async def _with_persona(self, workflow: str, given: Given, persona: str | None, profile: str | None) -> Given:
        """What a turn is given with another persona or model profile, from the agent's newest version."""
        library, _ = await self._lookup.bundle(workflow)
        if profile is not None and profile not in library.model_profiles:
            raise Refused("unknown_profile", f"there is no model profile '{profile}'", "name one of the project's")
        if persona is None:
            return given
        found = library.personas.get(persona)
        if found is None:
            known = ", ".join(sorted(library.personas))
            remedy = f"deploy it with the agent, and give it only tools that the agent has; there are: {known}"
            raise Refused("unknown_persona", f"the agent was deployed without a persona '{persona}'", remedy)
        return msgspec.structs.replace(
            given,
            instructions=found.instructions,
            tools=tuple(name_of(tool) for tool in found.tools),
            profile=profile or name_of(found.model_profile),
        )

    async def replay(
        self,
        conversation: str,
        *,
        persona: str | None = None,
        profile: str | None = None,
        tools: ToolsMode = "recorded",
        timeout: float | None = None,
    ) -> tuple[ReplayedTurn, ...]:
        """Fork every turn that has ended, and say what differs."""
        view = await self.conversations.view(conversation)
        replayed = list[ReplayedTurn]()
        for before in [turn for turn in view.turns if turn.phase == "ended" and turn.began_at is not None]:
            fork = await self.fork(conversation, before.id, persona=persona, profile=profile, tools=tools)
            after = await self.conversations.turn(fork, before.id, -1, timeout)
            differences = differences_between(before, after)
            replayed.append(ReplayedTurn(before.id, fork, not differences, differences))
        return tuple(replayed)

    async def script(self, conversation: str) -> list[JsonObject]:
        """The answers of the conversation's models, as entries of a script."""
        row = await self.conversations.row(conversation)
        entries = await self._host.reads.entries(row.run)
        moves = [each for entry in entries for each in entry.decisions if isinstance(each, AddMove)]
        return [_script_entry(each) for each in moves if each.move.text or each.move.calls]

    async def explain(self, conversation: str, turn: int, move: int) -> MoveExplanation:
        """What the model was given for a move."""
        row = await self.conversations.row(conversation)
        entries = await self._host.reads.entries(row.run)
        shared, answered_by = _history_to(entries, turn, move)
        live = replay(Head(row.run, row.workflow, row.version), shared)
        talk, given = live.state.talk, live.state.talk.given[turn]
        prepared = [
            each for entry in shared for each in entry.decisions if isinstance(each, PrepareTurn) and each.turn == turn
        ]
        return MoveExplanation(
            turn,
            move,
            given.instructions,
            tuple(messages_of(talk, turn)),
            () if talk.turns[turn].last else given.tools,
            prepared[-1].recalled if prepared else (),
            prepared[-1].scores if prepared else (),
            talk.head.summarised,
            max(talk.head.left_out, _left(shared)),
            answered_by,
            await self._waited_for(conversation, turn),
        )

    async def _waited_for(self, conversation: str, turn: int) -> tuple[WaitView, ...]:
        view = await self.conversations.view(conversation)
        return tuple(wait for each in view.turns if each.id == turn for wait in each.waiting_for)


def _recorded(call: ToolCallView) -> RecordedCall:
    result = call.later if call.later is not UNSET else call.result
    return RecordedCall(call.name, call.input, None if result is UNSET else result, call.error)


def differences_between(before: TurnView, after: TurnView) -> tuple[Difference, ...]:
    """What differs between a turn and its replay."""
    found = list[Difference]()
    if before.status != after.status:
        found.append(Difference("status", before.status, after.status))
    if before.replies != after.replies:
        found.append(Difference("text", list(before.replies), list(after.replies)))
    calls, others = _calls(before.moves), _calls(after.moves)
    if calls != others:
        found.append(Difference("calls", calls, others))
    if before.usage != after.usage:
        found.append(Difference("tokens", msgspec.to_builtins(before.usage), msgspec.to_builtins(after.usage)))
    credits, other = (sum(move.credits for move in turn.moves) for turn in (before, after))
    if credits != other:
        found.append(Difference("credits", credits, other))
    return tuple(found)


def _calls(moves: list[MoveView]) -> list[Json]:
    return [{"name": call.name, "input": call.input} for move in moves for call in move.tool_calls]


def _script_entry(added: AddMove) -> JsonObject:
    move = added.move
    entry: JsonObject = {}
    if move.text:
        entry["text"] = move.text
    if move.calls:
        entry["tool_calls"] = [{"name": call.name, "input": call.input} for call in move.calls]
    usage: Json = {"input_tokens": move.usage.input_tokens, "output_tokens": move.usage.output_tokens}
    return {**entry, "usage": usage}


def _history_to(entries: list[Entry], turn: int, move: int) -> tuple[list[Entry], str | None]:
    """The entries up to where the model was last asked for a move, and which profile answered."""
    asked, answered_by = None, None
    for index, entry in enumerate(entries):
        for position, decision in enumerate(entry.decisions):
            if isinstance(decision, AskModel) and (decision.turn, decision.move) == (turn, move):
                asked = index, position
            if isinstance(decision, AddMove) and (decision.turn, decision.number) == (turn, move):
                answered_by = decision.move.profile
    if asked is None:
        raise Refused("unknown_turn", f"the conversation has no move {move} of turn {turn}", "see it with show")
    index, position = asked
    last = msgspec.structs.replace(entries[index], decisions=entries[index].decisions[: position + 1])
    return [*entries[:index], last], answered_by


def _left(entries: list[Entry]) -> int:
    """The last turn that left the window because of its length."""
    shrunk = [each.upto for entry in entries for each in entry.decisions if isinstance(each, ShrinkWindow)]
    return max(shrunk, default=0)

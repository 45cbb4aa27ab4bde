"""What a model is given of a conversation: one pure function from the turns in the window to messages.

Everything stands in the order in which it was said or given, and nothing that was given once changes, so each request
begins with the one before it until the window shrinks. Each tool call has one result, in order.
"""

from collections.abc import Iterable, Sequence

import msgspec

from jeton.model.chat import (
    AssistantMessage,
    ModelMessage,
    ScriptPlace,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.preview import fitted
from jeton.model.state.run import RunState, Token
from jeton.model.state.talk import CallResult, Given, Move, Said, TalkState, Turn, place_of

_encode = msgspec.json.Encoder(order="sorted").encode

SUMMARY = "Summary of the conversation before this point:\n"
PREVIEW_BYTES = 1_000  # of an old result, when room is needed
LEFT_OUT = "(Earlier turns of this conversation are left out here.)"


def messages_of(talk: TalkState, number: int) -> list[ModelMessage]:
    """The messages of a turn's next model call."""
    turn, given = talk.turns[number], talk.given[number]
    if given.messages is not None:
        before = given.messages[:-1] if _has_message(given) else given.messages
        messages = [*before, *_own(given)]
        for move in range(turn.moves):
            messages += _of_move(talk, number, move)
    else:
        messages = [*_before_window(talk), *_window(talk, turn)]
    return [*messages, *turn.asked]


def depth_of(state: RunState, turn: Turn) -> int:
    """How many runs and agents wait for each other down to a turn."""
    return max(state.head.depth, turn.caller.depth)


def waiting_for(state: RunState, token: Token) -> tuple[tuple[RunId, TokenId], ...]:
    """The conversations that wait for what a token calls, and the calls by which they do."""
    head = state.head
    if not state.has_talk:
        return () if head.parent is None else head.parent.waiting
    place = place_of(token.path)
    turn = state.talk.turns.get(place[0])
    if turn is None:
        return ((head.run, token.id),)
    found = dict.fromkeys(turn.caller.waiting)
    for other in state.talk.turns.values() if place not in turn.background else ():
        if other.phase in ("queued", "lingering"):  # it goes on when this turn has the answer
            found.update(dict.fromkeys(other.caller.waiting))
    return (*found, (head.run, token.id))


def reads_tainted(talk: TalkState, number: int) -> bool:
    """Whether what a turn is given has something of another turn that is tainted: its words, results, or a summary."""
    others = (turn for other, turn in talk.turns.items() if other != number and turn.began_at is not None)
    return talk.head.tainted or any(turn.tainted for turn in others)


def script_place(talk: TalkState, number: int) -> ScriptPlace:
    """Where a turn is in the script of a profile."""
    turn = talk.turns[number]
    results: list[JsonObject] = []
    if turn.moves:
        calls = talk.calls_of(number, turn.moves - 1)
        found = [talk.results.get((number, turn.moves - 1, index)) for index in range(len(calls))]
        results = [plain_result(each.result) for each in found if each is not None]
    return ScriptPlace(
        used=talk.head.script.get(turn.agent, ()),
        message=turn.latest or talk.given[number].said.text,
        moves=turn.moves,
        tool_results=(*results, *turn.told),
    )


def model_input(talk: TalkState, path: str) -> JsonObject:
    """The input of a turn's model call: what differs from call to call. Persona, tools and profile are fixed."""
    number = place_of(path)[0]
    turn, given = talk.turns[number], talk.given[number]
    found: JsonObject = {
        "messages": msgspec.to_builtins(messages_of(talk, number)),
        "script": msgspec.to_builtins(script_place(talk, number)),
        "turn": number,
        "move": turn.moves,
    }
    if turn.last:
        found["tools"] = []
    elif given.tools is not None:
        found["tools"] = list(given.tools)
    if given.instructions is not None:
        found["instructions"] = given.instructions
    if given.profile is not None:
        found["profile"] = given.profile
    if given.output_schema is not None:
        found["output_schema"] = given.output_schema
    return found


def unpaired(messages: Iterable[ModelMessage]) -> str | None:
    """What is wrong with the pairs of tool calls and results; None if each call has one result, in order."""
    open_calls: tuple[str, ...] = ()
    seen: set[str] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            results = tuple(result.id for result in message.results)
            if results != open_calls:
                return f"the calls {list(open_calls)} have the results {list(results)}"
            open_calls = ()
            continue
        if open_calls:
            return f"the calls {list(open_calls)} have no results"
        if isinstance(message, AssistantMessage):
            open_calls = tuple(call.id for call in message.calls)
            if len(set(open_calls)) < len(open_calls) or seen & set(open_calls):
                return f"an id of {list(open_calls)} is used twice"
            seen.update(open_calls)
    return f"the calls {list(open_calls)} have no results" if open_calls else None


def chat_text(given: Given) -> UserMessage:
    """A turn's chat message, as a model is given it."""
    return said_text(given.said)


def said_text(said: Said) -> UserMessage:
    """A chat message, with the data that came with it."""
    if said.data is None:
        return UserMessage(said.text, said.attachments)
    data = _encode(said.data).decode()
    return UserMessage(f"{said.text}\n\nData:\n{data}" if said.text else data, said.attachments)


def _before_window(talk: TalkState) -> list[ModelMessage]:
    head = talk.head
    left_out = [UserMessage(LEFT_OUT)] if head.left_out else []
    return [*left_out, UserMessage(f"{SUMMARY}{head.summary}")] if head.summary else [*left_out]


def added_since(talk: TalkState, number: int, place: int) -> list[ModelMessage]:
    """What a turn's next model call has that was not there when the answer at this place was given."""
    turn = talk.turns[number]
    results = [
        message
        for (each, move), answer in talk.moves.items()
        if answer.order == place
        for message in _of_move(talk, each, move)
        if isinstance(message, ToolMessage)
    ]
    return [*results, *_window(talk, turn, place + 1), *turn.asked]


def _window(talk: TalkState, current: Turn, since: int = 0) -> list[ModelMessage]:
    """Everything in the window that was said or given so far, in order. `since`: only from this place on."""
    items: list[tuple[int, Sequence[ModelMessage]]] = []
    for number, turn in talk.turns.items():
        if turn.began_at is None or _was_asked_by(current.agent, turn):
            continue  # it is queued, or was withdrawn; or the agent has its answer as the result of a call
        ours, said = turn.agent == current.agent, _said_in(talk, turn)
        items.append((turn.order, [*talk.given[number].context, said] if ours else [said]))
        for index in range(turn.moves):
            move = talk.moves[number, index]
            items.append((move.order, _of_move(talk, number, index) if ours else _overheard(move)))
    items.sort(key=lambda item: item[0])
    upto = current.place
    return [
        message
        for place, messages in items
        if place >= since and (upto is None or place < upto)
        for message in messages
    ]


def _was_asked_by(agent: str, turn: Turn) -> bool:
    """Whether this agent looped the agent of a turn in."""
    return turn.beside is not None and turn.caller.agent == agent


def _said_in(talk: TalkState, turn: Turn) -> UserMessage:
    """A turn's chat message, with its name if an agent of this conversation said it."""
    said, agent = chat_text(talk.given[turn.number]), turn.caller.agent
    if agent is None or agent not in (talk.head.agent, *talk.head.participants):
        return said
    return UserMessage(f"{agent}: {said.text}", said.attachments)


def _own(given: Given) -> list[ModelMessage]:
    return [*given.context, chat_text(given)]


def _overheard(move: Move) -> list[ModelMessage]:
    """What another agent said. Its calls are its own: this one has not the tools, and the results come later."""
    return [UserMessage(f"{move.by}: {move.text}")] if move.text else []


def _has_message(given: Given) -> bool:
    """Whether an assembled context ends with the turn's chat message already."""
    last = given.messages[-1] if given.messages else None
    return isinstance(last, UserMessage) and last.text.strip() == given.said.text.strip()


def _of_move(talk: TalkState, turn: int, number: int) -> list[ModelMessage]:
    """What stood before an answer, the answer, and the results of its calls. Calls without a result are left out."""
    move = talk.moves[turn, number]
    answered: list[tuple[ToolCall, CallResult]] = []
    for index, call in enumerate(move.calls):
        result = talk.results.get((turn, number, index))
        if result is not None:
            answered.append((call, result))
    messages: list[ModelMessage] = [*move.before]
    if move.text or answered:
        messages.append(AssistantMessage(move.text, tuple(call for call, _ in answered), move.sealed))
    if answered:
        short = move.order < talk.head.shortened
        messages.append(ToolMessage(tuple(_told(result, short) for _, result in answered)))
    return messages


def _told(found: CallResult, short: bool) -> ToolResult:
    """A result as the model is told of it: also that a person changed the input."""
    result = found.result
    value = fitted(result.result, PREVIEW_BYTES) if short else result.result
    if found.edited is None:
        return ToolResult(result.id, result.name, value, result.error)
    shown: Json = value if result.error is None else {"error": msgspec.to_builtins(result.error)}
    return ToolResult(result.id, result.name, {"input_changed_by_a_person_to": found.edited, "result": shown})


def is_large(found: CallResult) -> bool:
    """Whether a result becomes shorter as a preview."""
    return len(_encode(found.result.result)) > PREVIEW_BYTES


def plain_result(result: ToolResult) -> JsonObject:
    """A result as scripts read it."""
    if result.error is not None:
        error: JsonObject = {"code": result.error.code, "message": result.error.message}
        return {"name": result.name, "error": error | {"retriable": result.error.retriable}}
    return {"name": result.name, "result": result.result}


def json_text(value: Json) -> str:
    """A value as text, the same for equal values."""
    return value if isinstance(value, str) else _encode(value).decode()


def text_size(message: ModelMessage) -> int:
    """About how many bytes of text a message has."""
    return len(_encode(message))

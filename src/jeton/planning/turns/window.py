"""The window: which turns a model is given, and when older ones leave it."""

from collections.abc import Iterable

from jeton.model import decision as d
from jeton.model.chat import ModelMessage
from jeton.model.definition.agent import Persona
from jeton.model.definition.profile import ModelProfile
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunState
from jeton.model.state.talk import TalkState, Turn
from jeton.model.transcript import added_since, is_large, messages_of, text_size
from jeton.planning.program.talk import CompiledAgent
from jeton.planning.program.workflow import Program
from jeton.planning.turns.places import agent_in, new_call, tokens_of

FULL = 0.8  # of the context window, less room for the answer
ANSWER_TOKENS = 1_024  # room for the answer, where the profile does not say
BYTES_PER_TOKEN = 4


def plan_window(program: Program, state: RunState, turn: Turn, now: int) -> list[d.Decision] | None:
    """Make room before a model call: older turns leave, old results are shortened, or older turns summarised.

    None if there is room, or none can be made."""
    talk, agent = state.talk, agent_in(program, turn)
    leaving = past_recent(talk, agent.persona)
    if leaving is not None:
        return [d.ShrinkWindow(leaving, "recent_turns")]
    if not is_full(talk, turn, agent):
        return None
    return plan_shorter_results(talk, turn) or plan_compaction(program, state, turn)


def plan_too_long(program: Program, state: RunState, turn: Turn) -> list[d.Decision] | None:
    """Make a request shorter that a provider refused, by all means at once. None if that cannot be done."""
    results = plan_shorter_results(state.talk, turn) or []
    summary = plan_compaction(program, state, turn, refused=True)
    if summary is None and results:
        summary = [d.CompactTurn(turn.number, refused=True)]
    return None if summary is None else [*results, *summary]


def plan_shorter_results(talk: TalkState, turn: Turn) -> list[d.Decision] | None:
    """Have large results given as previews, but for those that the model has not read yet. None if there are none."""
    newest = talk.moves[turn.number, turn.moves - 1].order if turn.moves else turn.order
    old = [place for place, move in talk.moves.items() if talk.head.shortened <= move.order < newest]
    if not any(is_large(result) for (*place, _), result in talk.results.items() if tuple(place) in old):
        return None
    return [d.ShortenResults(turn.number, newest)]


def past_recent(talk: TalkState, persona: Persona) -> int | None:
    """The last turn of the older half, if there are more ended turns than the persona's `recent_turns`."""
    ended = sorted(number for number, turn in talk.turns.items() if turn.phase == "ended")
    if len(ended) <= persona.recent_turns:
        return None
    return ended[(len(ended) - 1) // 2]


def is_full(talk: TalkState, turn: Turn, agent: CompiledAgent) -> bool:
    """Whether the next request would fill the model's context window too much."""
    profile = agent.profile
    if profile.context_window is None:
        return False
    return estimate(talk, turn, agent) > FULL * profile.context_window - answer_room(profile)


def answer_room(profile: ModelProfile) -> int:
    """The tokens of the longest answer."""
    limit = profile.parameters.get("max_tokens")
    return limit if isinstance(limit, int) else ANSWER_TOKENS


def estimate(talk: TalkState, turn: Turn, agent: CompiledAgent) -> int:
    """About how many tokens the next request has: what the last one had, and what is new; or all of it, by its size."""
    known = talk.head.measured.get(turn.agent)
    if known is not None and talk.given[turn.number].messages is None:
        tokens, place = known
        return tokens + _tokens(added_since(talk, turn.number, place))
    return _tokens(messages_of(talk, turn.number)) + agent.overhead // BYTES_PER_TOKEN


def _tokens(messages: Iterable[ModelMessage]) -> int:
    return sum(text_size(message) for message in messages) // BYTES_PER_TOKEN


def plan_compaction(program: Program, state: RunState, turn: Turn, *, refused: bool = False) -> list[d.Decision] | None:
    """Have the older turns summarised; None if there are none to summarise."""
    ended = sorted(number for number, each in state.talk.turns.items() if each.phase == "ended")
    if not ended or any(token.node.startswith("compaction") for token in tokens_of(state, turn.number)):
        return None
    return [
        d.CompactTurn(turn.number, refused),
        new_call(state, agent_in(program, turn).node("compaction"), turn.number, ended[-1]),
    ]


def compaction_input(state: RunState, upto: int) -> JsonObject:
    """What a compaction is given: the turns that are to leave the window, and the summary so far."""
    talk = state.talk
    turns: list[Json] = []
    for number in sorted(talk.turns):
        turn = talk.turns[number]
        if number > upto or turn.phase != "ended" or turn.began_at is None:
            continue
        moves: list[Json] = []
        for index in range(turn.moves):
            move = talk.moves[number, index]
            moves.append({"text": move.text, "tools": [call.name for call in move.calls]})
        turns.append({"turn": number, "message": talk.given[number].said.text, "moves": moves})
    return {"turns": turns, "summary": talk.head.summary}

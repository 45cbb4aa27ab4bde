"""Chat messages: a turn of their own, more for a turn that moves, or the end of it; and whose time it is."""

from collections.abc import Iterable
from difflib import get_close_matches

from msgspec.structs import replace

from jeton.model import decision as d
from jeton.model.ids import TokenId
from jeton.model.message import ChatSent, ForkRun, StopTurn
from jeton.model.state.phase import WaitingForGate
from jeton.model.state.run import RunState
from jeton.model.state.talk import Caller, Given, Move, Said, TalkFork, Turn, TurnError, place_of
from jeton.planning.program.workflow import Program
from jeton.planning.turns.approval import refuse_call
from jeton.planning.turns.ask import plan_ask
from jeton.planning.turns.places import new_call, talk_of, tokens_of
from jeton.planning.turns.stop import end_turn
from jeton.planning.turns.waiters import CIRCLE, tell_those_ahead, waits_here


def plan_chat(program: Program, state: RunState, message: ChatSent) -> list[d.Decision]:
    """Queue a turn for a chat message, steer the turn that moves, or interrupt it; and reply."""
    if program.talk is None:
        error = TurnError("not_a_conversation", f"run {state.head.run} is not a conversation")
        return [] if message.caller.token is None else [d.RefuseChat(message.at, message.caller, error)]
    talk = state.talk
    known = None if message.key is None else talk.turn_of_key(message.key)
    if known is not None:
        return [d.ReplyTo(message.id, accepted=True, why="known", turn=known)]
    agent = message.to or talk.head.agent
    agents = talk_of(program).agents
    present = (talk.head.agent, *(each for each in talk.head.participants if each in agents))
    joins = message.caller.run == state.head.run and agent not in present and agent in agents
    if agent not in present and not joins:
        return _refused(message, agent, present)
    inside = message.caller.run == state.head.run  # a turn of it looped an agent in, whose turn goes first
    if not inside and waits_here(state, message.caller.waiting):
        error = TurnError("waits_for_itself", CIRCLE)
        return [d.ReplyTo(message.id, accepted=False, why=CIRCLE), d.RefuseChat(message.at, message.caller, error)]
    caller = _caller(state, message)
    said = Said(message.text, message.at, caller.agent or caller.user, message.attachments, message.data)
    moving = talk.moving()
    decisions: list[d.Decision] = [d.JoinConversation(agent)] if joins else []
    if not inside and moving is not None and message.when_busy == "steer" and moving.phase != "extracting":
        steered = [d.SteerTurn(moving.number, said, message.key), *_refuse_open(program, state, moving, message.text)]
        return [*steered, d.ReplyTo(message.id, accepted=True, turn=moving.number)]
    if not inside and message.when_busy == "interrupt":
        error = TurnError("interrupted", "another message came in its place")
        decisions += _stopped(state, [turn for turn in talk.active() if turn.moving], message, error)
        moving = None
    number = talk.head.next_turn
    given = Given(said, message.output_schema)
    waits = not inside and moving is not None
    return [
        *decisions,
        d.AddTurn(number, agent, caller, given, message.key, _beside(state, message) if inside else None),
        *(tell_those_ahead(state, number, caller.waiting, message.at) if waits else ()),
        d.ReplyTo(message.id, accepted=True, turn=number),
    ]


def _refused(message: ChatSent, agent: str, present: tuple[str, ...]) -> list[d.Decision]:
    """Refuse a chat message to an agent that is not here. A token that waits for the answer is told too."""
    near = get_close_matches(agent, present, 1)
    remedy = f"write to {', '.join(near or present)}"
    why = f"'{agent}' has not joined this conversation"
    reply = d.ReplyTo(message.id, accepted=False, why=why, code="unknown_agent", remedy=remedy)
    if message.caller.token is None:
        return [reply]
    return [reply, d.RefuseChat(message.at, message.caller, TurnError("unknown_agent", why))]


def plan_talk_fork(state: RunState, message: ForkRun, fork: TalkFork) -> list[d.Decision]:
    """Go on with another turn in place of those from its number on. What was under way in the history is dropped."""
    shift = max(0, message.at - message.since)
    dropped = tuple(sorted(state.tokens))
    history = d.ForkHistory(message.at, message.run, message.entry, shift, dropped=dropped, turn=fork.turn)
    return [history, d.AddTurn(fork.turn, fork.agent, fork.caller, fork.given)]


def _beside(state: RunState, message: ChatSent) -> int | None:
    """The turn that waits for an agent that was looped in. For an async call, it is who waits for the calling turn."""
    caller = message.caller
    turn, token = state.talk.turns.get(caller.turn or 0), state.tokens.get(caller.token or TokenId(0))
    if turn is None or token is None:
        return None  # it has ended, and a message that stops this one is under way
    return turn.beside if place_of(token.path) in turn.background else turn.number


def _caller(state: RunState, message: ChatSent) -> Caller:
    """Who says it: if nobody is named, the user that the conversation was begun for."""
    caller = message.caller
    user = state.input.get("user") if isinstance(state.input, dict) else None
    named = caller.user is not None or caller.agent is not None or caller.run is not None
    return caller if named or not isinstance(user, str) else replace(caller, user=user)


def _refuse_open(program: Program, state: RunState, turn: Turn, reason: str) -> list[d.Decision]:
    """Refuse the approvals that are open in a turn, because a person said something else instead."""
    return [
        decision
        for token in tokens_of(state, turn.number)
        if type(token.phase) is WaitingForGate and token.node.startswith("tool:")
        for decision in refuse_call(program, state, token, reason)
    ]


def plan_stop(program: Program, state: RunState, message: StopTurn) -> list[d.Decision]:
    """Stop one turn, or all that have begun, or the one that a token of another run asked for."""
    active = state.talk.active()
    if message.run is not None:
        found = [turn for turn in active if (turn.caller.run, turn.caller.token) == (message.run, message.token)]
    elif message.turn is not None:
        found = [turn for turn in active if turn.number == message.turn]
    else:
        found = [turn for turn in active if turn.phase != "queued"]
    error = TurnError("cancelled", message.reason or "the turn was stopped")
    stopped = _stopped(state, found, message, error)
    if not message.id:
        return stopped
    if not found:
        why = "no turn moves" if message.turn is None else f"turn {message.turn} is not active"
        return [d.ReplyTo(message.id, accepted=False, why=why, code="turn_ended", remedy="see its turns with show")]
    return [*stopped, d.ReplyTo(message.id, accepted=True, turn=found[-1].number)]


def _stopped(
    state: RunState, turns: Iterable[Turn], message: ChatSent | StopTurn, error: TurnError
) -> list[d.Decision]:
    """Stop turns. What the user has seen of an answer stays."""
    seen = {(each.turn, each.move): each.text for each in message.seen}
    decisions: list[d.Decision] = []
    for turn in turns:
        text = seen.get((turn.number, turn.moves)) if turn.asking else None
        said = Move(text=text, by=turn.agent, interrupted=True) if text else None
        decisions += end_turn(state, turn, message.at, "cancelled", error, said=said)
    return decisions


def plan_next_turn(program: Program, state: RunState, now: int) -> list[d.Decision]:
    """Begin the next turn, or go on with a lingering one that has results, if no turn moves.

    While a turn moves, only those of agents that it looped in go on, one at a time, because it waits for them."""
    moving = state.talk.moving()
    for turn in state.talk.active():
        if moving is not None and turn.beside != moving.number:
            continue
        if turn.phase == "queued":
            return _begin(program, state, turn, now)
        if turn.phase == "lingering" and turn.came:
            return plan_ask(program, state, turn, now)
    return _plan_close(state, now)


def _plan_close(state: RunState, now: int) -> list[d.Decision]:
    """End a conversation that an agent began to ask something, when it has its answer."""
    parent, talk = state.head.parent, state.talk
    if parent is None or parent.speaker is None or talk.head.next_turn == 1 or talk.active():
        return []
    return [d.EndRun(now, "completed", untold=True)]


def _begin(program: Program, state: RunState, turn: Turn, now: int) -> list[d.Decision]:
    talk = talk_of(program)
    agent = talk.agents.get(turn.agent)
    if agent is None:
        error = TurnError("unknown_agent", f"the newest version of '{talk.agent}' has no agent '{turn.agent}'")
        return end_turn(state, turn, now, "failed", error)
    begun: list[d.Decision] = [d.BeginTurn(turn.number, now, talk.version)]
    if agent.persona.turn_timeout_ms is not None:
        begun.append(new_call(state, agent.node("timeout"), turn.number))
    return begun

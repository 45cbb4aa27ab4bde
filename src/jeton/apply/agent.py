"""Decisions about asking agents: what they change, and the facts they make true."""

from msgspec.structs import replace

from jeton.apply.draft import Draft
from jeton.apply.rule import no_facts, rule
from jeton.apply.turn import put_turn
from jeton.model import decision as d
from jeton.model import event as ev
from jeton.model.effect import SendMessage
from jeton.model.failure import BrokenInvariant
from jeton.model.ids import RunId, TokenId
from jeton.model.message import ChatSent, StartRun, TurnOver, WaitersAdded
from jeton.model.state.phase import WaitingForAgent, WaitingForSubworkflow
from jeton.model.state.run import Parent
from jeton.model.state.talk import Caller
from jeton.model.transcript import depth_of, waiting_for


def _call_agent(draft: Draft, decision: d.CallAgent) -> None:
    """Ask an agent and wait for it, in one commit. Its messages have the id of the token, so a second is ignored."""
    token, head = draft.token(decision.token), draft.state.head
    head.executions += 1
    phase = WaitingForAgent(decision.at, decision.conversation, decision.agent, decision.deadline)
    draft.put_token(replace(token, phase=phase))
    if decision.deadline is not None:
        draft.timers.watch_token(decision.deadline, decision.at, token.id)
    _ask_agent(draft, decision)


def _ask_agent(draft: Draft, decision: d.CallAgent) -> None:
    """The messages that begin the conversation, if it is new, and ask for a turn."""
    head = draft.state.head
    token = draft.token(decision.token)
    turn = draft.turn_of(token)
    depth, speaker = head.depth if turn is None else depth_of(draft.state, turn), draft.speaker(token)
    caller = Caller(
        user=None if turn is None else turn.caller.user,
        run=head.run,
        token=decision.token,
        agent=None if turn is None else turn.agent,
        turn=None if turn is None else turn.number,
        depth=depth + 1,
        tainted=speaker is not None and speaker.tainted,
        waiting=waiting_for(draft.state, token),
    )
    if decision.new:
        by_agent = None if turn is None else speaker  # such a conversation ends with its turn
        parent = Parent(head.run, decision.token, head.root, depth + 1, speaker=by_agent)
        account = None if head.purse is None else head.purse.account or head.run
        start = StartRun(decision.at, None, f"agent:{decision.agent}", parent, account=account)
        draft.effects.append(SendMessage(decision.conversation, start))
    said, key = decision.said, f"{head.run}:{decision.token}"
    if token.attempt > 1:
        key = f"{key}:{token.attempt}"
    chat = ChatSent(
        decision.at,
        key,
        said.text,
        caller,
        said.attachments,
        key,
        to=None if decision.new else decision.agent,
        data=said.data,
        output_schema=decision.output_schema,
    )
    draft.effects.append(SendMessage(decision.conversation, chat))


def _stop_agent(draft: Draft, decision: d.StopAgent) -> None:
    token = draft.token(decision.token)
    if not isinstance(token.phase, WaitingForAgent):
        raise BrokenInvariant("the token does not wait for an agent", token=token.id)
    draft.stop_agent(token.id, decision.conversation, decision.reason)


def _refuse_chat(draft: Draft, decision: d.RefuseChat) -> None:
    caller = decision.caller
    if caller.run is None or caller.token is None:
        raise BrokenInvariant("nobody waits for an answer")
    over = TurnOver(decision.at, caller.token, draft.state.head.run, 0, "failed", error=decision.error)
    draft.effects.append(SendMessage(caller.run, over))


def _add_waiters(draft: Draft, decision: d.AddWaiters) -> None:
    head = draft.state.head
    turn = None if decision.turn is None else draft.state.talk.turns[decision.turn]
    if turn is not None:
        more = replace(turn.caller, waiting=_both(turn.caller.waiting, decision.waiting))
        put_turn(draft, replace(turn, caller=more))
    elif head.parent is not None:
        head.parent = replace(head.parent, waiting=_both(head.parent.waiting, decision.waiting))
    for number in decision.tokens:
        phase = draft.token(number).phase
        if not isinstance(phase, WaitingForAgent | WaitingForSubworkflow):
            raise BrokenInvariant("the token waits for no run and for no agent", token=number)
        to = phase.conversation if isinstance(phase, WaitingForAgent) else phase.child
        draft.effects.append(SendMessage(to, WaitersAdded(decision.at, decision.waiting, head.run, number)))


def _both(
    known: tuple[tuple[RunId, TokenId], ...], more: tuple[tuple[RunId, TokenId], ...]
) -> tuple[tuple[RunId, TokenId], ...]:
    return (*known, *(each for each in more if each not in known))


RULES = (
    rule(d.CallAgent, _call_agent, lambda x: (ev.AgentAsked(x.token, x.conversation, x.agent),)),
    rule(d.StopAgent, _stop_agent, lambda x: (ev.AgentStopped(x.token, x.conversation, x.reason),)),
    rule(d.RefuseChat, _refuse_chat, no_facts, 0),
    rule(d.AddWaiters, _add_waiters, no_facts, 0),
)

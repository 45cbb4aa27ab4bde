"""Decisions about credits: what they change, and the facts they make true."""

import msgspec

from jeton.apply.draft import Draft
from jeton.apply.rule import no_facts, rule
from jeton.model import decision as d
from jeton.model import event as ev
from jeton.model.effect import SendMessage
from jeton.model.failure import BrokenInvariant
from jeton.model.message import CreditsAsked, CreditsClosed, CreditsEnded, CreditsGranted
from jeton.model.state.credits import Purse
from jeton.model.state.phase import Pending, WaitingForSubworkflow


def _reserve_credits(draft: Draft, decision: d.ReserveCredits) -> None:
    draft.touched.usage = True
    purse, token = _purse(draft), draft.token(decision.token)
    if decision.amount > purse.free or token.reserved:
        raise BrokenInvariant("the price is paid already, or exceeds the purse", token=token.id)
    draft.state.head.purse = msgspec.structs.replace(
        purse, free=purse.free - decision.amount, used=purse.used + decision.amount
    )
    draft.put_token(msgspec.structs.replace(token, reserved=decision.amount))


def _settle_credits(draft: Draft, decision: d.SettleCredits) -> None:
    draft.touched.usage = True
    purse, token = _purse(draft), draft.token(decision.token)
    if not 0 <= decision.refund <= token.reserved:
        raise BrokenInvariant("the refund exceeds the price paid", token=token.id)
    draft.state.head.purse = msgspec.structs.replace(
        purse,
        free=purse.free + decision.refund,
        used=purse.used - decision.refund,
        shortfall=purse.shortfall + decision.shortfall,
    )
    draft.put_token(msgspec.structs.replace(token, reserved=token.reserved - decision.refund, cost=None))


def _await_credits(draft: Draft, _decision: d.AwaitCredits) -> None:
    draft.state.head.purse = msgspec.structs.replace(_purse(draft), awaiting=True)


def _ask_for_credits(draft: Draft, decision: d.AskForCredits) -> None:
    purse, head = _purse(draft), draft.state.head
    if purse.account is None or purse.asked:
        raise BrokenInvariant("the run has no account, or has asked already", asked=purse.asked)
    head.purse = msgspec.structs.replace(purse, asked=decision.amount)
    draft.effects.append(SendMessage(purse.account, CreditsAsked(decision.at, head.run, decision.amount)))


def _take_credits(draft: Draft, decision: d.TakeCredits) -> None:
    purse, head = _purse(draft), draft.state.head
    dry = head.entries if decision.amount < purse.asked else None
    head.purse = msgspec.structs.replace(purse, free=purse.free + decision.amount, asked=0, awaiting=False, dry=dry)


def _declare_short(draft: Draft, _decision: d.DeclareShort) -> None:
    """Tell the child runs, which begin nothing new either."""
    draft.state.head.purse = msgspec.structs.replace(_purse(draft), short=True, awaiting=False)
    for token in draft.state.tokens.values():
        if isinstance(token.phase, WaitingForSubworkflow):
            draft.effects.append(SendMessage(token.phase.child, CreditsEnded(draft.now)))


def _lend_credits(draft: Draft, decision: d.LendCredits) -> None:
    """Answer even with nothing: the run below waits for it."""
    purse, lent = _purse(draft), draft.state.lent
    if not 0 <= decision.amount <= purse.free:
        raise BrokenInvariant("the loan exceeds the purse", free=purse.free, amount=decision.amount)
    draft.state.head.purse = msgspec.structs.replace(purse, free=purse.free - decision.amount)
    if decision.amount:
        draft.put(lent, decision.run, lent.get(decision.run, 0) + decision.amount)
        draft.touched.rest.lent.add(decision.run)
    draft.effects.append(SendMessage(decision.run, CreditsGranted(draft.now, decision.amount)))


def _reclaim_credits(draft: Draft, decision: d.ReclaimCredits) -> None:
    purse = _purse(draft)
    lent = draft.drop(draft.state.lent, decision.run)
    draft.touched.rest.lent.add(decision.run)
    if decision.used > lent:
        raise BrokenInvariant("a run used more than it was lent", run=decision.run, used=decision.used, given=lent)
    draft.state.head.purse = msgspec.structs.replace(
        purse, free=purse.free + lent - decision.used, below=purse.below + decision.used
    )


def _undo_call(draft: Draft, decision: d.UndoCall) -> None:
    """Make the token pending again. A retry makes the call, and pays for it, again."""
    token, flow = draft.token(decision.token), draft.state.flow
    if not isinstance(token.phase, WaitingForSubworkflow):
        raise BrokenInvariant("the token waits for no child", token=token.id)
    draft.put_token(msgspec.structs.replace(token, phase=Pending(), reserved=0))
    if decision.node in flow.executing:
        draft.drop(flow.executing, decision.node)
        draft.touched.rest.nodes.add(decision.node)


def close_purse(draft: Draft, at: int) -> None:
    """Report the run's use to its account, which takes the rest back."""
    purse, head = draft.state.head.purse, draft.state.head
    if purse is not None and purse.account is not None:
        draft.effects.append(SendMessage(purse.account, CreditsClosed(at, head.run, purse.used)))
        head.purse = msgspec.structs.replace(purse, free=0, asked=0)


def forked_purse(draft: Draft, credits: int) -> None:
    """Start a fork's purse: empty if an account pays, else with what the run had left and the new credits.

    Credits lent to runs below are not counted: they may have been spent."""
    purse = draft.state.head.purse
    for run in list(draft.state.lent):
        draft.drop(draft.state.lent, run)
        draft.touched.rest.lent.add(run)
    if purse is not None:
        free = 0 if purse.account is not None else purse.free + credits
        draft.state.head.purse = Purse(purse.account, free=free)


def _purse(draft: Draft) -> Purse:
    purse = draft.state.head.purse
    if purse is None:
        raise BrokenInvariant("the run has no purse")
    return purse


RULES = (
    rule(d.ReserveCredits, _reserve_credits, lambda x: (ev.CreditsReserved(x.token, x.node, x.amount),)),
    rule(
        d.SettleCredits,
        _settle_credits,
        lambda x: (ev.CreditsSettled(x.token, x.node, x.cost, x.refund, x.shortfall),),
    ),
    rule(d.AwaitCredits, _await_credits, no_facts, 0),
    rule(d.AskForCredits, _ask_for_credits, lambda x: (ev.CreditsRequested(x.amount),)),
    rule(d.TakeCredits, _take_credits, lambda x: (ev.CreditsReceived(x.amount),)),
    rule(d.DeclareShort, _declare_short, lambda x: (ev.CreditsShort(x.missing),)),
    rule(d.LendCredits, _lend_credits, lambda x: (ev.CreditsLent(x.run, x.amount),)),
    rule(d.ReclaimCredits, _reclaim_credits, lambda x: (ev.CreditsReturned(x.run, x.used),)),
    rule(d.UndoCall, _undo_call, no_facts, 0),
)

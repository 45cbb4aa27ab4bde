"""Decisions about the budget that an agent has for a day: what they change. They make no facts."""

from msgspec.structs import replace

from jeton.apply.draft import Draft
from jeton.apply.rule import no_facts, rule
from jeton.apply.turn import put_turn, settled
from jeton.model import decision as d
from jeton.model.cue import TokenReady
from jeton.model.effect import SendMessage
from jeton.model.failure import BrokenInvariant
from jeton.model.message import BudgetAsked, BudgetSettled
from jeton.model.state.day_budget import DAYS, DayBudget
from jeton.model.state.phase import Pending
from jeton.model.state.talk import place_of


def _ask_budget(draft: Draft, decision: d.AskBudget) -> None:
    turn = draft.state.talk.turns[decision.turn]
    if turn.day is not None and turn.day.phase != "short":
        raise BrokenInvariant("the turn has asked already, or has what it asked for", turn=turn.number)
    put_turn(draft, replace(turn, day=DayBudget(decision.day, decision.millionths)))
    run = draft.state.head.run
    asked = BudgetAsked(decision.at, run, turn.number, turn.agent, decision.day, decision.millionths, decision.limit)
    draft.effects.append(SendMessage(DAYS, asked))


def _take_budget(draft: Draft, decision: d.TakeBudget) -> None:
    """Keep the answer, and have the call that waited for it begin."""
    turn = draft.state.talk.turns[decision.turn]
    if turn.day is None or turn.day.phase != "asked":
        raise BrokenInvariant("the turn has not asked", turn=turn.number)
    phase = "granted" if decision.granted else "short"
    put_turn(draft, replace(turn, day=replace(turn.day, phase=phase, used=decision.used, limit=decision.limit)))
    for token in draft.state.tokens.values():
        if isinstance(token.phase, Pending) and place_of(token.path)[0] == turn.number:
            draft.ready.append(TokenReady(token.id))


def _settle_budget(draft: Draft, decision: d.SettleBudget) -> None:
    put_turn(draft, settled(draft, draft.state.talk.turns[decision.turn], decision.at))


def _return_budget(draft: Draft, decision: d.ReturnBudget) -> None:
    back = BudgetSettled(decision.at, decision.agent, decision.day, decision.millionths)
    draft.effects.append(SendMessage(DAYS, back))


RULES = (
    rule(d.AskBudget, _ask_budget, no_facts, 0),
    rule(d.TakeBudget, _take_budget, no_facts, 0),
    rule(d.SettleBudget, _settle_budget, no_facts, 0),
    rule(d.ReturnBudget, _return_budget, no_facts, 0),
)

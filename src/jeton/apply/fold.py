"""The rules of all decisions in one table, by kind."""

from collections.abc import Iterable

from jeton.apply import agent, budget, credits, flow, fork, group, run, token, turn, waits
from jeton.apply.draft import Draft
from jeton.apply.rule import Rule
from jeton.model.decision import Decision
from jeton.model.decision.base import DecisionBase
from jeton.model.failure import BrokenInvariant

RULES: dict[type[DecisionBase], Rule] = {
    rule.kind: rule
    for subject in (token, group, run, waits, flow, credits, fork, turn, agent, budget)
    for rule in subject.RULES
}
_FOLDS = {kind: rule.fold for kind, rule in RULES.items()}


def fold(draft: Draft, decision: Decision) -> None:
    """Make one decision true. Raises BrokenInvariant if the state contradicts it."""
    fold_all(draft, (decision,))


def fold_all(draft: Draft, decisions: Iterable[Decision]) -> None:
    """Make decisions true, one after another."""
    head = draft.state.head
    for decision in decisions:
        if head.ended_at is not None:
            raise BrokenInvariant("the run has ended", decision=type(decision).__name__)
        _FOLDS[type(decision)](draft, decision)

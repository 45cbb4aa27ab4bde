"""The facts that decisions make true. They are read from the journal on request; a commit only counts them."""

from collections.abc import Iterable

from jeton.apply.fold import RULES
from jeton.model.decision import Decision
from jeton.model.entry import Entry
from jeton.model.event import Event, Fact
from jeton.model.ids import RunId

_FIXED = {kind: rule.count for kind, rule in RULES.items() if isinstance(rule.count, int)}
_COUNTED = {kind: rule.count for kind, rule in RULES.items() if not isinstance(rule.count, int)}


def events_of(run: RunId, entry: Entry) -> list[Event]:
    """An entry's events, numbered from where its sequence begins."""
    facts = [fact for decision in entry.decisions for fact in facts_of(decision)]
    return [Event(entry.first_event + i, entry.at, run, fact) for i, fact in enumerate(facts)]


def facts_of(decision: Decision) -> Iterable[Fact]:
    """What became true, in order."""
    return RULES[type(decision)].facts(decision)


def count_events(decisions: Iterable[Decision]) -> int:
    """The number of facts, without making them."""
    counted = 0
    for decision in decisions:
        kind = type(decision)
        counted += _FIXED[kind] if kind in _FIXED else _COUNTED[kind](decision)
    return counted

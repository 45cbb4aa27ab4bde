"""The table of rules is closed: no type checker sees a table, so these tests do."""

from typing import get_args

from jeton.apply import agent, budget, credits, flow, fork, group, run, token, turn, waits
from jeton.apply.fold import RULES
from jeton.model import decision, event
from jeton.model.decision import Decision
from jeton.model.decision.base import DecisionBase
from jeton.model.event import Fact
from jeton.model.event.base import FactBase

SUBJECTS = (run, token, group, waits, flow, credits, fork, turn, agent, budget)


def test_every_decision_has_a_fold_and_facts() -> None:
    assert set(RULES) == set(get_args(Decision))


def test_every_decision_has_one_rule_in_the_module_of_its_subject() -> None:
    for subject in SUBJECTS:
        name = subject.__name__.rpartition(".")[2]
        union = getattr(decision, f"{name.capitalize()}Decision")
        assert {rule.kind for rule in subject.RULES} == set(get_args(union) or (union,))
    assert sum(len(subject.RULES) for subject in SUBJECTS) == len(RULES)


def test_every_class_of_a_decision_or_fact_is_in_its_union() -> None:
    assert set(DecisionBase.__subclasses__()) == set(get_args(Decision))
    assert set(FactBase.__subclasses__()) == set(get_args(Fact))


def test_every_decision_and_fact_is_exported_under_its_own_name() -> None:
    assert all(getattr(decision, kind.__name__) is kind for kind in get_args(Decision))
    assert all(getattr(event, kind.__name__) is kind for kind in get_args(Fact))

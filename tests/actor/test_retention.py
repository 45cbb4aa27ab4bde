"""Which runs a rule is about, and what is left of pruned entries."""

import pytest

from jeton.actor.journal import decode_entry
from jeton.actor.retention import EndedRun, OldFiring, Rule, Summary, firing_prunable, prunable, summarise
from jeton.model import message as m
from jeton.model.definition.workflow import Foreach, Node, Transition
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.state.run import TERMINAL, RunStatus
from tests.actor.journal import WORK, Journal, done, program

RUNNING: frozenset[RunStatus] = frozenset({"running"})


@pytest.mark.parametrize(
    ("rule", "all_runs"),
    [
        pytest.param(Rule("run", 0), True, id="without a condition"),
        pytest.param(Rule("run", 0, TERMINAL | RUNNING), True, id="every status that a run can end with"),
        pytest.param(Rule("run", 0, frozenset({"failed"})), False, id="some statuses"),
        pytest.param(Rule("run", 0, workflow="w"), False, id="one workflow"),
    ],
)
def test_whether_a_rule_is_about_all_runs(rule: Rule, all_runs: bool) -> None:
    assert rule.of_all_runs == all_runs


def ended(status: RunStatus = "completed", *, at: int = 100, awaited: bool = False) -> EndedRun:
    return EndedRun(0, RunId("r"), "w", status, at, awaited)


@pytest.mark.parametrize(
    ("rule", "run", "then"),
    [
        pytest.param(Rule("run", 50), ended(), True, id="a run that ended just long enough ago"),
        pytest.param(Rule("run", 51), ended(), False, id="not one that ended later"),
        pytest.param(Rule("run", 0), ended(awaited=True), False, id="not one that a trigger has yet to fire for"),
        pytest.param(Rule("run", 0, frozenset({"failed"})), ended(), False, id="not one with another status"),
        pytest.param(Rule("run", 0, RUNNING), ended("running"), False, id="not one that has not ended"),
        pytest.param(Rule("run", 0, workflow="w"), ended(), True, id="one of the workflow"),
        pytest.param(Rule("run", 0, workflow="v"), ended(), False, id="not one of another workflow"),
    ],
)
def test_which_runs_are_pruned(rule: Rule, run: EndedRun, then: bool) -> None:
    assert prunable(rule, run, now=150) == then


@pytest.mark.parametrize(
    ("rule", "firing", "then"),
    [
        pytest.param(Rule("run", 0), OldFiring(0, 0, False, False, False), True, id="its run is gone"),
        pytest.param(Rule("run", 0), OldFiring(0, 0, False, True, False), False, id="its run is there"),
        pytest.param(Rule("run", 0), OldFiring(0, 0, False, False, True), False, id="the latest of its trigger"),
        pytest.param(Rule("run", 0), OldFiring(0, 0, True, False, False), True, id="refused"),
        pytest.param(
            Rule("run", 0, workflow="w"), OldFiring(0, 0, True, False, False), False, id="refused, one workflow"
        ),
    ],
)
def test_which_firings_are_pruned(rule: Rule, firing: OldFiring, then: bool) -> None:
    assert firing_prunable(rule, firing) == then


@pytest.mark.parametrize("cut", range(5))
def test_a_summary_counts_tokens_by_node_and_end_however_the_entries_are_split(cut: int) -> None:
    journal = Journal(program(Transition("s", "w", foreach=Foreach("input.items")), s=Node(), w=WORK))
    journal.tell(m.StartRun(0, {"items": [1, 2, 3]}))
    journal.tell(done(1))
    journal.tell(m.TaskFinished(5, TokenId(2), 1, failure=TaskFailed("no", "no")))
    entries = [decode_entry(body) for body in journal.entries]
    summary = Summary()
    for part in (entries[:cut], entries[cut:]):
        summarise(summary, RunId("r"), part)
    assert summary.tokens == {"s": {"completed": 1}, "w": {"completed": 1, "failed": 1, "cancelled": 1}}
    assert summary.events == journal.run.state.head.events
    assert summary.alive == {}


def test_tokens_whose_end_is_further_on_are_kept_in_mind() -> None:
    journal = Journal(program(a=WORK))
    journal.tell(m.StartRun(0, {}))
    summary = Summary()
    summarise(summary, RunId("r"), map(decode_entry, journal.entries))
    assert (summary.tokens, summary.alive) == ({}, {TokenId(0): "a"})

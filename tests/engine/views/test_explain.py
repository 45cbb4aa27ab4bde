"""Why a run, a token or a transition did what it did."""

from collections.abc import Callable

import pytest

from jeton.engine.views.explain import RunExplained, explain_run, explain_token, explain_transition, explained
from jeton.engine.views.explain.explain import RunHistory
from jeton.engine.views.explain.views import Verdict
from jeton.hosts.simulated.script import Answer, ScriptedCall
from jeton.hosts.simulated.world import World
from jeton.model.failure import Refused, TaskFailed
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from tests.engine.views.journals import FAILS, PANEL, WORK, branches_take, told, up_to


def forked(*ways: JsonObject, first_match: bool = False) -> JsonObject:
    """A workflow that works at `a` and then chooses among the ways."""
    others: JsonObject = {str(way["to"]): {} for way in ways}
    start: JsonObject = {**WORK, "fan_out": "first_match"} if first_match else WORK
    return {"initial_node": "a", "nodes": {**others, "a": start}, "transitions": [*ways]}


def way(to: str, condition: Json = True, priority: int = 1) -> JsonObject:
    return {"from": "a", "to": to, "condition": condition, "priority": priority}


def verdicts(run: RunHistory) -> list[tuple[str, Verdict]]:
    return [(seen.to, seen.verdict) for seen in explain_run(run).routings[0].considered]


@pytest.mark.parametrize(
    ("workflow", "answer", "then"),
    [
        pytest.param(
            forked(way("b", "result.n > 3"), way("c", priority=2)),
            Answer({"n": 5}),
            [("b", "matched"), ("c", "tier_decided")],
            id="a tier that matched leaves the next unasked",
        ),
        pytest.param(
            forked(way("b", "result.n > 3"), way("c", priority=2)),
            Answer({"n": 1}),
            [("b", "false"), ("c", "matched")],
            id="a false condition leads to the default",
        ),
        pytest.param(
            forked(way("b", "result.deep.n > 3"), way("c", priority=2)),
            Answer({}),
            [("b", "missing"), ("c", "matched")],
            id="a missing path makes a condition false",
        ),
        pytest.param(
            forked(way("b"), way("c", "has(state._last_error)", 2)),
            FAILS,
            [("b", "not_for_failures"), ("c", "matched")],
            id="after a failure only those that speak of it are asked",
        ),
        pytest.param(
            forked(way("b", "result.n > 3"), way("c", "result.n > 4")),
            Answer({"n": 1}),
            [("b", "false"), ("c", "false")],
            id="a run that found no way says so for each",
        ),
        pytest.param(
            forked(way("b", "result.n / result.zero > 1"), way("c", priority=2)),
            Answer({"n": 1, "zero": 0}),
            [("b", "error"), ("c", "not_reached")],
            id="a condition that cannot be evaluated ends the run",
        ),
        pytest.param(
            forked(way("b", "result.n > 3"), way("c", "result.n / result.zero > 1"), way("d", priority=2)),
            Answer({"n": 1, "zero": 0}),
            [("b", "false"), ("c", "error"), ("d", "not_reached")],
            id="what was evaluated before it keeps its verdict",
        ),
        pytest.param(
            forked(way("b"), way("c"), first_match=True),
            Answer({}),
            [("b", "matched"), ("c", "not_first")],
            id="first_match looks no further",
        ),
    ],
)
def test_what_was_considered(workflow: JsonObject, answer: Answer, then: list[tuple[str, Verdict]]) -> None:
    assert verdicts(told(workflow, answers={"a": answer})) == then


def test_a_condition_is_shown_with_the_values_it_read_at_that_time() -> None:
    loop: JsonObject = {
        "initial_node": "a",
        "nodes": {"a": {"output_mapping": {"state.n": "has(state.n) ? state.n + 1 : 1"}}, "b": {}},
        "transitions": [
            {"from": "a", "to": "a", "condition": "state.n < 3", "loop_config": {"max_iterations": 9}},
            {"from": "a", "to": "b", "priority": 2},
        ],
    }
    asked = [routing.considered[0] for routing in explain_run(told(loop)).routings[:3]]
    assert [(seen.verdict, seen.values, seen.iterations) for seen in asked] == [
        ("matched", {"state.n": 1}, 0),
        ("matched", {"state.n": 2}, 1),
        ("false", {"state.n": 3}, 2),
    ]


def test_a_used_up_loop_is_out() -> None:
    loop = forked({"from": "a", "to": "a", "loop_config": {"max_iterations": 1}}, way("b", priority=2))
    last = [r for r in explain_run(told(loop)).routings if r.node == "a"][-1]
    assert [(seen.verdict, seen.iterations) for seen in last.considered] == [
        ("loop_limit_reached", 1),
        ("matched", None),
    ]


def test_the_item_of_a_branch_is_among_the_values() -> None:
    workflow: JsonObject = {
        "initial_node": "s",
        "nodes": {"s": {}, "a": {}, "b": {}},
        "transitions": [
            {"from": "s", "to": "a", "foreach": {"collection": "[10, 20]", "item_var": "size"}},
            {"from": "a", "to": "b", "condition": "size > 15"},
        ],
        "on_no_match": "complete",
    }
    second = next(r for r in explain_run(told(workflow)).routings if r.node == "a" and r.token == 2)
    assert second.considered[0].values == {"size": 20}


def waiting_panel() -> RunExplained:
    panel = told(PANEL, {"judges": ["a", "b", "c"]}, {"judge": branches_take(9, 1, 5)})
    return explain_run(up_to(panel, 2))


def test_a_fan_in_says_who_came_who_may_come_and_how_many_it_takes() -> None:
    (fan_in,) = waiting_panel().fan_ins
    assert (fan_in.node, fan_in.strategy, fan_in.needed) == ("tally", "2 of n", 2)
    assert (fan_in.arrived, fan_in.live, fan_in.lost, fan_in.total) == (1, 2, 0, 3)
    assert fan_in.waits_for == (1, 3)


def test_everybody_under_way_says_what_it_waits_for() -> None:
    waits = waiting_panel().waits
    assert [(wait.token, wait.kind) for wait in waits] == [(1, "worker"), (2, "siblings"), (3, "worker")]
    assert waits[1].fan_in is not None


def test_a_lost_branch_is_counted() -> None:
    def first_fails(call: ScriptedCall) -> Answer:
        return FAILS if call.path.endswith("0") else Answer({}, takes_ms=9)

    panel = told(PANEL, {"judges": ["a", "b", "c", "d"]}, {"judge": first_fails})
    then = next(run for n in range(len(panel.entries)) if (run := explain_run(up_to(panel, n))).fan_ins)
    assert then.fan_ins[0].lost == 1


def test_a_timer_says_when_it_is_due() -> None:
    nap = told({"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 5, "label": "a nap"}}}})
    (wait,) = explain_run(up_to(nap, 1)).waits
    assert wait.due is not None
    assert (wait.kind, wait.label, (wait.due - wait.since).total_seconds()) == ("timer", "a nap", 5)


def test_a_retry_says_which_attempt_comes() -> None:
    task: Json = {
        "steps": [{"action": WORK["action"], "on_failure": "retry"}],
        "retry": {"max_attempts": 2, "initial_delay_ms": 1000},
    }
    again = Answer(failure=TaskFailed("broken", "it broke", retry=True), takes_ms=1)
    tries = told({"initial_node": "a", "nodes": {"a": {"task": task}}}, answers={"a": again})
    (wait,) = explain_run(up_to(tries, 2)).waits
    assert (wait.kind, wait.attempt) == ("retry", 2)


def test_a_cancelled_token_says_who_asked() -> None:
    def cancel(world: World) -> None:
        world.cancel(RunId("r"), "no longer needed", after_ms=50)

    nap = told({"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 60}}}}, meanwhile=cancel)
    cancelled = explain_token(nap, 0).cancelled
    assert cancelled is not None
    assert (cancelled.status, cancelled.request) == ("cancelled", "no longer needed")


def test_paths_that_were_missing_are_listed_for_nodes_and_for_the_output() -> None:
    workflow: JsonObject = {
        "initial_node": "a",
        "nodes": {"a": {"output_mapping": {"state.x": "input.nothing"}}},
        "output_mapping": {"y": "state.never"},
    }
    missing = explain_run(told(workflow)).missing
    assert [(found.node, found.paths) for found in missing] == [("a", ("input.nothing",)), (None, ("state.never",))]


def test_a_transition_lists_every_time_it_was_asked() -> None:
    found = explain_transition(told(forked(way("b", "result.n > 3"), way("c", priority=2)), answers={}), 0)
    assert (found.source, found.to, found.condition) == ("a", "b", "result.n > 3")
    assert [routing.token for routing in found.routings] == [0]


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        pytest.param(explain_token, "token_not_found", id="a token that never was"),
        pytest.param(explain_transition, "transition_not_found", id="a transition nobody wrote"),
    ],
)
def test_asking_about_nothing_is_refused(ask: Callable[[RunHistory, int], object], code: str) -> None:
    with pytest.raises(Refused) as refused:
        ask(told(forked(way("b"))), 99)
    assert refused.value.code == code


@pytest.mark.parametrize("judges", [0, 2, 5])
def test_every_moment_of_a_run_can_be_explained_in_words(judges: int) -> None:
    panel = told(PANEL, {"judges": ["x"] * judges})
    for count in range(len(panel.entries) + 1):
        then = up_to(panel, count)
        assert explained(explain_run(then)).startswith("run r of w@1 is ")
        tokens = {wait.token for wait in explain_run(then).waits}
        assert all(f"token {token} " in explained(explain_token(then, token)) for token in tokens)


def test_the_words_say_what_a_person_would_ask_for() -> None:
    text = explained(waiting_panel())
    assert "fan-in at 'tally' (2 of n, group 'ask'): 1 of 2 needed arrived, 2 live, 0 lost of 3" in text
    assert "waits for tokens 1, 3" in text


WIDE = 500


def lost_panel() -> RunHistory:
    return told(PANEL, {"judges": list(range(WIDE))}, {"judge": FAILS})


def test_lost_branches_are_counted_with_the_reason() -> None:
    (fan_out,) = explain_run(lost_panel()).fan_outs
    assert (fan_out.name, fan_out.total, fan_out.arrived, fan_out.live) == ("ask", WIDE, 0, 1)
    assert fan_out.lost == WIDE - 1  # two must arrive: with one left the run fails
    (failures,) = fan_out.failures
    assert (failures.node, failures.type, failures.message) == ("judge", "broken", "it broke")


def test_a_wide_run_is_summarised_and_its_losses_come_first() -> None:
    lines = explained(explain_run(lost_panel())).split("\n")
    assert len(lines) < 25
    assert f"{WIDE - 1} of {WIDE} branches of 'ask' were lost" in "\n".join(lines[:4])
    assert all(len(line) < 300 for line in lines)
    assert "a higher priority matched" not in "\n".join(lines)
    assert any("more routed the same way" in line for line in lines)


def test_waits_of_a_wide_run_are_summarised() -> None:
    panel = told(PANEL, {"judges": list(range(WIDE))}, {"judge": Answer({}, takes_ms=5)})
    text = explained(explain_run(up_to(panel, 1)))
    assert len(text.split("\n")) < 25
    assert f"and {WIDE - 3} more at 'judge'" in text

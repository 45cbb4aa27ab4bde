"""Many seeds of one workflow: what is the same under every schedule, and what is not."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from jeton.definitions import library_from
from jeton.model.ids import TokenId
from jeton.model.json import Json
from jeton.model.state.run import RunState, Token
from jeton.planning import plan_run
from jeton.planning.plan_run import MAX_DELIVERIES
from jeton.testing.trials import EVERY_FAULT, USUAL_FAULTS, FaultKind, Report, Trial, sample_input
from jeton.testing.trials.fault_plans import LOSES_WORKERS, plan_for
from jeton.testing.trials.trial import MAX_STORIES

Object = dict[str, Any]

ASKS: Object = {  # nobody may call this while it is simulated
    "kind": "http",
    "implementation": {"method": "GET", "url": "https://example.org/"},
    "output_schema": {"type": "object", "required": ["points"], "properties": {"points": {"type": "integer"}}},
}
VERDICT: Object = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}


def mock(output: Json) -> Object:
    return {"kind": "mock", "implementation": {"output": output}}


def panel(strategy: Json) -> Object:
    merge = {"source": "_branch.output", "target": "state.votes", "strategy": "append"}
    return {
        "initial_node": "ask",
        "nodes": {
            "ask": {},
            "judge": {"action": ASKS, "input_mapping": {"name": "name"}},
            "tally": {"output_mapping": {"output.votes": "state.votes"}},
        },
        "transitions": [
            {"from": "ask", "to": "judge", "foreach": {"collection": "['a', 'b', 'c']", "item_var": "name"}},
            {"from": "judge", "to": "tally", "synchronization": {"strategy": strategy, "merge": merge}},
        ],
    }


PIPELINE: Object = {
    "initial_node": "a",
    "nodes": {
        "a": {"action": mock({"n": 1})},
        "b": {"action": mock({"n": 2}), "output_mapping": {"output.n": "result.n"}},
    },
    "transitions": [{"from": "a", "to": "b"}],
}
PEOPLE: Object = {
    "initial_node": "approve",
    "nodes": {
        "approve": {
            "gate": {"title": "Sure?", "schema": VERDICT, "approvals": 2, "assignees": ["Ann", "Bob", "Cid"]},
            "output_mapping": {"output.said": "result"},
        },
        "go": {"wait": {"signal": "go", "schema": VERDICT}, "output_mapping": {"output.go": "result.ok"}},
        "below": {"workflow": "panel", "output_mapping": {"output.votes": "result.votes"}},
    },
    "transitions": [{"from": "approve", "to": "go"}, {"from": "go", "to": "below"}],
}


def trial(
    workflow: Object,
    seeds: int = 30,
    *,
    faults: Sequence[FaultKind] = (),
    answers: bool = True,
    slowest_ms: int = 20,
    **others: Object,
) -> Report:
    library = library_from({"workflows": {"w": workflow, **others}}).require()
    with Trial(library, "w", {}, faults=faults, answers=answers, slowest_ms=slowest_ms) as tried:
        return tried.try_seeds(range(seeds))


def types(report: Report) -> list[Json]:
    """What happens in the story of the only problem."""
    (problem,) = report.problems
    return [event["type"] for event in problem.story]


@pytest.mark.parametrize(
    "workflow",
    [
        pytest.param(panel("all"), id="a panel that waits for everybody"),
        pytest.param(PIPELINE, id="one after the other"),
        pytest.param(PEOPLE, id="a gate, a signal and a workflow that is called"),
    ],
)
@pytest.mark.parametrize("faults", [(), USUAL_FAULTS], ids=["calm", "faults"])
def test_a_sound_workflow_comes_to_the_same_under_every_schedule(workflow: Object, faults: Sequence[FaultKind]) -> None:
    report = trial(workflow, 60, faults=faults, panel=panel("all"))
    assert (report.ok, report.seeds, report.problems) == (True, 60, ())
    assert [(ending.status, ending.error, ending.count) for ending in report.outcomes] == [("completed", None, 60)]


def test_what_is_made_up_fits_the_schema_and_belongs_to_the_call() -> None:
    (ending,) = trial(panel("all"), 1).outcomes
    votes = msgspec.convert(ending.output, dict[str, list[dict[str, int]]])["votes"]
    assert [list(vote) for vote in votes] == [["points"]] * 3
    assert len({vote["points"] for vote in votes}) > 1, "three inputs, and the same answer to all"


def test_an_outcome_that_depends_on_who_is_first_is_told_with_its_story() -> None:
    report = trial(panel("any"))
    assert not report.ok
    assert len(report.outcomes) == 3
    assert sum(ending.count for ending in report.outcomes) == 30
    assert [problem.kind for problem in report.problems] == ["differs", "differs"]
    for problem, ending in zip(report.problems, report.outcomes[1:], strict=True):
        assert (problem.count, problem.faults) == (ending.count, ())
        assert problem.story[-1]["type"] == "run.completed"
        assert problem.story[-1]["output"] == ending.output


def test_of_many_outcomes_the_first_few_have_a_story() -> None:
    crowd = panel({"m_of_n": 2})
    crowd["transitions"][0]["foreach"]["collection"] = "[1, 2, 3, 4, 5, 6, 7]"
    report = trial(crowd, 60)
    assert len(report.problems) == len(report.outcomes) - 1 > MAX_STORIES
    assert [bool(problem.story) for problem in report.problems] == [
        number < MAX_STORIES for number in range(len(report.problems))
    ]


def test_only_a_timeout_that_is_reached_is_another_outcome() -> None:
    hurried = panel("all")
    hurried["transitions"][1]["synchronization"]["timeout_ms"] = 60
    assert trial(hurried).ok
    report = trial(hurried, slowest_ms=200)
    assert {ending.error for ending in report.outcomes} == {None, "fan_in_timed_out"}
    assert "sync.timed_out" in [event["type"] for problem in report.problems for event in problem.story] or (
        report.outcomes[0].error == "fan_in_timed_out"
    )


def test_a_run_that_waits_for_people_who_never_come_hangs() -> None:
    report = trial(PEOPLE, 5, answers=False, panel=panel("all"))
    (ending,) = report.outcomes
    assert (ending.status, ending.count) == ("waiting", 5)
    (problem,) = report.problems
    assert (problem.kind, problem.waits) == (
        "hang",
        ("run w-0: token 0 at 'approve' waits for an answer to \"Sure?\" since 0 ms",),
    )
    assert types(report) == ["run.submitted", "gate.opened"]


def test_a_run_that_goes_on_and_on_is_said_to() -> None:
    again = {
        "initial_node": "a",
        "nodes": {"a": {"wait": {"seconds": 1}}},
        "transitions": [{"from": "a", "to": "a", "loop_config": {"max_iterations": 10**6}}],
    }
    library = library_from({"workflows": {"w": again}}).require()
    with Trial(library, "w", {}, max_commits=100) as tried:
        (problem,) = tried.try_seeds([0]).problems
    assert problem.kind == "hang"
    assert problem.what.startswith("it may never end")


def test_a_fault_that_changes_the_outcome_is_the_only_one_left_in_the_story() -> None:
    hasty = {"initial_node": "a", "nodes": {"a": {"task": {"steps": [{"action": mock({})}], "timeout_ms": 2000}}}}
    report = trial(hasty, 60, faults=[kind for kind in EVERY_FAULT if kind not in ("worker_silent", "task_fails")])
    (problem,) = report.problems
    assert (problem.kind, [fault["fault"] for fault in problem.faults]) == ("differs", ["worker_stalls"])
    assert types(report)[-3:] == ["task.failed", "token.timed_out", "run.failed"]
    assert [event["fault"] for event in problem.story if event["type"] == "fault"] == ["worker_stalls"]


def test_a_planner_that_takes_a_result_twice_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def anybody(state: RunState, token: TokenId, attempt: int) -> Token:
        return state.tokens[token]

    monkeypatch.setattr(plan_run, "_waited_for", anybody)
    assert trial(panel("all")).ok, "without faults nothing comes twice"
    report = trial(panel("all"), 60, faults=["result_doubled"])
    assert not report.ok
    broken = report.problems[0]
    assert (broken.kind, len(broken.faults)) == ("broken", 1)
    assert "contradicts the run's state" in broken.what
    assert "broken" in [ending.status for ending in report.outcomes]


def test_what_escapes_the_core_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object, **options: object) -> None:
        raise ZeroDivisionError("nobody saw this coming")

    monkeypatch.setattr("jeton.hosts.simulated.process.take_turn", fails)
    (problem,) = trial(PIPELINE, 2).problems
    assert (problem.kind, problem.what) == ("broken", "ZeroDivisionError: nobody saw this coming")


def test_a_flow_is_simulated_too() -> None:
    flow = {
        "nodes": {
            "begin": {"type": "trigger"},
            "approve": {"type": "gate", "data": {"title": "Sure?", "schema": VERDICT}},
            "sum": {"type": "sum", "inputs": {"values": [1, 2]}},
        },
        "connections": [{"from": "begin", "to": "approve"}],
    }
    library = library_from({"flows": {"f": flow}}).require()
    with Trial(library, "f", {}, faults=USUAL_FAULTS) as tried:
        report = tried.try_seeds(range(30))
    assert [(ending.status, ending.count) for ending in report.outcomes] == [("completed", 30)]


def test_the_same_seed_is_the_same_story() -> None:
    library = library_from({"workflows": {"w": panel({"m_of_n": 2})}}).require()
    with Trial(library, "w", {}, faults=USUAL_FAULTS) as tried:
        for seed in range(10):
            assert tried.play(seed).story() == tried.play(seed).story()


def test_no_plan_loses_so_many_workers_that_a_task_fails_of_it() -> None:
    plans = [plan_for(seed, USUAL_FAULTS) for seed in range(200)]
    lost = [sum(len(plan.faults.get(kind, ())) for kind in LOSES_WORKERS) for plan in plans]
    assert max(lost) == MAX_DELIVERIES - 1
    assert {kind for plan in plans for kind in plan.faults} == set(USUAL_FAULTS)


def test_an_input_is_made_from_its_schema() -> None:
    assert sample_input(None) == {}
    assert sample_input({"type": "object", "properties": {"n": {"const": 3}}}) == {"n": 3}

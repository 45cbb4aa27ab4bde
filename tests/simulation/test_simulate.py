"""What `jeton.testing` gives to users."""

from typing import Any

import pytest

from jeton.definitions import library_from
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.testing import (
    Answer,
    Fault,
    FaultPlan,
    ManualClock,
    Script,
    ScriptedCall,
    TaskFailed,
    World,
    simulate,
    simulated_run,
)


def library(**nodes: Any) -> Library:
    task = {"steps": [{"ref": "only", "action": {"kind": "mock"}}], "retry": {"max_attempts": 3, "initial_delay_ms": 5}}
    workflow = {"initial_node": next(iter(nodes)), "nodes": nodes}
    return library_from({"workflows": {"w": workflow}, "tasks": {"t": task}}).require()


GREET = library(greet={"task": "t", "output_mapping": {"output.said": "result.text"}})


def test_a_workflow_runs_to_its_end_with_the_answers_it_is_given() -> None:
    outcome = simulate(GREET, "w", {"name": "Ada"}, script={"greet": Answer({"text": "hello"})})
    assert (outcome.status, outcome.output) == ("completed", {"said": "hello"})


def test_an_answer_may_be_worked_out_from_the_call() -> None:
    def greet(call: ScriptedCall) -> Answer:
        return Answer({"text": f"hello {call.input['name']}" if isinstance(call.input, dict) else ""})

    assert simulate(GREET, "w", {"name": "Ada"}, script={"greet": greet}).output == {"said": "hello Ada"}


def test_a_task_may_fail_first_and_be_tried_again() -> None:
    def third_time_right(call: ScriptedCall) -> Answer:
        if call.attempt < 3:
            return Answer(failure=TaskFailed("boom", "not yet", retry=True))
        return Answer({"text": f"at attempt {call.attempt}"})

    assert simulate(GREET, "w", script={"greet": third_time_right}).output == {"said": "at attempt 3"}


def test_a_failure_ends_the_run_with_its_error() -> None:
    outcome = simulate(GREET, "w", script={"greet": Answer(failure=TaskFailed("boom", "it broke"))})
    assert outcome.status == "failed"
    assert outcome.error is not None
    assert (outcome.error.type, outcome.error.node) == ("boom", "greet")


def test_waiting_takes_no_time() -> None:
    outcome = simulate(library(wait={"wait": {"seconds": 86_400}}), "w")
    assert (outcome.status, outcome.took_ms) == ("completed", 86_400_000)


def test_a_node_without_an_answer_succeeds_with_nothing() -> None:
    assert simulate(GREET, "w").output == {"said": None}


def test_the_same_seed_is_the_same_run_and_faults_change_only_the_road() -> None:
    script = {"greet": Answer({"text": "hello"})}
    plain = simulate(GREET, "w", script=script, seed=7)
    assert simulate(GREET, "w", script=script, seed=7) == plain
    crashed = simulate(GREET, "w", script=script, seed=7, plan=FaultPlan({"crash_after_commit": (Fault(0, by_ms=50),)}))
    assert crashed.output == plain.output
    assert crashed.took_ms > plain.took_ms


def test_a_world_is_driven_by_hand_for_more_than_one_run() -> None:
    world = World(GREET, script=Script({"greet": Answer({"text": "hello"}, takes_ms=30)}))
    first, second = world.start("w", {}), world.start("w", {}, after_ms=5)
    world.cancel(second, "changed my mind", after_ms=20)
    with pytest.raises(Refused):
        simulated_run(world, first)
    world.run()
    assert (simulated_run(world, first).status, simulated_run(world, second).status) == ("completed", "cancelled")


def test_an_unknown_workflow_is_refused() -> None:
    with pytest.raises(Refused, match="no workflow is called 'nothing'"):
        simulate(GREET, "nothing")


def test_a_manual_clock_stands_still_until_it_is_moved() -> None:
    clock = ManualClock(wall_ms=1000)
    clock.advance(5)
    clock.jump(-100)
    assert (clock.steady, clock.now(), clock.wall()) == (5, 1005, 905)
    assert (clock.steady_when(910), clock.steady_when(1)) == (10, 5)

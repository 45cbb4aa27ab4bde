"""The world below the simulated host, driven by hand."""

from typing import Any

import pytest

from jeton.definitions import library_from
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.testing import Answer, Fault, FaultPlan, ManualClock, Script, SimulatedRun, World, simulated_run


def library(**nodes: Any) -> Library:
    task = {"steps": [{"ref": "only", "action": {"kind": "mock"}}], "retry": {"max_attempts": 3, "initial_delay_ms": 5}}
    workflow = {"initial_node": next(iter(nodes)), "nodes": nodes}
    return library_from({"workflows": {"w": workflow}, "tasks": {"t": task}}).require()


GREET = library(greet={"task": "t", "output_mapping": {"output.said": "result.text"}})


def played(seed: int, plan: FaultPlan | None = None) -> SimulatedRun:
    world = World(GREET, seed=seed, plan=plan, script=Script({"greet": Answer({"text": "hello"})}, seed))
    run = world.start("w", {})
    world.run()
    return simulated_run(world, run)


def test_the_same_seed_is_the_same_run_and_faults_change_only_the_road() -> None:
    plain = played(7)
    assert played(7) == plain
    crashed = played(7, FaultPlan({"crash_after_commit": (Fault(0, by_ms=50),)}))
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
        World(GREET).start("nothing", {})


def test_a_manual_clock_stands_still_until_it_is_moved() -> None:
    clock = ManualClock(wall_ms=1000)
    clock.advance(5)
    clock.jump(-100)
    assert (clock.steady, clock.now(), clock.wall()) == (5, 1005, 905)
    assert (clock.steady_when(910), clock.steady_when(1)) == (10, 5)

"""Flows under faults: a few hundred on every test run, fixed ones and fresh ones."""

from random import SystemRandom

import pytest

from jeton.hosts.simulated.world import World
from jeton.model.ids import RunId
from jeton.model.state.run import Head, RunState
from tests.simulation.oracle.model import Object
from tests.simulation.stories.flows import flow_library, flows_from, play_flow
from tests.simulation.sweep import main

FIXED = range(1, 601, 2)  # the even ones belong to the sweep of fixed seeds
FRESH = 60
BATCHES = 4

KEPT = {
    1224: "the keys of a context come in the same order when the run was read back",
    739919186: "true inside a list is not the number 1",
}


@pytest.mark.parametrize("part", range(BATCHES))
def test_fixed_flows_come_to_what_the_oracle_says(part: int) -> None:
    for seed in FIXED[part::BATCHES]:
        play_flow(flows_from(seed))


@pytest.mark.parametrize("seed", KEPT, ids=KEPT.get)
def test_a_flow_that_is_kept(seed: int) -> None:
    play_flow(flows_from(seed))


def test_fresh_flows_come_to_what_the_oracle_says() -> None:
    first = SystemRandom().randrange(10**6, 10**9)
    print(f"fresh flows from {first}")
    for seed in range(first, first + FRESH):
        play_flow(flows_from(seed))


def test_one_flow_can_be_played_again() -> None:
    assert main(["--flow", "3"]) == 0


def test_a_flow_that_somebody_looked_at_before_it_began_knows_its_input() -> None:
    library = flow_library({"nodes": {"start": {"type": "trigger"}}, "connections": []})
    early = World(library)
    run = early.start("f", {"x": 1}, after_ms=20)
    early.pause(run)
    early.unpause(run, after_ms=5)
    early.run()
    row = early.store.row(run)
    assert row is not None
    assert (row.status, row.output) == ("completed", {"x": 1})


LIMITED: Object = {
    "nodes": {"a": {"type": "constant", "data": {"value": 1}}, "b": {"type": "merge"}},
    "connections": [{"from": "a", "to": "b"}],
    "limits": {"max_nodes": 1},
}


@pytest.mark.parametrize("again", [False, True])
def test_a_fork_of_a_flow_that_came_to_its_limit_comes_to_it_again(again: bool) -> None:
    world = World(flow_library(LIMITED))
    run = world.start("f", {})
    world.run()
    fork = world.fork(run, 0, again=again)
    world.run()
    rows = [world.store.row(each) for each in (run, fork)]
    assert [(row.status, row.error and row.error.type) for row in rows if row] == [("failed", "limit_exceeded")] * 2


def test_looking_at_the_nodes_of_a_run_fixes_nothing() -> None:
    state = RunState(Head(RunId("r"), "f", 1))
    assert state.flow.input is None
    state.take_input({"x": 1})
    assert state.flow.input == {"x": 1}

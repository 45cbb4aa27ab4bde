"""The planner of flows against an independent interpreter, for flows from a seed, with completions in any order."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from jeton.model.ids import RunId
from tests.planning.flow_drive import NOW, Driver, compiled_in
from tests.simulation.grammar.flow import make_flow, make_overrides, make_result
from tests.simulation.oracle.flow import FlowOracle, without_messages
from tests.simulation.oracle.model import Object
from tests.simulation.stories.flows import facts_of, flow_library

BLOCKS, SEEDS_PER_BLOCK = 8, 250


@pytest.mark.parametrize("block", range(BLOCKS))
def test_planner_and_oracle_agree(block: int) -> None:
    for seed in range(block * SEEDS_PER_BLOCK, (block + 1) * SEEDS_PER_BLOCK):
        play(seed)


def play(seed: int) -> Driver:
    """One run on both sides, compared after every message."""
    random = Random(seed)
    flow = make_flow(random)
    overrides = make_overrides(random, flow)
    given: Object = random.choice(({}, {"x": 1, "y": "y"}, {"_branch": "x", "k": {"x": 2}}))
    fired = random.choice((None, *flow["nodes"]))
    facts = facts_of(RunId("r"), fired)
    planner = Driver(compiled_in(flow_library(flow)), given, overrides, fired, facts)
    oracle = FlowOracle(flow, given, overrides, fired, NOW, facts=facts)
    compare(planner, oracle, seed)
    while planner.status == "running":
        under_way = sorted(planner.calls) + sorted(planner.state.waiting)
        assert under_way, f"seed {seed}: the run hangs"
        node = random.choice(under_way)
        if node in planner.state.waiting:
            planner.wake(node)
            oracle.wake(node)
        elif (result := make_result(random)) is None:
            planner.fail(node)
            oracle.fail(node, "failed")
        else:
            planner.finish(node, result)
            oracle.finish(node, result)
        compare(planner, oracle, seed)
    return planner


def compare(planner: Driver, oracle: FlowOracle, seed: int) -> None:
    where = f"seed {seed}"
    assert planner.status == oracle.status, where
    if planner.error is not None or (oracle.on_error == "fail" and planner.status == "failed"):
        return  # it stopped in the middle, and what had begun by then depends on who was looked at first
    state = planner.state
    assert {name: (without_messages(done.outputs), done.branch) for name, done in state.executed.items()} == {
        name: (outputs, oracle.branch[name]) for name, outputs in oracle.executed.items()
    }, where
    assert set(state.errors) == oracle.errors, where
    assert {name: (without_messages(w.executed.outputs), w.due, w.label) for name, w in state.waiting.items()} == {
        name: (outputs, due, label) for name, (due, label, outputs) in oracle.waiting.items()
    }, where
    assert sorted(planner.calls) == sorted(oracle.executing()), where
    for name, call in planner.calls.items():
        given = without_messages([call.inputs, call.context])
        assert given == [oracle.inputs(name), oracle.context(name)], f"{where}: {name}"
    assert {name: skip(planner, name) for name in state.skipped} == {
        name: (reason, oracle.blocked_by(name)) for name in oracle.nodes if (reason := oracle.skipped(name)) is not None
    }, where
    if planner.status == "completed":
        assert without_messages(planner.output) == oracle.output(), where


def skip(planner: Driver, name: str) -> tuple[Any, list[str]]:
    view = planner.view(name)
    return view.skip_reason, list(view.blocked_by)


def test_the_grammar_reaches_what_it_is_meant_to_test() -> None:
    seen: set[str] = set()
    for seed in range(400):
        done = play(seed)
        seen.add(done.status)
        seen.update(done.view(name).status for name in done.program.nodes)
        seen.update(str(done.view(name).skip_reason) for name in done.state.skipped)
        seen.update(error.type for error in done.state.errors.values())
        seen.update(["limit"] if done.error else [])
        seen.update(["handled"] if any(each.handled for each in done.state.executed.values()) else [])
        seen.update(f"runs when {done.program.nodes[name].definition.run_when}" for name in done.begun)
        seen.update(["dead end"] if done.dead_ends else [])
    assert seen >= {
        *("completed", "failed", "skipped", "idle", "upstream_failure", "branch_not_taken", "limit", "dead end"),
        *("handled", "runs when any", "runs when settled"),
        *("bad_control_key", "bad_input", "expression_error", "unknown_node_type", "dear"),
    }

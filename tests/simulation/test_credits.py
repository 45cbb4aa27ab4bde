"""Credits under faults, and the rules of paying, one by one."""

from collections import Counter
from typing import Any

import pytest

from jeton.definitions import library_from
from jeton.hosts.simulated.faults import FaultPlan
from jeton.model.event import CreditsReserved, CreditsShort, TaskDispatched
from jeton.testing import Answer, Script, World, simulated_run
from tests.simulation.stories.credit_trees import CREDIT_TREE_CASES, play_credit_tree
from tests.simulation.stories.credits import play_credits


def test_no_credit_is_lost_or_made_under_faults() -> None:
    met: Counter[str] = Counter()
    for seed in range(40):
        try:
            met.update(play_credits(seed))
        except Exception as problem:
            raise AssertionError(f"seed {seed}: {problem}") from problem
    assert met["exhausted"]
    assert met["completed"]
    assert met["cancelled"]


def test_no_credit_of_a_tree_is_lost_or_made_under_faults() -> None:
    met: Counter[str] = Counter()
    for seed in range(50):
        try:
            met += play_credit_tree(seed).cases
        except Exception as problem:
            raise AssertionError(f"python -m tests.simulation.sweep --credits {seed}: {problem}") from problem
    assert [case for case in CREDIT_TREE_CASES if not met[case]] == []


def test_a_seed_of_a_tree_is_the_same_history_every_time() -> None:
    assert play_credit_tree(8).digest == play_credit_tree(8).digest


def fan_out(**more: Any) -> dict[str, Any]:
    return {
        "workflows": {
            "w": {
                "initial_node": "go",
                "nodes": {"go": {}, "work": {"task": "t"}, "end": {}},
                "transitions": [
                    {"from": "go", "to": "work", "foreach": {"collection": "input.items"}},
                    {"from": "work", "to": "end", "synchronization": {}},
                ],
            }
        },
        "tasks": {"t": {"steps": [{"ref": "s", "action": {"kind": "mock"}}]}},
        **more,
    }


@pytest.mark.parametrize(
    ("credits", "dispatched", "status"),
    [
        pytest.param(0, 0, "exhausted", id="nothing: no node runs"),
        pytest.param(1, 0, "exhausted", id="enough for the first node, and for none after it"),
        pytest.param(3, 2, "exhausted", id="enough for two of four: they run, and then it is over"),
        pytest.param(5, 4, "exhausted", id="enough for all but the last"),
        pytest.param(6, 4, "completed", id="enough"),
    ],
)
@pytest.mark.parametrize("own", [True, False], ids=["its own", "the project's"])
@pytest.mark.parametrize("moves", [10_000, 1], ids=["in one batch", "step by step"])
def test_how_far_credits_go(moves: int, own: bool, credits: int, dispatched: int, status: str) -> None:
    settings = {} if own else {"project": {"settings": {"credits": {"balance": credits}}}}
    library, script = library_from(fan_out(**settings)).require(), Script({"work": Answer({}, takes_ms=7)})
    world = World(library, script=script, plan=FaultPlan(moves=moves))
    run = world.start("w", {"items": [1, 2, 3, 4]}, credits=credits if own else None)
    world.run()
    outcome = simulated_run(world, run)
    facts = [event.fact for event in outcome.events]
    assert outcome.status == status
    assert sum(isinstance(fact, TaskDispatched) for fact in facts) == dispatched
    assert sum(fact.amount for fact in facts if isinstance(fact, CreditsReserved)) == credits
    assert any(isinstance(fact, CreditsShort) for fact in facts) == (status == "exhausted")
    assert world.store.balance == 0
    assert world.store.grants == {}


def test_what_is_running_when_credits_run_out_is_waited_for_and_its_results_count() -> None:
    world = World(library_from(fan_out()).require(), script=Script({"work": Answer({}, takes_ms=500)}))
    run = world.start("w", {"items": [1, 2, 3]}, credits=3)
    world.run()
    outcome = simulated_run(world, run)
    assert (outcome.status, outcome.took_ms >= 500) == ("exhausted", True)
    again = world.fork(run, len(world.store.journal(run)) - 1, credits=2)
    world.run()
    outcome = simulated_run(world, again)
    assert outcome.status == "completed"
    forked = next(n for n, event in enumerate(outcome.events) if event.fact.__struct_config__.tag == "run.forked")
    assert sum(isinstance(event.fact, TaskDispatched) for event in outcome.events[forked:]) == 1


def test_a_paused_run_is_not_exhausted_before_it_goes_on() -> None:
    world = World(library_from(fan_out()).require())
    run = world.start("w", {"items": [1]}, credits=0)
    world.pause(run)
    world.unpause(run, after_ms=1000)
    world.run()
    assert simulated_run(world, run).status == "exhausted"

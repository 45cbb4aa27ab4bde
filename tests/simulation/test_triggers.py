"""Triggers under faults: whatever crashes, repeats or comes late, each event and each end fires once."""

from collections import Counter

import pytest

from jeton.actor.journal import decode_entry
from jeton.definitions import library_from
from jeton.hosts.simulated.faults import Fault, FaultKind, FaultPlan, storm_from_seed
from jeton.hosts.simulated.script import Answer, Script
from jeton.hosts.simulated.world import World
from jeton.model.decision import NoteFiring
from jeton.model.ids import RunId
from jeton.testing.trials.invariants import violations

STEPS = [{"ref": "only", "action": {"kind": "mock"}}]
LIBRARY = library_from(
    {
        "workflows": {
            "first": {
                "initial_node": "tell",
                "nodes": {"tell": {"task": "t"}, "nap": {"wait": {"seconds": 30}}},
                "transitions": [{"from": "tell", "to": "nap"}],
            },
            "second": {"initial_node": "work", "nodes": {"work": {"task": "t"}}},
            "third": {"initial_node": "end", "nodes": {"end": {}}},
        },
        "tasks": {"t": {"steps": STEPS}},
        "triggers": {
            "heard": {"type": "event", "name": "told", "start": "second"},
            "unheard": {"type": "event", "name": "told", "condition": "event.n > 1", "start": "second"},
            "over": {"type": "run_finished", "workflow": "second", "start": "third"},
            "again": {"type": "run_finished", "workflow": "third", "start": "third"},
        },
    }
).require()
RUNS = 3


def played(seed: int, plan: FaultPlan, runs: int = RUNS) -> World:
    script = Script({"tell": Answer({}, publishes=(("told", {"n": 1}),))}, seed=seed)
    world = World(LIBRARY, seed=seed, plan=plan, script=script)
    for _ in range(runs):
        world.start("first", {})
    assert world.run()
    return world


def notes(world: World, run: RunId) -> list[NoteFiring]:
    entries = [decode_entry(body) for body in world.store.journal(run)]
    return [decision for entry in entries for decision in entry.decisions if isinstance(decision, NoteFiring)]


@pytest.mark.parametrize("seed", range(40))
def test_each_event_and_each_end_fires_once(seed: int) -> None:
    world = played(seed, storm_from_seed(seed))
    assert (list(violations(world)), world.unfinished()) == ([], [])
    rows = [row for run in world.store.runs() if (row := world.store.row(run)) is not None]
    lost = {row.run for row in rows if row.status != "completed"}  # its worker died once too often
    told = [row.run for row in rows if row.workflow == "first" and row.run not in lost]
    firings = world.store.firings()
    sources = Counter((firing.trigger, firing.source) for firing in firings)
    assert set(sources.values()) <= {1}
    assert {("heard", run) for run in told} <= set(sources)
    assert not any(firing.trigger == "unheard" for firing in firings)
    assert {row.run for row in rows if row.workflow in ("second", "third")} == {
        firing.source for firing in firings if firing.type == "run_finished"
    }
    depths = {row.run: row.trigger.depth for row in rows if row.trigger is not None}
    for firing in firings:
        assert firing.depth == depths.get(RunId(firing.source or ""), 0) + 1
        assert (firing.code == "too_deep") == (firing.depth > 3)
    for run in told:
        assert [note.run for note in notes(world, run)] == [
            firing.run for firing in firings if (firing.trigger, firing.source) == ("heard", run)
        ]


@pytest.mark.parametrize("kind", ["crash_before_commit", "crash_after_commit"])
def test_a_crash_at_any_commit_keeps_no_run_from_hearing_of_its_event_in_time(kind: FaultKind) -> None:
    for nth in range(10):
        world = played(0, FaultPlan({kind: (Fault(nth, 5),)}, storm_ms=10_000), runs=1)
        (first,) = [run for run in world.store.runs() if world.store.workflow(run) == "first"]
        (heard,) = [firing for firing in world.store.firings() if firing.trigger == "heard"]
        assert [note.run for note in notes(world, first)] == [heard.run], f"crash {nth}"


@pytest.mark.parametrize("seed", [1, 5, 9])
def test_the_same_seed_fires_the_same(seed: int) -> None:
    plan = storm_from_seed(seed)
    assert played(seed, plan).store.digest() == played(seed, plan).store.digest()
    assert played(seed, plan).store.firings() == played(seed, plan).store.firings()

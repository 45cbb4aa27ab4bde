"""A tree of runs, five levels deep with two children each, cancelled at a moment nobody chose: everything ends."""

from collections import Counter
from random import Random
from typing import Any

from jeton.hosts.simulated.faults import storm_from_seed
from jeton.hosts.simulated.script import Answer, Script
from jeton.model.ids import RunId
from tests.simulation.invariants.seen import broken
from tests.simulation.scenario import Played
from tests.simulation.stories.waits import read, watched_world

LEVELS = 5
TREE_CASES = ("tree completed", "tree cancelled", "tree cancelled from within", "tree failed by a fault")
ALL_RUNS = 2**LEVELS - 1


def tree_workflows() -> dict[str, Any]:
    """Each level works, calls the next one twice, and collects what comes back; the last one works and waits."""
    collect = {"source": "_branch.output.n", "target": "state.below", "strategy": "append"}
    levels: dict[str, Any] = {
        "level5": {
            "initial_node": "work",
            "nodes": {"work": {"task": "plain"}, "rest": {"wait": {"seconds": 0.01}}},
            "transitions": [{"from": "work", "to": "rest"}],
            "output_mapping": {"n": "1"},
        }
    }
    for level in range(LEVELS - 1, 0, -1):
        levels[f"level{level}"] = {
            "initial_node": "work",
            "nodes": {
                "work": {"task": "plain"},
                "call": {"workflow": f"level{level + 1}", "output_mapping": {"_branch.output.n": "result.n"}},
                "gather": {},
            },
            "transitions": [
                {"from": "work", "to": "call", "spawn_count": 2},
                {"from": "call", "to": "gather", "synchronization": {"merge": collect}},
            ],
            "output_mapping": {"n": "state.below[0] + state.below[1] + 1"},
        }
    return levels


def play_tree(seed: int) -> Played:
    """Cancel the root, or sometimes a run inside, and see that nothing is left running."""
    rng = Random(f"{seed}/tree")
    plan = storm_from_seed(seed)
    script = Script({"work": Answer({})}, seed=seed)
    world, watchers = watched_world(seed, read(tree_workflows()), plan, script)
    root = world.start("level1", {})
    within = rng.random() < 0.2
    moment = rng.randint(0, 160)
    world.cancel(root if not within else RunId(f"{root}.1"), "enough", after_ms=max(moment, 40) if within else moment)
    world.run()
    assert watchers.waits is not None
    watchers.waits.over()
    row = world.store.row(root)
    assert row is not None
    statuses = Counter(found.status for run in world.store.runs() if (found := world.store.row(run)) is not None)
    match row.status:
        case "completed":
            if row.output != {"n": ALL_RUNS} or len(world.store.runs()) != ALL_RUNS:
                broken(f"{len(world.store.runs())} runs came to {row.output}")
            case = "tree completed"
        case "cancelled":
            case = "tree cancelled"
            if within or (statuses["failed"] and not world.faults.struck):
                broken(f"the root was cancelled, and the tree ended {statuses}")
        case _:
            if not (within or world.faults.struck):
                broken(f"nothing went wrong, and the root ended {row.status}: {row.error}")
            case = "tree cancelled from within" if within else "tree failed by a fault"
    return Played(world.store.digest(), Counter({case: 1}), watchers.commits)

"""Fire a trigger a few times while being killed.

usage: python -m tests.crash.fired STORE
"""

import asyncio
import sys
from pathlib import Path

import jeton
from jeton.model.json import JsonObject

DELIVERIES = ("a", "b", "c")
LIBRARY: JsonObject = {
    "workflows": {
        "first": {
            "initial_node": "tell",
            "nodes": {
                "tell": {"action": {"kind": "emit", "implementation": {"event": "told"}}},
                "stay": {"wait": {"signal": "never"}},
            },
            "transitions": [{"from": "tell", "to": "stay"}],
        },
        "second": {"initial_node": "a", "nodes": {"a": {}}},
        "third": {"initial_node": "a", "nodes": {"a": {}}},
    },
    "triggers": {
        "go": {"type": "manual", "start": "first"},
        "heard": {"type": "event", "name": "told", "start": "second"},
        "over": {"type": "run_finished", "workflow": "second", "start": "third"},
    },
}


async def fire_all(store: Path) -> dict[str, int]:
    """Once each, however often this is begun; how many runs of each workflow there are then."""
    async with jeton.open(store) as engine:
        await engine.deploy(LIBRARY)
        for delivery in DELIVERIES:
            await engine.fire("go", delivery_id=delivery)
        await engine.idle()
        runs = await engine.list()
        assert {(run.workflow, run.status) for run in runs} == {
            ("first", "waiting"),
            ("second", "completed"),
            ("third", "completed"),
        }
        assert len(await engine.firings()) == len(runs)
        for run in runs:
            if run.workflow == "first":
                events = [event async for event in engine.events(run.run_id) if event["type"] == "trigger.fired"]
                fired = (await engine.get(run.run_id)).fired or ()
                assert [event["started"] for event in events[1:]] == [firing.run_id for firing in fired]
                assert len(fired) == 1
        return {name: sum(run.workflow == name for run in runs) for name in ("first", "second", "third")}


if __name__ == "__main__":
    asyncio.run(fire_all(Path(sys.argv[1])))

"""A tree ends whole, also when the engine is closed as soon as its root has ended."""

from pathlib import Path

import jeton
from jeton.model.json import JsonObject

LIBRARY: JsonObject = {
    "workflows": {
        "one": {"initial_node": "call", "nodes": {"call": {"workflow": "two"}}},
        "two": {"initial_node": "call", "nodes": {"call": {"workflow": "three"}}},
        "three": {"initial_node": "call", "nodes": {"call": {"workflow": "four"}}},
        "four": {
            "initial_node": "ask",
            "nodes": {"ask": {"gate": {"title": "Well?"}}},
        },
    }
}


async def test_a_cancelled_root_takes_everybody_with_it(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    async with jeton.open(path) as engine:
        await engine.deploy(LIBRARY)
        run = await engine.start("one")
        await engine.idle()
        assert len(await engine.gates()) == 1
    async with jeton.open(path) as engine:
        assert (await engine.cancel(run.id, "enough")).accepted
    async with jeton.open(path, owner=False) as reader:
        found = await reader.list()
        assert {record.status for record in found} == {"cancelled"}
        assert len(found) == 4
        assert all(record.error is not None and "enough" in record.error.message for record in found)
        assert await reader.gates() == ()

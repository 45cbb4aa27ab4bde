"""`run` in expressions: the run's own facts, fixed when it starts (docs/semantics/expressions.md#run)."""

from pathlib import Path
from typing import Any

import jeton
from jeton.model.times import text_of

FACTS: dict[str, Any] = {
    "workflows": {
        "facts": {
            "initial_node": "ask",
            "nodes": {
                "ask": {"gate": {"title": "?"}},
                "task": {
                    "action": {"kind": "shell", "implementation": {"argv": ["echo", "{run.id}"]}},
                    "output_mapping": {"state.shell": "result.stdout"},
                },
            },
            "transitions": [{"from": "ask", "to": "task"}],
            "output_mapping": {"run": "run", "shell": "state.shell"},
        }
    }
}


async def test_a_run_knows_its_key_and_its_start(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(FACTS)
        run = await engine.start("facts", {}, key="essay-42")
        await engine.answer(run.id, {}, node="ask")
        record = await run.result()
        again = await engine.fork(run.id, at=0)
        await engine.answer(again.id, {}, node="ask")
        forked = await again.result()
    assert record.started_at is not None
    assert record.output == {
        "run": {
            "id": run.id,
            "root_id": run.id,
            "workflow": "facts",
            "version": 1,
            "key": "essay-42",
            "started_at": text_of(record.started_at),
            "trigger": None,
        },
        "shell": f"{run.id}\n",
    }
    assert isinstance(forked.output, dict)
    facts = forked.output["run"]
    assert isinstance(facts, dict)
    assert (facts["id"], facts["key"], facts["workflow"]) == (again.id, None, "facts")


async def test_a_run_reads_the_same_after_its_process_ended(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(FACTS)
        run = await engine.start("facts", {}, key="k")
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.answer(run.id, {}, node="ask")
        record = await engine.get(run.id)
        output = (await (await engine.start("facts", {}, key="k")).result()).output
    assert record.started_at is not None
    assert isinstance(output, dict)
    facts = output["run"]
    assert isinstance(facts, dict)
    assert (facts["id"], facts["key"], facts["started_at"]) == (run.id, "k", text_of(record.started_at))

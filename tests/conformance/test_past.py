"""A run at an entry, on every host: what was told right after it is told again later."""

from collections.abc import AsyncGenerator

import msgspec
import pytest

import jeton
from jeton.actor.retention import Rule
from jeton.engine.engine import Engine
from jeton.engine.look.history import EVERY, Histories
from jeton.engine.lookup import Lookup
from jeton.model.failure import Refused
from jeton.model.json import JsonObject
from tests.conformance.hosts import Opened, postgres, simulated, sqlite
from tests.engine.waits import LIBRARY

HOSTS = [
    pytest.param(sqlite, id="sqlite"),
    pytest.param(postgres, id="postgres"),
    pytest.param(simulated, id="simulated"),
]
PANEL: JsonObject = {
    "workflows": {
        "panel": {
            "initial_node": "ask",
            "nodes": {
                "ask": {},
                "vote": {
                    "action": {"kind": "assert", "implementation": {"that": "input.item != 2", "message": "not two"}},
                    "input_mapping": {"item": "_branch.item"},
                    "output_mapping": {"_branch.output.vote": "_branch.item"},
                },
                "tally": {"output_mapping": {"output.votes": "state.votes"}},
            },
            "transitions": [
                {"from": "ask", "to": "vote", "foreach": {"collection": "input.items"}},
                {
                    "from": "vote",
                    "to": "tally",
                    "synchronization": {
                        "strategy": "all",
                        "on_branch_failure": "continue",
                        "merge": {"source": "_branch.output.vote", "target": "state.votes", "strategy": "append"},
                    },
                },
            ],
        }
    }
}


@pytest.fixture(params=HOSTS)
async def opened(request: pytest.FixtureRequest) -> AsyncGenerator[Opened, None]:
    async with request.param() as host:
        await host.engine.deploy(LIBRARY)
        await host.engine.deploy(PANEL)
        yield host


async def refusal(asked: object) -> str:
    with pytest.raises(Refused) as refused:
        await asked  # type: ignore[misc]
    return refused.value.code


async def test_what_a_run_was_like_is_told_later_as_it_was_told_then(opened: Opened) -> None:
    engine = opened.engine
    run = await engine.start("outer")
    await engine.idle()
    graph = await engine.graph(run.id)
    at = graph.entry
    then = await engine.get(run.id), await engine.tokens(run.id), await engine.context(run.id)
    explained = await engine.explain(run.id)
    assert graph.live
    await engine.answer(run.id, {"ok": True})
    await run.result()
    assert await engine.get(run.id, at=at) == unfired(then[0])
    assert await engine.tokens(run.id, at=at) == then[1]
    assert await engine.context(run.id, at=at) == then[2]
    assert await engine.explain(run.id, at=at) == explained
    past = await engine.graph(run.id, at=at)
    assert (past.entry, past.live, past.nodes, past.groups) == (at, False, graph.nodes, graph.groups)
    ended = await engine.graph(run.id)
    assert ended.live
    assert await engine.context(run.id) == await engine.context(run.id, at=ended.entry)
    assert await engine.get(run.id, at=ended.entry) == unfired(await engine.get(run.id))


def unfired(record: jeton.RunRecord) -> jeton.RunRecord:
    """A record without what it fired, which is known of the present only."""
    return msgspec.structs.replace(record, fired=None)


async def panel(engine: Engine) -> str:
    run = await engine.start("panel", {"items": [1, 2, 3, 4]})
    record = await run.result()
    assert record.output == {"votes": [1, 3, 4]}, record
    return run.id


async def test_a_fan_out_is_counted_and_its_slots_are_told(opened: Opened) -> None:
    engine = opened.engine
    run = await panel(engine)
    graph = await engine.graph(run)
    (group,) = graph.groups
    assert (group.name, group.total, group.arrived, group.live, group.lost) == ("ask", 4, 3, 0, 1)
    assert (graph.nodes["vote"].done, graph.nodes["vote"].failed, graph.nodes["tally"].done) == (3, 1, 1)
    slots = await engine.slots(run, group.id)
    assert (slots.total, slots.runs) == (4, [("done", 0, 1), ("failed", 1, 1), ("done", 2, 2)])
    assert [(each.type, each.count, each.first) for each in slots.failures] == [("assertion_failed", 1, 1)]
    part = await engine.slots(run, group.id, 2, 4)
    assert (part.total, part.runs, part.failures) == (4, [("done", 2, 2)], [])
    begun = await engine.slots(run, group.id, at=0)
    assert begun.runs == [("active", 0, 4)]
    assert (await engine.graph(run, at=0)).groups[0].needed == 4
    assert await engine.slots(run, group.id) == slots


async def test_entries_are_listed_in_words(opened: Opened) -> None:
    run = await panel(opened.engine)
    entries = await opened.engine.entries(run)
    assert [entry.number for entry in entries] == list(range(len(entries)))
    assert entries[0].messages == ("start_run",)
    assert entries[0].decisions[0] == "begin_run"
    assert entries[0].text.startswith("the run began; 'ask' finished; 'ask' fanned out into 4")
    assert entries[-1].text.endswith("the run ended: completed")
    journal = [entry async for entry in opened.engine.journal(run)]
    assert [entry.first_event for entry in entries] == [entry.first_event for entry in journal]
    assert await opened.engine.entries(run, 0, 1) == entries[1:2]
    assert await opened.engine.entries(run, len(entries) - 1) == ()


async def test_changes_lead_from_one_graph_to_the_next(opened: Opened) -> None:
    engine = opened.engine
    run = await panel(engine)
    last = (await engine.graph(run)).entry
    deltas = await engine.deltas(run, 0, last)
    assert [delta.entry for delta in deltas] == list(range(last + 1))
    assert deltas == tuple([(await engine.deltas(run, at, at))[0] for at in range(last + 1)])
    for at in range(1, last + 1):
        before, after = await engine.graph(run, at=at - 1), await engine.graph(run, at=at)
        for node, counts in after.nodes.items():
            for place, by in deltas[at].nodes.get(node, {}).items():
                assert getattr(counts, place) == getattr(before.nodes[node], place) + by
    written = [operation for delta in deltas for operation in delta.context if operation["path"] == "/state/votes"]
    assert written == [{"op": "add", "path": "/state/votes", "value": [1, 3, 4]}]


async def test_what_is_not_there_is_refused(opened: Opened) -> None:
    engine = opened.engine
    run = await panel(engine)
    last = (await engine.graph(run)).entry
    for at in (-1, last + 1):
        assert await refusal(engine.get(run, at=at)) == "unknown_entry"
        assert await refusal(engine.tokens(run, at=at)) == "unknown_entry"
        assert await refusal(engine.explain(run, at=at)) == "unknown_entry"
        assert await refusal(engine.deltas(run, at, at)) == "unknown_entry"
    assert await refusal(engine.deltas(run, 1, 0)) == "bad_argument"
    assert await refusal(engine.slots(run, 7)) == "unknown_group"
    assert await refusal(engine.graph("nothing")) == "unknown_run"
    await opened.host.prune([Rule("history", 0)])
    for asked in (engine.graph(run, at=0), engine.tokens(run, at=0), engine.deltas(run, 0, 0), engine.entries(run)):
        assert await refusal(asked) == "history_pruned"


async def test_what_is_kept_of_histories_is_bounded(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jeton.engine.look.history.EVERY", 1)
    assert EVERY > 1
    lookup = Lookup(opened.host)
    row = await lookup.row(await panel(opened.engine))
    program = await lookup.program(row.workflow, row.version)
    free, tight = Histories(opened.host.reads), Histories(opened.host.reads, 1_200)
    for entry in (*range(row.entries), *reversed(range(row.entries))):
        graphs = [(await histories.at(program, row, entry)).tally for histories in (free, tight)]
        assert graphs[0] == graphs[1]
        assert tight.bytes <= 1_200
    assert free.bytes > 1_200

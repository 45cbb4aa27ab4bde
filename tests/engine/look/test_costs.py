"""What a look costs, in decoded entries: what was missed, and not what there was."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec
import pytest

import jeton
from jeton.actor.journal import encode_entry, next_hash
from jeton.apply.record import count_events
from jeton.engine.engine import Engine
from jeton.engine.look.history import EVERY
from jeton.hosts.sql import line, store
from jeton.hosts.sql.connection import JournalRow
from jeton.hosts.sqlite.file.connect import connect
from jeton.hosts.sqlite.file.line import append_entries
from jeton.model.decision import NoteFiring
from jeton.model.entry import Entry
from jeton.model.message import TriggerHeard
from tests.engine.waits import LIBRARY, parked


def fill(path: Path, run: str, count: int) -> None:
    """Give a run more entries of one event each, as if it had heard of so many triggers."""
    db = connect(path)
    try:
        query = "select hash, body from journal where run = ? order by number desc limit 1"
        last, body = next(iter(list(db.execute(query, (run,)))))
        before = msgspec.json.decode(body, type=Entry)
        first, event = before.number + 1, before.first_event + count_events(before.decisions)
        rows: list[JournalRow] = []
        for number in range(first, first + count):
            heard = TriggerHeard(before.at + number, "t", 1)
            made = encode_entry(Entry(number, event + number - first, (heard,), (NoteFiring("t", 1),)))
            last = next_hash(last, made)
            rows.append((run, number, last, made))
        with db:
            append_entries(db, rows)
            db.execute("update runs set entries = ?, hash = ? where run = ?", (first + count, last, run))
    finally:
        db.close()


@contextmanager
def counting() -> Generator[list[int]]:
    """The numbers of the entries that are decoded in it."""
    decoded: list[int] = []

    def noted(body: bytes) -> Entry:
        entry = msgspec.json.decode(body, type=Entry)
        decoded.append(entry.number)
        return entry

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(line, "decode_entry", noted)
        patched.setattr(store, "decode_entry", noted)
        yield decoded


@asynccontextmanager
async def long_run(path: Path, entries: int) -> AsyncGenerator[tuple[Engine, str], None]:
    """A run that waits, with so many entries and one run of others before and after them."""
    async with jeton.open(path, grace_s=0) as engine:
        await engine.deploy(LIBRARY)
        run, other = await parked(engine, "outer"), await parked(engine, "ask", {"what": "it"})
    fill(path, other.id, 500)
    fill(path, run.id, entries)
    fill(path, other.id, 50)
    async with jeton.open(path, owner=False) as engine:
        yield engine, run.id


async def missed(engine: Engine, run: str, events: int) -> dict[str, int]:
    """How many entries are decoded to give the last events of a run, by who asks."""
    last = (await engine.entries(run, (await entries_of(engine, run)) - 2))[0].first_event
    found: dict[str, int] = {}
    with counting() as decoded:
        given = [event async for event in engine.events(run, last - events)]
    assert [event["seq"] for event in given if event["run_id"] == run][-1] == last
    assert len([event for event in given if event["run_id"] == run]) == events
    found["events"] = len(decoded)
    with counting() as decoded:
        tree = [entry async for _, entry in engine.tree(run, last - events)]
    assert len(tree) >= events
    found["tree"] = len(decoded)
    position = str(await engine.position(run, last - events))
    with counting() as decoded:
        told = [event async for entry in engine.line(position, run=run) for _, event in entry.events()]
    assert [event["seq"] for event in told if event["run_id"] == run] == list(range(last - events + 1, last + 1))
    found["line"] = len(decoded)
    return found


async def entries_of(engine: Engine, run: str) -> int:
    return (await engine.graph(run)).entry + 1


async def test_what_was_missed_costs_the_same_in_a_run_of_any_length(tmp_path: Path) -> None:
    costs: list[dict[str, int]] = []
    for entries in (1_000, 20_000):
        async with long_run(tmp_path / f"{entries}.db", entries) as (engine, run):
            costs.append(await missed(engine, run, 100))
    for kind, cost in costs[1].items():
        assert cost <= 2 * costs[0][kind] <= 500, costs


async def test_an_entry_is_folded_from_near_by_after_a_first_look(tmp_path: Path) -> None:
    async with long_run(tmp_path / "runs.db", 20_000) as (engine, run):
        last = (await engine.graph(run)).entry
        for at in (last, 0, last // 2, 777, last - 1, 499, 500):
            with counting() as decoded:
                graph = await engine.graph(run, at=at)
                context, record = await engine.context(run, at=at), await engine.get(run, at=at)
            assert (graph.entry, graph.live) == (at, at == last)
            assert (record.run_id, context.input) == (run, {})
            assert len(decoded) <= 3 * EVERY
            assert max(decoded, default=at) == at
        with counting() as decoded:
            assert len(await engine.deltas(run, 15_000, 15_099)) == 100
        assert len(decoded) <= EVERY + 100

"""Every list that the command line, the server and the page ask for seeks in an index.

What they really execute is recorded, and SQLite is asked how it would find it. The plans do not depend on what is in a
store, because a store is never analyzed.
"""

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import apsw
import pytest

from jeton.actor.queries.listing import RunFilter
from jeton.executor.memory import MemoryScope
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.file.connect import connect
from jeton.model.ids import RunId
from jeton.model.state.run import RunStatus
from tests.hosts.parked import park

GROWING = (
    "runs", "journal", "sections", "gates", "snapshots", "artifacts", "once", "emitted", "firings", "finished", "usage",
    "tokens_used", "measured", "memories", "start_keys", "inbox",
)  # fmt: skip

GATE = "run, token, node, path, title, since, due, answers, question"
TOTALS = (
    "select day, sum(credits), sum(shortfall), sum(input), sum(output) from"
    " (select day, credits, shortfall, 0 as input, 0 as output from usage union all"
    " select day, 0 as credits, 0 as shortfall, input, output from tokens_used) group by day order by day"
)

# a scan in the order of an index ends at the limit; these answer with, or count, everything there is
WHOLE = {
    "select coalesce(max(position), 0) from journal": "the end of the line",
    "select workflow, status, count(*) from runs group by workflow, status": "counts, once per server, off an index",
    "select status, count(*) from runs group by status order by status": "counts, off an index",
    "select count(*) from gates": "a count",
    "select count(*) from journal": "a count",
    "select coalesce(sum(amount), 0) from grants": "runs under way",
    f"select {GATE} from gates order by since, run, token": "all of them",
    f"select {GATE} from gates where run = ? order by since, run, token": "a sort of what one run has",
    "select run, node, day, workflow, credits, shortfall from usage": "all of it",
    "select run, node, day, workflow, profile, input, output from tokens_used": "all of it",
    TOTALS: "a sum over all days",
}
RUN = RunId("r")
FAILED: frozenset[RunStatus] = frozenset(("failed", "waiting"))


@contextmanager
def recorded() -> Generator[dict[str, int]]:
    """The statements of all connections that are opened meanwhile, with the number of values that they take."""
    found: dict[str, int] = {}

    def trace(cursor: object, statement: str, values: object) -> bool:
        found[statement] = len(cast("tuple[object, ...]", values or ()))
        return True

    def hook(db: apsw.Connection) -> None:
        db.exec_trace = trace

    apsw.connection_hooks.append(hook)
    try:
        yield found
    finally:
        apsw.connection_hooks.remove(hook)


async def ask_everything(host: SqliteHost) -> None:
    """Every list there is, with and without each of its conditions."""
    reads, listing = host.reads, host.listing
    for conversations in (False, True):
        for workflow in (None, "w"):
            for after in (None, RUN):
                await reads.rows(workflow=workflow, after=after, conversations=conversations)
                await reads.rows(workflow=workflow, status="failed", after=after, conversations=conversations)
    for workflow in (None, "w"):
        for statuses in (frozenset[RunStatus](), FAILED):
            for place in (None, (1, RUN)):
                for times in ((None, None), (1, 2)):
                    await listing.runs(RunFilter(workflow, statuses, *times), place, 10)
    await listing.tree(RUN, 10)
    await reads.children(RUN)
    for run in (None, RUN):
        await reads.gates(run)
        await reads.metrics(run)
        for event in (None, "e"):
            await reads.published(run=run, event=event, after=3)
        for trigger in (None, "t"):
            await reads.firings(trigger=trigger, run=run)
        for workflow in (None, "w"):
            for day in (None, "2026-01-01"):
                await reads.usage(run=run, workflow=workflow, day=day, below=run is not None and day is None)
        await reads.line(3, within=run)
    await reads.fired_by(RUN)
    await reads.entries(RUN, 5)
    await reads.stretch(RUN, 5, 9)
    await reads.oldest(RUN)
    await reads.place(RUN, 5)
    await reads.tree_positions(RUN, 5)
    await reads.placed([1, 2])
    await reads.unended(RUN)
    await reads.census()
    await reads.account()
    for before in (None, 4):
        await listing.firings("t", before, 10)
    for first, last in ((None, None), ("2026-01-01", None), (None, "2026-01-31"), ("2026-01-01", "2026-01-31")):
        await listing.used("day", first, last)
    await listing.facts()
    await host.memory.list(MemoryScope("bob", "user", "anna"))


def plan(db: Connection, statement: str, values: int) -> list[str]:
    return [row[3] for row in db.execute(f"explain query plan {statement}", (None,) * values)]


def faults(statement: str, steps: list[str]) -> list[str]:
    """The steps of a plan whose cost grows with the store."""
    limited = " limit " in statement and " = ?" not in statement
    found: list[str] = []
    for step in steps:
        scanned = re.match(r"SCAN (\w+)( USING (COVERING )?INDEX)?", step)
        if scanned and scanned[1] in GROWING and not (limited and ("INDEX" in step or "order by" in statement)):
            found.append(step)
        if step.startswith("USE TEMP B-TREE FOR ORDER BY"):
            found.append(step)
    return found


async def test_no_list_reads_all_runs_or_sorts_them(path: Path) -> None:
    with recorded() as statements:
        host = await park(path)
        statements.clear()
        await ask_everything(host)
        await host.close(0.0)
    db = connect(path)
    lists = {each: values for each, values in statements.items() if re.match(r"\s*(select|with)\b", each)}
    found = {
        statement: steps
        for statement, values in lists.items()
        if statement not in WHOLE and (steps := faults(statement, plan(db, statement, values)))
    }
    assert found == {}
    assert len(lists) > 50
    assert WHOLE.keys() <= lists.keys(), "an exception that nothing asks for"


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("select run from runs where version = 3", id="a condition without an index"),
        pytest.param("select run from runs order by ended_at limit 3", id="an order without an index"),
        pytest.param("select run from firings where depth = ? order by number limit 3", id="few of many, in order"),
        pytest.param("select run from gates where ?1 is null or run = ?1", id="a condition that allows for null"),
    ],
)
async def test_a_list_without_an_index_is_found(path: Path, statement: str) -> None:
    await (await park(path)).close(0.0)
    db = connect(path)
    assert faults(statement, plan(db, statement, 1 if "?" in statement else 0))

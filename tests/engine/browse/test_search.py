"""Pages of runs: together they have every run that is meant, once, however little a page looks at."""

from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

import pytest

import jeton
from jeton.actor.queries.listing import RunFilter, SourceText, UsageTotal, totals
from jeton.actor.rows import TokensUsed, Usage
from jeton.engine.browse import search
from jeton.engine.browse.query import read_query
from jeton.engine.engine import Engine
from jeton.hosts.simulated.host import SimulatedHost
from jeton.hosts.sql.mirrors.credits import totals_in
from jeton.hosts.sqlite.file.connect import connect
from jeton.model.ids import RunId

LIBRARY = {
    "workflows": {
        "even": {"initial_node": "a", "nodes": {"a": {"output_mapping": {"state.n": "input.n"}}}},
        "odd": {"initial_node": "a", "nodes": {"a": {"end": {"failed": {"type": "odd", "message": "no"}}}}},
    }
}  # fmt: skip


@pytest.fixture(params=["sqlite", "simulated"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Engine, None]:
    if request.param == "simulated":
        host = SimulatedHost()
        yield Engine(host)
        await host.close()
    else:
        async with jeton.open(tmp_path / "store.db") as opened:
            yield opened


async def started(engine: Engine, count: int) -> list[RunId]:
    await engine.deploy(LIBRARY)
    runs = [await engine.start("odd" if n % 2 else "even", {"n": n}, key=f"k{n}") for n in range(count)]
    for run in runs:
        await run.result()
    return [run.id for run in runs][::-1]


async def walk(engine: Engine, q: str, wanted: RunFilter, limit: int) -> tuple[list[RunId], int]:
    """All runs that pages have, and how many pages there were."""
    runs, pages, after = list[RunId](), 0, None
    while True:
        found = await engine.browse.search.find(read_query(q), wanted, after, limit)
        assert len(found.rows) <= limit
        runs += [row.run for row in found.rows]
        pages += 1
        if found.next is None:
            return runs, pages
        assert after is None or found.next < after, "every page goes on"
        after = found.next


@pytest.mark.parametrize("limit", [1, 100])
@pytest.mark.parametrize(
    ("q", "wanted", "fitting"),
    [
        ("", RunFilter(), {*range(9)}),
        ("error:odd", RunFilter(), {1, 3, 5, 7}),
        ("status:failed", RunFilter(), {1, 3, 5, 7}),
        ("", RunFilter(statuses=frozenset({"failed", "completed"})), {*range(9)}),
        ("key:k4", RunFilter(), {4}),
        ("state.n:6", RunFilter(), {6}),
        ("node:a", RunFilter(), {1, 3, 5, 7}),
        ("workflow:odd state.n:7", RunFilter(), set[int]()),
        ('"of no run"', RunFilter(), set[int]()),
        ("", RunFilter(until=0), set[int]()),
    ],
)
async def test_pages_have_every_run_once(
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    limit: int,
    q: str,
    wanted: RunFilter,
    fitting: set[int],
) -> None:
    for name, most in (("LOOK_AT", 4), ("AT_A_TIME", 2), ("LOAD", 1)):
        monkeypatch.setattr(search, name, most)
    runs = await started(engine, 9)
    expected = [run for n, run in zip(range(8, -1, -1), runs, strict=True) if n in fitting]
    found, pages = await walk(engine, q, wanted, limit)
    assert sorted(found) == sorted(expected)
    assert len(found) == len(set(found))
    assert pages <= 12


async def test_a_key_and_a_workflow_are_found_at_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "LOOK_AT", 0)
    runs = await started(engine, 5)
    assert (await walk(engine, "workflow:even key:k4", RunFilter(), 10))[0] == [runs[0]]
    assert (await walk(engine, str(runs[2]), RunFilter(), 10))[0] == [runs[2]]
    assert (await walk(engine, "workflow:even key:none", RunFilter(), 10))[0] == []


async def test_texts_are_kept_with_the_versions_that_they_made(engine: Engine) -> None:
    await engine.deploy(LIBRARY)
    catalogue = engine.browse.catalogue
    assert (await catalogue.view("even")).files == ()
    text = "workflows: {even: {initial_node: b, nodes: {b: {}}}}"
    deployed = await catalogue.deploy([SourceText("e.yaml", text)])
    assert deployed.versions == {"even": 2}
    assert [file.text for file in (await catalogue.view("even")).files] == [text]
    assert (await catalogue.view("even@1")).files == ()
    rows = {row.name: (row.version, row.versions) for row in await catalogue.rows()}
    assert rows["even"] == (2, 2)
    assert await catalogue.graph("even") is await catalogue.graph("even@2")


async def test_sums_of_usage_are_the_same_in_sql(tmp_path: Path) -> None:
    usage = [
        Usage(RunId(f"r{n}"), f"n{n % 2}", f"2026-05-0{n % 4 + 1}", f"w{n % 3}", n, n % 2, {"fast": TokensUsed(n, 1)})
        for n in range(1, 12)
    ]
    async with jeton.open(tmp_path / "store.db"):
        pass
    db = connect(tmp_path / "store.db")
    with closing(db):
        for each in usage:
            row = (each.run, each.node, each.day, each.workflow, each.credits, each.shortfall)
            db.execute("insert into usage values(?, ?, ?, ?, ?, ?, x'')", row)
            used = each.tokens["fast"]
            counted = (each.run, each.node, each.day, "fast", each.workflow, used.input, used.output)
            db.execute("insert into tokens_used values(?, ?, ?, ?, ?, ?, ?, x'')", counted)
        for by in ("day", "workflow", "node", "profile"):
            for first, last in ((None, None), ("2026-05-02", "2026-05-03"), ("2027-01-01", None)):
                found: list[UsageTotal] = totals_in(db, by, first, last)
                assert found == totals(usage, by, first, last)

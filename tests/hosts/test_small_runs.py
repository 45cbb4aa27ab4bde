"""Where a run's sections are stored: in its row while they are small, and in rows of their own afterwards."""

from pathlib import Path

import pytest

from jeton.actor.starts import NewRun
from jeton.hosts.sql.bulk import MOST_ROWS, insert_many
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sqlite.file.connect import connect, connect_reader
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.ids import RunId
from jeton.model.json import Json
from tests.hosts.conftest import OpenHost
from tests.hosts.library import Definition, library
from tests.hosts.trivial import TrivialWorkers

LARGE = "x" * 2_000
GATED: Definition = {
    "initial_node": "n0",
    "nodes": {
        "n0": {"task": "work", "output_mapping": {"state.n": "result.n", "state.kept": "1"}},
        "rest": {"wait": {"seconds": 3600}},
    },
    "transitions": [{"from": "n0", "to": "rest"}],
}


def places(path: Path, run: RunId) -> tuple[bool, list[str]]:
    """Whether the row has sections, and the names of those that have rows."""
    db = connect_reader(path)
    packed: bytes | None = db.execute("select small from runs where run = ?", (run,)).get
    rows = [name for (name,) in db.execute("select name from sections where run = ? order by name", (run,))]
    db.close()
    return packed is not None, rows


@pytest.mark.parametrize(
    ("n", "in_row", "rows"),
    [
        pytest.param(1, True, [], id="small"),
        pytest.param(LARGE, False, ["input", "state/kept", "state/n", "tokens/0"], id="outgrown, with all it had"),
    ],
)
async def test_a_run_is_found_again_wherever_it_lies(
    open_host: OpenHost, path: Path, n: Json, in_row: bool, rows: list[str]
) -> None:
    host = await open_host(TrivialWorkers(lambda _: {"n": n}))
    version = await host.deploy(library(w=GATED), "w")
    run, _ = await host.start(NewRun("w", version, {"n": 0}))
    await host.idle()
    assert places(path, run) == (in_row, rows)
    await host.close(0.0)
    host = await open_host()
    live = await host.reads.live(run)
    assert live is not None
    assert (live.state.input, live.state.state) == ({"n": 0}, {"kept": 1, "n": n})
    assert len(live.state.tokens) == 1
    assert verify(path).problems == ()


async def test_one_that_outgrew_its_row_stays_out_of_it(open_host: OpenHost, path: Path) -> None:
    answers = {"n0": LARGE, "n1": "small again"}
    definition: Definition = {
        "initial_node": "n0",
        "nodes": {name: {"task": "work", "output_mapping": {"state.n": "result.n"}} for name in answers},
        "transitions": [{"from": "n0", "to": "n1"}],
    }
    host = await open_host(TrivialWorkers(lambda effect: {"n": answers[effect.node]}))
    version = await host.deploy(library(w=definition), "w")
    run, _ = await host.start(NewRun("w", version, {}))
    await host.ended(run)
    assert places(path, run) == (False, ["input", "state/n"])
    await host.close(0.0)
    assert verify(path).problems == ()


@pytest.mark.parametrize("count", [0, 1, 2, 3, MOST_ROWS - 1, MOST_ROWS, MOST_ROWS + 1, 3 * MOST_ROWS + 5])
def test_rows_go_in_together_whatever_their_number(count: int) -> None:
    db: Connection = connect(":memory:", create=True)
    db.execute("create table t(a primary key, b)")
    insert = "insert into t(a, b) values(?, ?) on conflict(a) do update set b = excluded.b"
    insert_many(db, insert, [(number, "first") for number in range(count)])
    insert_many(db, insert, [(number, f"{number}") for number in range(count)])
    assert list(db.execute("select a, b from t order by a")) == [(number, f"{number}") for number in range(count)]
    db.close()

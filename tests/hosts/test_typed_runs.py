"""The typed tables follow the runs, commit by commit."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest

from jeton.actor.starts import NewRun
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.rows import Write
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.file.connect import connect
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.ids import RunId
from tests.hosts.conftest import OpenHost
from tests.hosts.library import chain, library
from tests.hosts.parked import STATE_SCHEMA, finish, park


def ask(path: Path, query: str) -> list[tuple[Any, ...]]:
    db = connect(path)
    try:
        return list(db.execute(query))
    finally:
        db.close()


async def test_a_run_has_its_row_from_its_first_commit(path: Path) -> None:
    host = await park(path)
    assert ask(path, "select run_id, n from state_panel_v1") == [("panel", None)]
    assert ask(path, "select run_id, n from state_chain_v1") == [("chain", 3)]
    await host.close(0.0)


async def test_the_row_of_a_new_run_has_the_defaults_of_its_state(open_host: OpenHost, path: Path) -> None:
    host = await open_host()
    properties = {"n": {"type": "integer", "default": 4}, "tags": {"items": {"type": "string"}, "default": ["new"]}}
    waits = {"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 3600}}}}
    version = await host.deploy(library(w={**waits, "state_schema": {"properties": properties}}), "w")
    run, _ = await host.start(NewRun("w", version, {}))
    assert ask(path, "select run_id, n from state_w_v1") == [(run, 4)]
    assert ask(path, "select position, value from state_w_v1_tags") == [(0, "new")]
    await host.close(0.0)
    assert verify(path).ok


async def test_what_branches_bring_is_there_until_it_is_merged(path: Path) -> None:
    host = await park(path)
    assert ask(path, "select * from branch_panel_v1") == [("panel", 0, 0, "arrived", "2")]
    await host.close(0.0)
    await finish(path)
    assert ask(path, "select * from branch_panel_v1") == []
    assert ask(path, "select position, value from state_panel_v1_votes") == [(0, 2)]


async def test_a_workflow_without_a_state_schema_has_no_tables(path: Path) -> None:
    host = await park(path)
    assert ask(path, "select name from sqlite_schema where name like '%timer%'") == []
    await host.close(0.0)


async def test_a_version_has_tables_of_its_own(open_host: OpenHost, path: Path) -> None:
    host = await open_host()
    for length in (1, 2):
        version = await host.deploy(library(w={**chain(length), "state_schema": STATE_SCHEMA}), "w")
        run, _ = await host.start(NewRun("w", version, {"n": 0}))
        await host.ended(run)
    assert ask(path, "select n from state_w_v1 union all select n from state_w_v2") == [(1,), (2,)]


class Saboteur:
    """Fails one transaction after the typed tables were made in it."""

    def __init__(self) -> None:
        self.left = 1

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        if writes and self.left:
            self.left -= 1
            raise apsw.ConstraintError("sabotage")


async def test_tables_made_in_a_transaction_that_was_taken_back_are_made_again(open_host: OpenHost, path: Path) -> None:
    host = await open_host(mirrors=(Saboteur(),))
    version = await host.deploy(library(w={**chain(2), "state_schema": STATE_SCHEMA}), "w")
    started = await asyncio.gather(
        *(host.start(NewRun("w", version, {"n": 0})) for _ in range(3)), return_exceptions=True
    )
    runs = [found[0] for found in started if not isinstance(found, BaseException)]
    for run in runs:
        assert (await host.ended(run)).status == "completed"
    assert {run for (run,) in ask(path, "select run_id from state_w_v1")} == set(runs)
    assert verify(path).ok


@pytest.mark.parametrize("key", ["verdict; drop table runs", 'a"b', "select"])
async def test_hostile_names_in_a_workflow_stay_names(open_host: OpenHost, path: Path, key: str) -> None:
    host: SqliteHost = await open_host()
    definition = {
        **chain(1),
        "state_schema": {"type": "object", "properties": {key: {"type": "string"}, "n": {"type": "integer"}}},
    }
    version = await host.deploy(library(w=definition), "w")
    run, _ = await host.start(NewRun("w", version, {"n": 0}, run=RunId("r'); drop table runs; --")))
    await host.ended(run)
    assert ask(path, "select run_id, n from state_w_v1") == [(run, 1)]
    assert verify(path).ok

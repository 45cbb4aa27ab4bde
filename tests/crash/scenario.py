"""What a process does while it is being killed, and what must be true afterwards.

usage: python -m tests.crash.scenario NAME STORE     play it, and say each acknowledgement as it comes
"""

import asyncio
import sys
from pathlib import Path
from typing import Literal

import msgspec

from jeton.actor.ports import RunRow, decode_entry
from jeton.actor.replay import replay
from jeton.actor.sections import load_run
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.backup import backup
from jeton.hosts.sqlite.chain import first_hash, next_hash
from jeton.hosts.sqlite.connect import connect, connect_reader
from jeton.hosts.sqlite.migrate import SCHEMA_VERSION, prepare
from jeton.hosts.sqlite.store import Store
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.run import TERMINAL
from tests.hosts.library import QUORUM, RETRY, WAIT, Definition, chain, library
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work

PATIENCE_S = 60
NEXT_SCHEMA = {
    SCHEMA_VERSION + 1: "create table later(x); insert into later"
    " with recursive count(n) as (select 1 union all select n + 1 from count where n < 500) select n from count;"
}


class Scenario(msgspec.Struct, frozen=True):
    """Runs of one workflow, each with a key, so that a client who was told nothing can ask again."""

    definition: Definition
    inputs: tuple[Json, ...]
    output: Json
    then: Literal["backup", "migration"] | None = None  # what is done to the store once its runs have ended


SCENARIOS = {
    "start": Scenario(chain(1), ({"n": 0}, {"n": 0}, {"n": 0}), {"n": 1}),
    "quorum": Scenario(QUORUM, ({"items": list(range(6))},), {"votes": 3}),
    "retry": Scenario(RETRY, ({},), {"n": 3}),
    "wait": Scenario(WAIT, ({"s": 0.05},), {}),
    "completion": Scenario(chain(6), ({"n": 0}, {"n": 0}), {"n": 6}),
    "backup": Scenario(chain(1), ({"n": 0},), {"n": 1}, then="backup"),
    "migration": Scenario(chain(1), ({"n": 0},), {"n": 1}, then="migration"),
}


def say(line: str) -> None:
    """In one piece: half an acknowledgement is none."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def play(name: str, store: Path) -> None:
    """From opening to closing; says `started`, `ended` or `refused` after the fact."""
    scenario = SCENARIOS[name]
    try:
        host = await SqliteHost.open(store, workers=TrivialWorkers(work))
    except Refused as refused:
        say(f"refused {refused.code}")
        return
    try:
        await asyncio.gather(*[_one(host, scenario, number) for number in range(len(scenario.inputs))])
    except Refused as refused:
        say(f"refused {refused.code}")
    await host.close()
    try:
        await asyncio.to_thread(_do_then, scenario, store)
    except Refused as refused:
        say(f"refused {refused.code}")


def _do_then(scenario: Scenario, store: Path) -> None:
    match scenario.then:
        case "backup":
            backup(store, _copy(store), 0)
        case "migration":
            prepare(store, NEXT_SCHEMA)
        case None:
            pass


def _copy(store: Path) -> Path:
    return store.with_name("copy.db")


async def _one(host: SqliteHost, scenario: Scenario, number: int) -> None:
    version = await host.deploy(library(w=scenario.definition), "w")
    run, _ = await host.start("w", version, scenario.inputs[number], key=str(number))
    say(f"started {run} {number}")
    row = await host.ended(run)
    say(f"ended {run} {msgspec.json.encode(row.output).decode()}")


async def problems_after(name: str, store: Path, said: list[list[str]]) -> list[str]:
    """Open what is left, ask for the same runs again, drive them to their end, and compare with what should be."""
    scenario = SCENARIOS[name]
    found = _take_back(store)
    if _copy(store).exists():
        found += broken_journals(_copy(store))
    host = await SqliteHost.open(store, workers=TrivialWorkers(work))
    try:
        known = {row.run: row for row in host.rows()}
        for word, *rest in said:
            if word == "started" and rest[0] not in known:
                found.append(f"run {rest[0]} was acknowledged and is lost")
            if word == "ended" and known[RunId(rest[0])].status not in TERMINAL:
                found.append(f"run {rest[0]} had ended and has not")
        acknowledged = {number: run for word, run, number in (s for s in said if len(s) == 3) if word == "started"}
        version = await host.deploy(library(w=scenario.definition), "w")
        for number, given in enumerate(scenario.inputs):
            run, _ = await host.start("w", version, given, key=str(number))
            if acknowledged.get(str(number), run) != run:
                found.append(f"key {number} begins run {run}, and had begun {acknowledged[str(number)]}")
        async with asyncio.timeout(PATIENCE_S):
            for row in host.rows():
                await host.ended(row.run)
        rows = host.rows()
        if len(rows) != len(scenario.inputs):
            found.append(f"there are {len(rows)} runs for {len(scenario.inputs)} keys")
        found += [
            f"run {row.run} ended {row.status} with {row.output}" for row in rows if not _as_it_should(row, scenario)
        ]
    finally:
        await host.close()
    return found + broken_journals(store)


def _take_back(store: Path) -> list[str]:
    """A migration is done or it is not; if it is, undo it, so that the runs can go on with today's schema."""
    if not store.exists():
        return []
    db = connect(store)
    try:
        version: int = db.pragma("user_version")
        there = db.execute("select count(*) from sqlite_schema where name = 'later'").get
        rows = db.execute("select count(*) from later").get if there else 0
        if version in NEXT_SCHEMA:
            db.execute("drop table later")
            db.pragma("user_version", SCHEMA_VERSION)
        return [] if rows == (500 if version in NEXT_SCHEMA else 0) else [f"schema {version} has {rows} of its rows"]
    finally:
        db.close()


def _as_it_should(row: RunRow, scenario: Scenario) -> bool:
    return row.status == "completed" and row.output == scenario.output


def broken_journals(store: Path) -> list[str]:
    """Runs whose journal does not lead to their row, or does not fold to their sections."""
    db = connect_reader(store)
    try:
        found = [] if db.pragma("integrity_check") == "ok" else ["SQLite finds the file damaged"]
        runs = [(RunId(run), last) for run, last in db.execute("select run, hash from runs")]
        for run, last in runs:
            bodies = [body for (body,) in db.execute("select body from journal where run = ? order by number", (run,))]
            link = first_hash(run)
            for body in bodies:
                link = next_hash(link, body)
            if link != last:
                found.append(f"the journal of {run} does not lead to its row")
            reader = Store(store)
            stored = reader.load(run)
            reader.close()
            assert stored is not None
            live = load_run(stored.sections)
            again = replay(live.state.head, [decode_entry(body) for body in bodies])
            if again.state.head != live.state.head or again.state.tokens != live.state.tokens:
                found.append(f"the journal of {run} folds to another state than is stored")
    finally:
        db.close()
    return found


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1], Path(sys.argv[2])))

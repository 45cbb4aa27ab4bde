"""What a process does while it is being killed, and what must be true afterwards.

usage: python -m tests.crash.scenario NAME STORE     play it, and say each acknowledgement as it comes
"""

import asyncio
import sys
from pathlib import Path
from typing import Literal

import msgspec

from jeton.actor.journal import decode_entry, first_hash, next_hash
from jeton.actor.replay import replay
from jeton.actor.rows import RunRow
from jeton.actor.sections import load_run
from jeton.actor.starts import NewRun
from jeton.hosts.sqlite import SqliteHost, wall_ms
from jeton.hosts.sqlite.file.connect import connect, connect_reader
from jeton.hosts.sqlite.file.migrate import SCHEMA_VERSION, prepare
from jeton.hosts.sqlite.store import file_store
from jeton.hosts.sqlite.tools.backup import backup
from jeton.model.decision import ReplyTo
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import AnswerGate, Message, SignalRun
from jeton.model.state.run import TERMINAL, RunStatus
from tests.crash.talked import TALK, play_talk, problems_of_talk
from tests.hosts.library import FAMILY, GATE, QUORUM, RETRY, SIGNAL, WAIT, Definition, chain, library
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
    others: dict[str, Definition] = {}  # workflows that this one calls
    children: tuple[RunStatus, ...] = ()  # how those of each run end, in some order
    status: RunStatus = "completed"
    credits: int | None = None  # each run's own, all of which its tree uses
    told: Literal["answer", "signal"] | None = None  # by somebody, once; and again by somebody who was told nothing

    def library(self) -> Library:
        return library(w=self.definition, **self.others)

    def message(self, value: int) -> Message | None:
        """What the runs are told. The output says whose value they took."""
        match self.told:
            case "answer":
                return AnswerGate(wall_ms(), f"told-{value}", value, node="ask")
            case "signal":
                return SignalRun(wall_ms(), f"told-{value}", "go", value, key="k")
            case None:
                return None


SCENARIOS = {
    "start": Scenario(chain(1), ({"n": 0}, {"n": 0}, {"n": 0}), {"n": 1}),
    "quorum": Scenario(QUORUM, ({"items": list(range(6))},), {"votes": 3}),
    "retry": Scenario(RETRY, ({},), {"n": 3}),
    "wait": Scenario(WAIT, ({"s": 0.05},), {}),
    "completion": Scenario(chain(6), ({"n": 0}, {"n": 0}), {"n": 6}),
    "child": Scenario(FAMILY, ({},), {"ns": [2, 3, 4]}, others={"child": chain(1)}, children=("completed",) * 3),
    "credits": Scenario(
        FAMILY,
        ({}, {}),
        {"ns": [2, 3, 4]},
        others={"child": chain(1)},
        children=("completed",) * 3,
        credits=2 + 3 + 3,
    ),
    "exhausted": Scenario(
        FAMILY,
        ({},),
        None,
        others={"child": chain(1)},
        children=("completed", "completed", "exhausted"),
        status="exhausted",
        credits=1 + 3 + 2,
    ),
    "gate": Scenario(GATE, ({}, {}), {"said": 1}, told="answer"),
    "signal": Scenario(SIGNAL, ({}, {}), {"said": 1}, told="signal"),
    "backup": Scenario(chain(1), ({"n": 0},), {"n": 1}, then="backup"),
    "migration": Scenario(chain(1), ({"n": 0},), {"n": 1}, then="migration"),
}
NAMES = (*SCENARIOS, TALK)


def say(line: str) -> None:
    """In one piece: half an acknowledgement is none."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def play(name: str, store: Path) -> None:
    """From opening to closing; says `started`, `told`, `ended` or `refused` after the fact."""
    if name == TALK:
        await play_talk(store, say)
        return
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
    version = await host.deploy(scenario.library(), "w")
    run, _ = await host.start(NewRun("w", version, scenario.inputs[number], key=str(number), credits=scenario.credits))
    say(f"started {run} {number}")
    message = scenario.message(1)
    if message is not None:
        await host.deliver(run, message)
        say(f"told {run} told-1")
    row = await host.ended(run)
    say(f"ended {run} {msgspec.json.encode(row.output).decode()}")


async def problems_after(name: str, store: Path, said: list[list[str]]) -> list[str]:
    """Open what is left, ask for the same runs again, drive them to their end, and compare with what should be."""
    if name == TALK:
        return await problems_of_talk(store, said) + broken_journals(store)
    scenario = SCENARIOS[name]
    found = _take_back(store)
    if _copy(store).exists():
        found += broken_journals(_copy(store))
    host = await SqliteHost.open(store, workers=TrivialWorkers(work))
    try:
        known = {row.run: row for row in await host.reads.rows()}
        for word, *rest in said:
            if word == "started" and rest[0] not in known:
                found.append(f"run {rest[0]} was acknowledged and is lost")
            if word == "ended" and known[RunId(rest[0])].status not in TERMINAL:
                found.append(f"run {rest[0]} had ended and has not")
        acknowledged = {number: run for word, run, number in (s for s in said if len(s) == 3) if word == "started"}
        heard = {RunId(rest[0]) for word, *rest in said if word == "told"}
        found += [f"what run {run} was told is lost" for run in heard if "told-1" not in await _replies(host, run)]
        version = await host.deploy(scenario.library(), "w")
        for number, given in enumerate(scenario.inputs):
            run, _ = await host.start(NewRun("w", version, given, key=str(number), credits=scenario.credits))
            if acknowledged.get(str(number), run) != run:
                found.append(f"key {number} begins run {run}, and had begun {acknowledged[str(number)]}")
            again = scenario.message(2)
            if again is not None:
                await host.deliver(run, again)
        async with asyncio.timeout(PATIENCE_S):
            for row in await host.reads.rows():
                await host.ended(row.run)
        await host.idle()
        rows = [row for row in await host.reads.rows() if row.parent is None]
        if len(rows) != len(scenario.inputs):
            found.append(f"there are {len(rows)} runs for {len(scenario.inputs)} keys")
        for row in rows:
            if not _as_it_should(row, scenario, heard):
                found.append(f"run {row.run} ended {row.status} with {row.output}")
            children = [child.status for child in await host.reads.children(row.run)]
            if sorted(children) != sorted(scenario.children):
                found.append(f"the children of run {row.run} ended {children}")
            found += await _wrong_credits(host, row.run, scenario)
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


async def _replies(host: SqliteHost, run: RunId) -> set[str]:
    """The messages that the run has said yes to."""
    decisions = [decision for entry in await host.reads.entries(run) for decision in entry.decisions]
    return {decision.id for decision in decisions if isinstance(decision, ReplyTo) and decision.accepted}


def _as_it_should(row: RunRow, scenario: Scenario, heard: set[RunId]) -> bool:
    """Who was acknowledged was heard; who was not may have been, or else whoever asked again was."""
    outputs = [scenario.output]
    if scenario.told is not None and row.run not in heard:
        outputs.append({"said": 2})
    return row.status == scenario.status and row.output in outputs


async def _wrong_credits(host: SqliteHost, run: RunId, scenario: Scenario) -> list[str]:
    """What the tree used must be what it was given, and nobody may still have any of it."""
    live = await host.reads.live(run)
    purse = None if live is None else live.state.head.purse
    if live is None or purse is None:
        return [] if scenario.credits is None else [f"run {run} has no credits of its own"]
    used = sum(each.credits for each in await host.reads.usage(run=run, below=True))
    whole = (purse.free, purse.used + purse.below, live.state.lent)
    if (used, *whole) == (scenario.credits, 0, scenario.credits, {}):
        return []
    return [f"the tree of run {run} used {used} of {scenario.credits} credits, and its purse says {whole}"]


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
            reader = file_store(store)
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

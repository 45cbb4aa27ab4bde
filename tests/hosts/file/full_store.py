"""A closed store with a row in every table there is."""

from pathlib import Path

import apsw
import msgspec

from jeton.actor.access.keys import ApiKey, SavedQuery, Session
from jeton.actor.queries.listing import SourceText
from jeton.actor.retention import Rule
from jeton.actor.starts import NewRun
from jeton.executor.event_sink import ActionEvent, MetricSample
from jeton.executor.mcp.pins import pin_of
from jeton.executor.memory import MemoryScope, NewMemory, Source, Vector
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.mirrors.firings import put_finished
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.file.connect import connect
from jeton.hosts.sqlite.file.unowned import store_message, write_unowned
from jeton.model.definition.trigger import OnRequest, Trigger
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import SignalRun
from jeton.model.note import TokensNote
from jeton.planning.triggers.firing import Delivery
from tests.hosts.library import HOLD, Definition, chain, library
from tests.hosts.parked import BEGIN_MS, STATE_SCHEMA, at_first, park
from tests.hosts.trivial import TrivialWorkers

TYPED: Definition = {
    "initial_node": "fill",
    "state_schema": STATE_SCHEMA,
    "nodes": {
        "fill": {
            "task": "work",
            "output_mapping": {
                "state.n": "result.n",
                "state.votes": "[1, 2]",
                "state.author": "{'name': 'x', 'age': 7}",
                "state.more": "0.30000000000000004",
            },
        }
    },
}
CHAIN, SPENDER = RunId("chain"), RunId("spender")
INDEX = {"memory_index", "memory_index_data", "memory_index_idx", "memory_index_config"}
"""The full-text index of memories: tables that SQLite makes and writes."""


async def fill(path: Path) -> None:
    """Make the store."""
    host = await park(path)
    await host.close(0.0)
    says = (TokensNote("s0", "fast", 10, 20),)
    host = await SqliteHost.open(path, workers=TrivialWorkers(at_first, says=says), clock=lambda: BEGIN_MS)
    found = library(typed=TYPED, old=chain(3), spender=HOLD)
    bundle = Library(found.workflows, found.tasks, found.actions, {"credits": {"balance": 1_000, "costs": {"act": 5}}})
    await host.open_account(1_000)
    for name in ("typed", "old", "spender"):
        version = await host.deploy(bundle, name)
        await host.start(NewRun(name, version, {"n": 1}, key=f"key of {name}", run=RunId(name)))
    for name in ("typed", "old"):
        await host.ended(RunId(name))
    await host.prune([Rule("history", 0, workflow="old")])
    await host.artifacts.write(CHAIN, b"content", "text/plain")
    for call in ("done", "begun"):
        await host.idempotency.begin(f"key of {call}", call)
    await host.idempotency.finish("key of done", {"n": 1}, 5_000)
    await host.events.emit(ActionEvent("call-1", "told", {"n": 1}, CHAIN, "n0"))
    await host.events.measure(MetricSample("call-2", "seen", "counter", 1, {"a": "b"}, CHAIN, "n0"))
    trigger = Trigger("by_hand", "chain", OnRequest())
    await host.deploy_triggers({"by_hand": trigger})
    fired = await host.fire(trigger, Delivery("delivery-1", "manual", BEGIN_MS, {"n": 1}))
    assert fired.run is not None
    await host.ended(fired.run)
    await host.set_disabled("timer", True)
    await host.listing.keep_source({"old": 1}, [SourceText("old.yaml", "workflows: {}")])
    await host.pins.put(pin_of("files", "read", "Reads a file.", {"type": "object"}, BEGIN_MS))
    scope = MemoryScope("bob", "user", "anna")
    new = NewMemory("r1:1:1:s0", scope, "fact", "Anna lives in Oslo", 0.5, {"n": 1}, Source("c1", 2, tainted=True))
    old = await host.memory.write(msgspec.structs.replace(new, vector=Vector("m", b"1234")))
    long = msgspec.structs.replace(new, key="r1:2:1:s0", content="Anna lives in Bergen " * 1000, supersedes=old.id)
    await host.memory.write(long)
    await host.access.add_key(ApiKey("key00001", "hash", "ci", ("read", "run"), "anna", BEGIN_MS, BEGIN_MS + 1))
    await host.access.add_key(ApiKey("key00002", "hash", "old", ("admin",), None, BEGIN_MS))
    await host.access.revoke_key("key00002", BEGIN_MS + 2)
    await host.access.add_session(Session("hash", "key00001", BEGIN_MS, BEGIN_MS + 1))
    await host.access.save_query(SavedQuery("failed", "status:failed", BEGIN_MS))
    await host.access.keep_place("telemetry", "p1-0")
    await host.close(0.0)
    store_message(path, RunId("signal"), SignalRun(BEGIN_MS, "s", "stop", 1))
    write_unowned(path, lambda db: put_finished(db, CHAIN))


def indexed(db: Connection) -> list[str]:
    """What the full-text index of memories says. Its tables also have counts and gaps that mean nothing."""
    db.execute("create virtual table temp.memory_terms using fts5vocab(main, memory_index, instance)")
    found = sorted(map(repr, db.execute("select term, doc, col from temp.memory_terms")))
    words = {term for (term,) in db.execute("select distinct term from temp.memory_terms")}
    for word in sorted(words):
        matches = db.execute("select rowid from memory_index where memory_index match ?", (f'"{word}"',))
        found.append(f"{word}: {[number for (number,) in matches]}")
    return found


def dump(path: Path) -> object:
    """Everything that can be read in a store; what cannot be read counts as different."""
    try:
        db = connect(path, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            schema = list(db.execute("select type, name, tbl_name, sql from sqlite_schema order by name"))
            tables = [name for kind, name, *_ in schema if kind == "table"]
            rows = {
                name: sorted(map(repr, db.execute(f'select * from "{name}"'))) for name in tables if name not in INDEX
            }
            rows["memory_index"] = indexed(db)
            return schema, rows, db.pragma("user_version"), db.pragma("application_id")
        finally:
            db.close()
    except (apsw.Error, UnicodeDecodeError, Refused) as problem:
        return str(problem)

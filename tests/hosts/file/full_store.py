"""A closed store with a row in every table there is."""

from pathlib import Path

import apsw

from jeton.actor.retention import Rule
from jeton.actor.starts import NewRun
from jeton.executor.event_sink import ActionEvent, MetricSample
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.file.connect import connect
from jeton.hosts.sqlite.loop.recovery import store_message, write_unowned
from jeton.hosts.sqlite.mirrors.firings import put_finished
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
    await host.close(0.0)
    store_message(path, RunId("signal"), SignalRun(BEGIN_MS, "s", "stop", 1))
    write_unowned(path, lambda db: put_finished(db, CHAIN))


def dump(path: Path) -> object:
    """Everything that can be read in a store; what cannot be read counts as different."""
    try:
        db = connect(path, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            schema = list(db.execute("select type, name, tbl_name, sql from sqlite_schema order by name"))
            tables = [name for kind, name, *_ in schema if kind == "table"]
            rows = {name: sorted(map(repr, db.execute(f'select * from "{name}"'))) for name in tables}
            return schema, rows, db.pragma("user_version"), db.pragma("application_id")
        finally:
            db.close()
    except (apsw.Error, UnicodeDecodeError, Refused) as problem:
        return str(problem)

"""Snapshots by policy, and pruning by age and status, a little at a time."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

import pytest

from jeton.actor.queries.snapshots import NEVER, ON_COMPLETE, SnapshotPolicy, snapshot_due, snapshot_policy
from jeton.actor.retention import Pruned, Rule, Summary, prunable
from jeton.actor.starts import NewRun
from jeton.definitions.bundle import bundle_of
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.mirrors.firings import drop_trigger, put_progress, put_triggers
from jeton.hosts.sql.tools.retention import ended_runs, prune, summary_of
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.file.connect import connect
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.definition.trigger import OnEvent, OnRequest, OnRunFinished, OnSchedule, Trigger
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import CancelRun
from jeton.planning.triggers.firing import Delivery
from tests.hosts.library import chain, library
from tests.hosts.parked import BEGIN_MS, PARKED, park
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work

Value = TypeVar("Value")


@pytest.mark.parametrize(
    ("asked", "policy"),
    [
        pytest.param(None, ON_COMPLETE, id="nothing said"),
        pytest.param("on_complete", ON_COMPLETE, id="at the end"),
        pytest.param("never", NEVER, id="never"),
        pytest.param({"every_n_entries": 3}, SnapshotPolicy(3), id="every so many"),
        pytest.param({"every_n_entries": 0}, ON_COMPLETE, id="every none"),
        pytest.param({"every_n_entries": True}, ON_COMPLETE, id="no number"),
        pytest.param("sometimes", ON_COMPLETE, id="other words"),
    ],
)
def test_a_policy_is_read(asked: Json, policy: SnapshotPolicy) -> None:
    assert snapshot_policy({} if asked is None else {"snapshot_policy": asked}) == policy


@pytest.mark.parametrize(
    ("policy", "due"),
    [
        pytest.param(NEVER, [], id="never"),
        pytest.param(ON_COMPLETE, [6], id="at the end"),
        pytest.param(SnapshotPolicy(3), [2, 5, 6], id="every third, and at the end"),
        pytest.param(SnapshotPolicy(1), [0, 1, 2, 3, 4, 5, 6], id="always"),
    ],
)
def test_when_a_snapshot_is_due(policy: SnapshotPolicy, due: list[int]) -> None:
    assert [number for number in range(7) if snapshot_due(policy, number, ended=number == 6)] == due


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        pytest.param("never", {}, id="never"),
        pytest.param("on_complete", {"chain": 3}, id="at the end"),
        pytest.param(
            {"every_n_entries": 2},
            {"chain": 3, "panel": 1, "backoff": 1, "gate": 1, "signal": 1, "dispatched": 1},  # closing returns its task
            id="every second, only the last",
        ),
    ],
)
async def test_snapshots_are_kept(path: Path, asked: Json, kept: dict[str, int]) -> None:
    host = await park(path, {"snapshot_policy": asked})
    await host.close(0.0)
    db = connect(path)
    assert dict(db.execute("select run, number from snapshots")) == kept
    db.close()
    assert verify(path).ok


HISTORY_GONE = Pruned(entries=4, runs=0, kept=0)


async def test_pruned_history_leaves_record_context_and_a_summary_of_the_tokens(path: Path) -> None:
    host = await park(path)
    before = await host.reads.row(RunId("chain")), await host.reads.live(RunId("chain"))
    assert await host.prune([Rule("history", 0)]) == HISTORY_GONE
    after = await host.reads.row(RunId("chain")), await host.reads.live(RunId("chain"))
    assert before[0] == after[0]
    assert before[1] is not None
    assert after[1] is not None
    assert before[1].state.state == after[1].state.state
    assert await host.reads.entries(RunId("chain")) == []
    await host.close(0.0)
    db = connect(path)
    summary = summary_of(db, RunId("chain"))
    assert isinstance(summary, Summary)
    assert summary.tokens == {"n0": {"completed": 1}, "n1": {"completed": 1}, "n2": {"completed": 1}}
    assert summary.alive == {}
    db.close()
    assert verify(path).ok


async def test_pruning_again_changes_nothing(path: Path) -> None:
    host = await park(path)
    await host.prune([Rule("history", 0)])
    assert await host.prune([Rule("history", 0)]) == Pruned()
    await host.close(0.0)


async def test_what_is_altered_after_pruning_is_still_found(path: Path) -> None:
    host = await park(path)
    await host.prune([Rule("history", 0)])
    await host.close(0.0)
    db = connect(path)
    db.execute("update runs set small = cast(replace(cast(small as text), ':3', ':4') as blob) where run = 'chain'")
    db.close()
    assert [found.run_id for found in verify(path).problems] == ["chain"]


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        pytest.param(Rule("run", 0), {*PARKED} - {"chain", "timer"}, id="all that have ended"),
        pytest.param(Rule("run", 1), set(PARKED), id="none is so old"),
        pytest.param(Rule("run", 0, frozenset({"cancelled"})), {*PARKED} - {"timer"}, id="by status"),
        pytest.param(Rule("run", 0, frozenset({"running"})), set(PARKED), id="never one under way"),
        pytest.param(Rule("run", 0, workflow="chain"), {*PARKED} - {"chain"}, id="by workflow"),
    ],
)
async def test_runs_are_dropped_by_age_and_status(path: Path, rule: Rule, left: set[str]) -> None:
    host = await park(path)
    await host.deliver(RunId("timer"), CancelRun(BEGIN_MS))
    assert (await host.prune([rule])).runs == len(PARKED) - len(left)
    assert {row.run for row in await host.reads.rows()} == left
    await host.close(0.0)
    assert verify(path).ok
    db = connect(path)
    for table, column in (("journal", "run"), ("sections", "run"), ("state_chain_v1", "run_id")):
        assert {run for (run,) in db.execute(f"select {column} from {table}")} <= left
    db.close()


async def test_history_that_no_snapshot_replaces_is_kept(path: Path) -> None:
    host = await park(path, {"snapshot_policy": "never"})
    assert await host.prune([Rule("history", 0)]) == Pruned(kept=1)
    assert len(await host.reads.entries(RunId("chain"))) == 4
    assert await host.prune([Rule("run", 0)]) == Pruned(entries=4, runs=1)
    await host.close(0.0)
    assert verify(path).ok


async def test_a_long_history_goes_in_steps_and_may_stop_after_any(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jeton.hosts.sql.tools.retention.ROWS_PER_STEP", 1)
    host = await park(path)
    steps = 0

    async def interrupted(act: Callable[[Connection], Value]) -> Value:
        nonlocal steps
        steps += 1
        if steps == 6:
            raise asyncio.CancelledError
        db = connect(path)
        try:
            with db:
                return act(db)
        finally:
            db.close()

    with pytest.raises(asyncio.CancelledError):
        await prune(interrupted, [Rule("history", 0)], BEGIN_MS)
    assert 0 < len(await host.reads.entries(RunId("chain"))) < 4
    assert verify(path).ok
    await host.prune([Rule("history", 0)])
    assert await host.reads.entries(RunId("chain")) == []
    await host.close(0.0)
    assert verify(path).ok


async def test_runs_go_on_while_others_are_pruned(path: Path) -> None:
    host = await SqliteHost.open(path, workers=TrivialWorkers(work))
    version = await host.deploy(library(w=chain(10)), "w")

    async def run() -> None:
        for _ in range(10):
            started, _ = await host.start(NewRun("w", version, {"n": 0}))
            await host.ended(started)

    load = asyncio.gather(*(run() for _ in range(4)))
    pruned = 0
    while not load.done():
        pruned += (await host.prune([Rule("run", 0)])).runs
        await asyncio.sleep(0)
    await load
    pruned += (await host.prune([Rule("run", 0)])).runs
    assert pruned == 40
    assert await host.reads.rows() == []
    await host.close()
    assert verify(path).ok


DAY_MS = 86_400_000


class Fired:
    """A store on a test clock with a trigger, whose runs end at once."""

    def __init__(self, host: SqliteHost, clock: list[int]) -> None:
        self.host = host
        self.clock = clock
        self.trigger = Trigger("t", "w", OnRequest())

    @classmethod
    async def begin(cls, path: Path) -> "Fired":
        clock = [BEGIN_MS]
        host = await SqliteHost.open(path, workers=TrivialWorkers(work), clock=lambda: clock[0])
        await host.deploy(bundle_of(library(w=chain(1)), "w"), "w")
        return cls(host, clock)

    async def fire(self, delivery: str, start: str = "w") -> RunId | None:
        trigger = Trigger(self.trigger.name, start, self.trigger.on)
        row = await self.host.fire(trigger, Delivery(delivery, "manual", self.clock[0]))
        await self.host.idle()
        return row.run

    async def deliveries(self) -> list[str]:
        return sorted(firing.delivery for firing in await self.host.reads.firings())


async def test_a_delivery_is_known_for_as_long_as_the_run_it_started(path: Path) -> None:
    fired = await Fired.begin(path)
    first = await fired.fire("a")
    assert await fired.fire("refused", "nowhere") is None
    fired.clock[0] += DAY_MS
    await fired.fire("b")
    assert (await fired.host.prune([Rule("run", 2 * DAY_MS)])).firings == 0
    assert await fired.fire("a") == first
    assert (await fired.host.prune([Rule("history", 0)])).firings == 0
    pruned = await fired.host.prune([Rule("run", DAY_MS)])
    assert (pruned.runs, pruned.firings) == (1, 2)
    assert await fired.deliveries() == ["b"]
    assert await fired.fire("a") not in (None, first)
    await fired.host.close(0.0)
    assert verify(path).ok


async def test_the_latest_firing_of_a_trigger_stays_until_there_is_a_later_one(path: Path) -> None:
    fired = await Fired.begin(path)
    await fired.fire("a")
    fired.clock[0] += DAY_MS
    assert (await fired.host.prune([Rule("run", 0)])).firings == 0
    assert await fired.deliveries() == ["a"]
    await fired.fire("b")
    fired.clock[0] += DAY_MS
    assert (await fired.host.prune([Rule("run", 0)])).firings == 1
    assert await fired.deliveries() == ["b"]
    await fired.host.close(0.0)


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        pytest.param(Rule("run", 0), ["last"], id="of all runs: what was refused goes too"),
        pytest.param(Rule("run", 0, frozenset({"cancelled"})), ["a", "last", "refused"], id="of others: nothing"),
        pytest.param(Rule("run", 0, workflow="w"), ["last", "refused"], id="of one workflow: only its runs'"),
    ],
)
async def test_firings_go_with_the_runs_that_a_rule_is_about(path: Path, rule: Rule, left: list[str]) -> None:
    fired = await Fired.begin(path)
    await fired.fire("a")
    await fired.fire("refused", "nowhere")
    await fired.fire("last", "nowhere")
    await fired.host.prune([rule])
    assert await fired.deliveries() == left
    await fired.host.close(0.0)


async def test_a_firing_whose_run_has_not_begun_is_kept(path: Path) -> None:
    fired = await Fired.begin(path)
    await fired.host.close(0.0)
    guest = await SqliteHost.open(path, workers=None, owner=False)
    for delivery in ("a", "b"):
        await guest.fire(fired.trigger, Delivery(delivery, "manual", BEGIN_MS))
    await guest.close()

    async def at_once(act: Callable[[Connection], Value]) -> Value:
        db = connect(path)
        try:
            with db:
                return act(db)
        finally:
            db.close()

    pruned = await prune(at_once, [Rule("run", 0)], BEGIN_MS)
    assert pruned.firings == 0
    assert verify(path).ok


async def test_a_time_of_a_schedule_whose_firing_is_gone_does_not_fire_again(path: Path) -> None:
    fired = await Fired.begin(path)
    hourly = Trigger("hourly", "w", OnSchedule("0 * * * *", missed="all"))
    await fired.host.deploy_triggers({"hourly": hourly})
    for _ in range(30):
        fired.clock[0] += 3_600_000
        await fired.host.idle()
    assert len(await fired.deliveries()) == 30
    assert (await fired.host.prune([Rule("run", 0)])).firings == 29
    await fired.host.deploy_triggers({"hourly": hourly})
    await fired.host.close(0.0)
    host = await SqliteHost.open(path, workers=TrivialWorkers(work), clock=lambda: fired.clock[0])
    await host.idle()
    assert (len(await host.reads.firings()), await host.reads.rows()) == (1, [])
    await host.close(0.0)


@pytest.fixture
def db() -> Iterator[Connection]:
    made = connect(":memory:", create=True)
    for _ in made.execute((files("jeton.hosts.sqlite") / "schema.sql").read_text()):
        pass
    yield made
    made.close()


def prunable_runs(db: Connection) -> list[str]:
    rule = Rule("run", 0)
    return [run.run for run in ended_runs(db, rule, 1, (-1, RunId(""))) if prunable(rule, run, 1)]


def ended(db: Connection, run: str, workflow: str) -> None:
    """Add a run that has ended, and whose end a trigger may wait for."""
    row = (run, workflow, 1, "completed", 0, 0, 0, 0, None, 0, 1, b"", b"", None, None)
    db.execute(f"insert into runs values({', '.join('?' * len(row))})", row)
    db.execute("insert into finished(run) values(?)", (run,))


def test_a_run_whose_end_a_trigger_is_yet_to_fire_for_is_left_for_the_next_time(db: Connection) -> None:
    put_triggers(db, {"t": Trigger("t", "w", OnRunFinished("w"))}, 0)
    ended(db, "r", "w")
    old = partial(prunable_runs, db)
    assert old() == []
    put_progress(db, [], {}, [1])
    assert old() == ["r"]


def test_a_run_whose_event_a_trigger_is_yet_to_hear_is_left_for_the_next_time(db: Connection) -> None:
    put_triggers(db, {name: Trigger(name, "w", OnEvent(name)) for name in ("told", "untold")}, 0)
    ended(db, "r", "w")
    put_progress(db, [], {}, [1])
    db.execute("insert into emitted(id, run, node, event, data, at) values('e', 'r', 'n', 'told', x'31', 0)")
    old = partial(prunable_runs, db)
    assert old() == []
    put_progress(db, [], {"told": 1}, [])
    assert old() == ["r"]


def test_ends_that_nobody_waits_for_any_more_are_forgotten(db: Connection) -> None:
    ended(db, "r", "w")
    put_triggers(db, {name: Trigger(name, "w", OnRunFinished(name)) for name in ("w", "v")}, 0)
    assert list(db.execute("select run from finished")) == []  # it ended before anybody waited for it
    db.execute("insert into finished(run) values('r')")
    ended(db, "s", "v")
    drop_trigger(db, "w")
    assert list(db.execute("select run from finished")) == [("s",)]

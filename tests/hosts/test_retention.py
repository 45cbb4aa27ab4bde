"""Snapshots by policy, and pruning by age and status, a little at a time."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.connect import Connection, connect
from jeton.hosts.sqlite.retention import Pruned, Rule, Summary, prune, summary_of
from jeton.hosts.sqlite.snapshots import ON_COMPLETE, Every, Policy, is_due, policy_of
from jeton.hosts.sqlite.verify import verify
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import CancelRun
from tests.hosts.library import chain, library
from tests.hosts.parked import BEGIN_MS, PARKED, park
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work


@pytest.mark.parametrize(
    ("asked", "policy"),
    [
        pytest.param(None, ON_COMPLETE, id="nothing said"),
        pytest.param("on_complete", ON_COMPLETE, id="at the end"),
        pytest.param("never", None, id="never"),
        pytest.param({"every_n_entries": 3}, Every(3), id="every so many"),
        pytest.param({"every_n_entries": 0}, ON_COMPLETE, id="every none"),
        pytest.param({"every_n_entries": True}, ON_COMPLETE, id="no number"),
        pytest.param("sometimes", ON_COMPLETE, id="other words"),
    ],
)
def test_a_policy_is_read(asked: Json, policy: Policy) -> None:
    assert policy_of({} if asked is None else {"snapshot_policy": asked}) == policy


@pytest.mark.parametrize(
    ("policy", "due"),
    [
        pytest.param(None, [], id="never"),
        pytest.param(ON_COMPLETE, [6], id="at the end"),
        pytest.param(Every(3), [2, 5, 6], id="every third, and at the end"),
        pytest.param(Every(1), [0, 1, 2, 3, 4, 5, 6], id="always"),
    ],
)
def test_when_a_snapshot_is_due(policy: Policy, due: list[int]) -> None:
    assert [number for number in range(7) if is_due(policy, number, ended=number == 6)] == due


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        pytest.param("never", {}, id="never"),
        pytest.param("on_complete", {"chain": 3}, id="at the end"),
        pytest.param(
            {"every_n_entries": 2},
            {"chain": 3, "panel": 1, "backoff": 1, "gate": 1, "signal": 1},
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
    before = host.row(RunId("chain")), host.live(RunId("chain"))
    assert await host.prune([Rule("history", 0)]) == HISTORY_GONE
    after = host.row(RunId("chain")), host.live(RunId("chain"))
    assert before[0] == after[0]
    assert before[1] is not None
    assert after[1] is not None
    assert before[1].state.state == after[1].state.state
    assert host.entries(RunId("chain")) == []
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
    assert {row.run for row in host.rows()} == left
    await host.close(0.0)
    assert verify(path).ok
    db = connect(path)
    for table, column in (("journal", "run"), ("sections", "run"), ("state_chain_v1", "run_id")):
        assert {run for (run,) in db.execute(f"select {column} from {table}")} <= left
    db.close()


async def test_history_that_no_snapshot_replaces_is_kept(path: Path) -> None:
    host = await park(path, {"snapshot_policy": "never"})
    assert await host.prune([Rule("history", 0)]) == Pruned(kept=1)
    assert len(host.entries(RunId("chain"))) == 4
    assert await host.prune([Rule("run", 0)]) == Pruned(entries=4, runs=1)
    await host.close(0.0)
    assert verify(path).ok


async def test_a_long_history_goes_in_steps_and_may_stop_after_any(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jeton.hosts.sqlite.retention.ROWS_AT_ONCE", 1)
    host = await park(path)
    steps = 0

    async def interrupted(act: Callable[[Connection], object]) -> object:
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
    assert 0 < len(host.entries(RunId("chain"))) < 4
    assert verify(path).ok
    await host.prune([Rule("history", 0)])
    assert host.entries(RunId("chain")) == []
    await host.close(0.0)
    assert verify(path).ok


async def test_runs_go_on_while_others_are_pruned(path: Path) -> None:
    host = await SqliteHost.open(path, workers=TrivialWorkers(work))
    version = await host.deploy(library(w=chain(10)), "w")

    async def run() -> None:
        for _ in range(10):
            started, _ = await host.start("w", version, {"n": 0})
            await host.ended(started)

    load = asyncio.gather(*(run() for _ in range(4)))
    pruned = 0
    while not load.done():
        pruned += (await host.prune([Rule("run", 0)])).runs
        await asyncio.sleep(0)
    await load
    pruned += (await host.prune([Rule("run", 0)])).runs
    assert pruned == 40
    assert host.rows() == []
    await host.close()
    assert verify(path).ok

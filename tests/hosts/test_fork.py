"""Forks on the SQLite and the simulated host: shared history, of which nothing is done again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jeton.actor.journal import decode_entry
from jeton.actor.starts import NewFork, NewRun
from jeton.hosts.simulated.script import Answer, Script, ScriptedCall
from jeton.hosts.simulated.world import World
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.decision import EndChild
from jeton.model.effect import StartTask
from jeton.model.failure import Refused, TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.message import AnswerGate, CancelRun, SignalRun
from tests.hosts.library import Definition, chain, library
from tests.hosts.parked import BEGIN_MS, DAY_MS
from tests.hosts.trivial import HELD, TrivialWorkers
from tests.hosts.works import work

LENGTH = 20
CHAIN = chain(LENGTH)


def adding(call: ScriptedCall) -> Answer:
    given = call.input.get("n") if isinstance(call.input, dict) else None
    return Answer({"n": given + 1 if isinstance(given, int) else 1})


def counted(calls: list[tuple[str, str]]) -> Script:
    def answer(call: ScriptedCall) -> Answer:
        calls.append((call.run, call.node))
        return adding(call)

    return Script({f"n{i}": answer for i in range(LENGTH)})


async def test_a_fork_at_every_entry_shares_the_past_and_does_only_the_rest(path: Path) -> None:
    workers = TrivialWorkers(work)
    host = await SqliteHost.open(path, workers=workers)
    version = await host.deploy(library(w=CHAIN), "w")
    run, _ = await host.start(NewRun("w", version, {"n": 0}))
    await host.ended(run)
    entries = await host.reads.entries(run)
    assert len(entries) >= LENGTH
    for entry in entries:
        workers.calls.clear()
        fork = await host.fork(NewFork(run, entry.number, {}))
        row = await host.ended(fork)
        assert (row.status, row.output) == ("completed", {"n": LENGTH})
        assert row.forked is not None
        assert (row.forked.run, row.forked.entry) == (run, entry.number)
        begun = [call.node for _, call in workers.calls]
        assert begun == [f"n{i}" for i in range(entry.number, LENGTH)]
        if entry.number < len(entries) - 1:  # the last is cut before the end of the run
            assert (await host.reads.entries(fork))[: entry.number + 1] == entries[: entry.number + 1]
    await host.close(0.0)
    assert verify(path).problems == ()


def test_a_fork_at_every_entry_in_the_simulated_world() -> None:
    calls: list[tuple[str, str]] = []
    world = World(library(w=CHAIN), script=counted(calls))
    run = world.start("w", {"n": 0})
    world.run()
    journal = world.store.journal(run)
    for number in range(len(journal)):
        calls.clear()
        fork = world.fork(run, number)
        world.run()
        row = world.store.row(fork)
        assert row is not None
        assert (row.status, row.output) == ("completed", {"n": LENGTH})
        assert [node for _, node in calls] == [f"n{i}" for i in range(number, LENGTH)]
        assert {name for name, _ in calls} <= {fork}
        if number < len(journal) - 1:
            assert world.store.journal(fork)[: number + 1] == journal[: number + 1]


async def test_an_edited_state_changes_what_follows(path: Path) -> None:
    host = await SqliteHost.open(path, workers=TrivialWorkers(work))
    version = await host.deploy(library(w=CHAIN), "w")
    run, _ = await host.start(NewRun("w", version, {"n": 0}))
    await host.ended(run)
    fork = await host.fork(NewFork(run, 9, {"state.n": 100}))
    row = await host.ended(fork)
    assert row.output == {"n": 100 + LENGTH - 9}, "the tenth node is asked with what was written"
    waiting = await host.fork(NewFork(run, len(await host.reads.entries(run)) - 1, {"state.n": 100}))
    assert (await host.ended(waiting)).output == {"n": 100}
    for path_written in ("input.n", "state", "state.", "nothing.n"):
        with pytest.raises(Refused):
            await host.fork(NewFork(run, 3, {path_written: 1}))
    with pytest.raises(Refused, match="none is number 99"):
        await host.fork(NewFork(run, 99, {}))
    await host.close(0.0)


Answering = Callable[[StartTask], Json | TaskFailed]


def breaks_once(broken: list[str]) -> Answering:
    def answer(effect: StartTask) -> Json | TaskFailed:
        if effect.node == "n7" and broken:
            return TaskFailed("boom", broken.pop())
        return work(effect)

    return answer


async def test_a_fork_at_the_end_of_a_failed_run_does_only_the_failed_node_again(path: Path) -> None:
    workers = TrivialWorkers(breaks_once(["once"]))
    host = await SqliteHost.open(path, workers=workers)
    version = await host.deploy(library(w=CHAIN), "w")
    run, _ = await host.start(NewRun("w", version, {"n": 0}))
    assert (await host.ended(run)).status == "failed"
    workers.calls.clear()
    fork = await host.fork(NewFork(run, len(await host.reads.entries(run)) - 1, {}))
    row = await host.ended(fork)
    assert (row.status, row.output) == ("completed", {"n": LENGTH})
    assert [call.node for _, call in workers.calls] == [f"n{i}" for i in range(7, LENGTH)]
    original = await host.reads.row(run)
    assert original is not None
    assert original.status == "failed", "the old run stays what it was"
    await host.close(0.0)
    assert verify(path).problems == ()


PANEL: Definition = {
    "initial_node": "split",
    "nodes": {
        "split": {},
        "call": {
            "workflow": "child",
            "input_mapping": {"n": "item"},
            "output_mapping": {"_branch.output.n": "result.n"},
        },
        "join": {},
        "ask": {"gate": {"title": "go on?"}, "output_mapping": {"state.said": "result"}},
        "hold": {"wait": {"signal": "go"}, "output_mapping": {"state.heard": "result"}},
        "rest": {"wait": {"seconds": 86_400}},
    },
    "transitions": [
        {"from": "split", "to": "call", "foreach": {"collection": "[1, 2, 3]", "item_var": "item"}},
        {
            "from": "call",
            "to": "join",
            "synchronization": {"merge": {"source": "_branch.output.n", "target": "state.ns", "strategy": "append"}},
        },
        {"from": "join", "to": "ask"},
        {"from": "ask", "to": "hold"},
        {"from": "hold", "to": "rest"},
    ],
    "output_mapping": {"ns": "state.ns", "said": "state.said", "heard": "state.heard"},
}
DONE: dict[str, Any] = {"ns": [2, 3, 4], "said": "yes", "heard": "go"}


def serve(world: World, run: RunId) -> None:
    """Everything the run may wait for, more than once; what is not needed is refused or ignored."""
    world.answer(run, AnswerGate(0, "a", "yes", node="ask"), after_ms=500)
    world.signal(run, SignalRun(0, "s", "go", "go"), after_ms=600)


def test_forks_of_a_run_with_children_a_gate_a_wait_and_a_timer() -> None:
    """At every entry: in the middle of the fan-in, at the open gate, at the wait and at the timer."""
    calls: list[tuple[str, str]] = []

    def answer(call: ScriptedCall) -> Answer:
        calls.append((call.run, call.node))
        return adding(call)

    world = World(library(w=PANEL, child=chain(1)), script=Script({"n0": answer}))
    run = world.start("w", {})
    serve(world, run)
    world.run()
    row = world.store.row(run)
    assert row is not None
    assert row.output == DONE
    journal = [decode_entry(body) for body in world.store.journal(run)]
    ended_before = 0
    for entry in journal:
        calls.clear()
        fork = world.fork(run, entry.number)
        serve(world, fork)
        world.run()
        forked = world.store.row(fork)
        assert forked is not None
        assert (forked.status, forked.output) == ("completed", DONE), (entry.number, forked)
        ended_before += sum(isinstance(decision, EndChild) for decision in entry.decisions)
        assert len(calls) == 3 - ended_before, "children that had ended are not called again"
        assert all(name.startswith(f"{fork}.") for name, _ in calls)
    assert world.unfinished() == []


async def test_forks_of_parked_runs_on_the_embedded_host(path: Path) -> None:
    now = BEGIN_MS
    workers = TrivialWorkers(lambda effect: HELD if effect.input == {"n": 3} else work(effect))
    host = await SqliteHost.open(path, workers=workers, clock=lambda: now)
    version = await host.deploy(library(w=PANEL, child=chain(1)), "w")
    run, _ = await host.start(NewRun("w", version, {}))
    ended = last = 0
    async for entry in host.reads.watch(run):
        ended += sum(isinstance(decision, EndChild) for decision in entry.decisions)
        last = entry.number
        if ended == 2:
            break
    workers.calls.clear()
    fork = await host.fork(NewFork(run, last, {}))
    while len(workers.held) < 2:
        await host.recover()
    assert [call.input for _, call in workers.calls] == [{"n": 3}], "only the child that had not ended is called again"
    for name in list(workers.held):
        workers.held.pop(name)({"n": 4})
    for one in (run, fork):
        await host.deliver(one, AnswerGate(now, "a", "yes", node="ask"))
        await host.deliver(one, SignalRun(now, "s", "go", "go"))
    await host.idle()
    now += DAY_MS + 1
    await host.recover()
    assert (await host.ended(fork)).output == DONE
    assert (await host.ended(run)).output == DONE
    child = (await host.reads.children(fork))[0]
    with pytest.raises(Refused, match="goes on only with it"):
        await host.fork(NewFork(child.run, 0, {}))
    await host.close(0.0)
    assert verify(path).problems == ()


PICKY: Definition = {
    "initial_node": "ask",
    "nodes": {"ask": {"gate": {"title": "?"}, "output_mapping": {"output.said": "result"}}, "end": {}},
    "transitions": [{"from": "ask", "to": "end", "condition": "result == 'yes'"}],
}


def test_a_fork_of_a_run_that_an_answer_failed_asks_again() -> None:
    world = World(library(w=PICKY))
    run = world.start("w", {})
    world.answer(run, AnswerGate(0, "a", "no", token=TokenId(0)), after_ms=50)
    world.run()
    row = world.store.row(run)
    assert row is not None
    assert row.status == "failed"
    fork = world.fork(run, row.entries - 1)
    world.answer(fork, AnswerGate(0, "b", "yes", token=TokenId(0)), after_ms=50)
    world.run()
    forked = world.store.row(fork)
    assert forked is not None
    assert (forked.status, forked.output) == ("completed", {"said": "yes"})


def test_a_run_that_never_began_cannot_be_forked() -> None:
    world = World(library(w=PICKY))
    run = world.start("w", {}, after_ms=10)
    world.tell(run, CancelRun(0, "before it began"))
    world.run()
    with pytest.raises(Refused, match="ended before anything of it began"):
        world.fork(run, 0)


def test_a_fork_of_a_run_that_a_node_ended_ends_there_again() -> None:
    """What the end cancelled is under way again for a moment, and is cancelled again."""
    workflow = {
        "initial_node": "s",
        "nodes": {
            "s": {},
            "ask": {"gate": {"title": "never answered"}},
            "rest": {"wait": {"seconds": 1}},
            "stop": {"end": "completed"},
        },
        "transitions": [{"from": "s", "to": "ask"}, {"from": "s", "to": "rest"}, {"from": "rest", "to": "stop"}],
    }
    world = World(library(w=workflow))
    run = world.start("w", {})
    world.run()
    fork = world.fork(run, len(world.store.journal(run)) - 1)
    world.run()
    assert world.unfinished() == []
    forked = world.store.row(fork)
    assert forked is not None
    assert forked.status == "completed"

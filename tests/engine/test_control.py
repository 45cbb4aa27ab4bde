"""Pause, fork, retry, and what a run is to the runs it called."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import jeton
from jeton.engine.engine import Engine
from jeton.engine.views.explain import explained
from jeton.model.json import JsonObject
from tests.engine.waits import LIBRARY, parked


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with jeton.open(tmp_path / "runs.db", grace_s=0) as opened:
        await opened.deploy(LIBRARY)
        yield opened


async def test_a_paused_run_takes_what_it_is_told_and_begins_nothing(engine: Engine) -> None:
    run = await parked(engine, "ask", {"what": "it"})
    assert (await engine.pause(run.id)).paused
    assert (await engine.pause(run.id)).paused
    await engine.answer(run.id, {"ok": True})
    await engine.idle()
    assert (await run.record()).status == "running"
    assert not (await engine.unpause(run.id)).paused
    assert (await run.result()).status == "completed"


async def test_a_run_that_has_ended_is_not_paused(engine: Engine) -> None:
    run = await engine.start("slip", {"n": 7})
    await run.result()
    for act in (engine.pause, engine.unpause):
        with pytest.raises(jeton.Refused) as refused:
            await act(run.id)
        assert refused.value.code == "run_ended"


async def test_a_fork_goes_on_by_itself_with_what_was_edited(engine: Engine) -> None:
    run = await engine.start("slip", {"n": 3})
    assert (await run.result()).status == "failed"
    fork = await engine.fork(run.id, 0, {"state.n": 7})
    record = await fork.result()
    assert (record.status, record.output) == ("completed", {"n": 7})
    assert record.forked_from == jeton.ForkedFrom(run.id, 0)
    assert (await run.record()).status == "failed"


async def test_a_flow_has_no_state_to_edit_and_is_forked_as_it_is(engine: Engine) -> None:
    """Wherever its history is cut, with a node under way or between two."""
    action: JsonObject = {"kind": "mock", "implementation": {"output": {"z": 1}}}
    nodes: JsonObject = {"a": {"type": "made"}, "b": {"type": "made"}}
    flow: JsonObject = {"nodes": nodes, "connections": [{"from": "a", "to": "b"}]}
    await engine.deploy({"flows": {"f": flow}, "actions": {"made": action}})
    run = await engine.start("f", None)
    record = await run.result()
    for entry in [entry.number async for entry in engine.journal(run.id)]:
        for path in ("state.q", "input.q"):
            with pytest.raises(jeton.Refused, match="a flow has no state") as refused:
                await engine.fork(run.id, entry, {path: 5})
            assert refused.value.code == "bad_path"
        fork = await engine.fork(run.id, entry)
        assert (await fork.result()).output == record.output
    assert len(await engine.list(status="completed")) == len(await engine.list())


async def test_a_retry_does_again_what_failed(engine: Engine) -> None:
    run = await engine.start("slip", {"n": 3})
    last = await run.result()
    again = await (await engine.retry(run.id)).result()
    assert (again.status, again.error) == ("failed", last.error)
    assert again.forked_from is not None
    assert again.forked_from.run_id == run.id
    checks = [token for token in await engine.tokens(again.run_id) if token.node == "check"]
    assert [token.status for token in checks] == ["failed"]


called: list[str] = []


@jeton.action
async def first() -> dict[str, int]:
    called.append("first")
    return {"n": len(called)}


@jeton.action
async def second() -> dict[str, bool]:
    called.append("second")
    if called.count("second") == 1:
        raise ValueError("not yet")
    return {"ok": True}


async def test_a_retry_does_not_do_again_what_succeeded(engine: Engine) -> None:
    called.clear()
    twice = jeton.Workflow("twice")
    begin = twice.node("begin", action=first, output={"output.n": "result.n"})
    twice.transition(begin, twice.node("end", action=second, output={"output.ok": "result.ok"}))
    run = await engine.start(twice)
    assert (await run.result()).status == "failed"
    again = await (await engine.retry(run.id)).result()
    assert (again.status, again.output) == ("completed", {"n": 1, "ok": True})
    assert called == ["first", "second", "second"]


@pytest.mark.parametrize("workflow", ["hear", "slip"])
async def test_only_what_failed_is_retried(engine: Engine, workflow: str) -> None:
    run = await parked(engine, workflow, {"n": 7})
    with pytest.raises(jeton.Refused) as refused:
        await engine.retry(run.id)
    assert refused.value.code == "not_failed"


async def test_a_tree_is_linked(engine: Engine) -> None:
    run = await parked(engine, "outermost")
    (child,) = await engine.children(run.id)
    (grandchild,) = await engine.children(child.run_id)
    assert (child.parent_run_id, child.root_run_id, child.workflow) == (run.id, run.id, "outer")
    assert (grandchild.parent_run_id, grandchild.root_run_id) == (child.run_id, run.id)
    record = await run.record()
    assert (record.parent_run_id, record.root_run_id) == (None, run.id)
    assert (record.waiting_at_node, record.waiting_label, record.next_step_at) == ("call", "outer", None)


async def test_a_child_that_its_parent_stopped_says_so(engine: Engine) -> None:
    run = await parked(engine, "outer")
    await run.cancel("no longer needed")
    (child,) = await engine.children(run.id)
    await engine.ended(child.run_id)
    told = await engine.explain(child.run_id)
    assert isinstance(told, jeton.RunExplained)
    assert told.cancelled[0].by_run == run.id
    assert f"by run {run.id}, which called this one" in explained(told)


def check_stream(events: list[JsonObject], root: str, runs: set[str]) -> None:
    """Every run's own sequence is whole, and each run is told between its call and the news of its end."""
    assert {str(event["run_id"]) for event in events} == runs
    for run in runs:
        own = [event for event in events if event["run_id"] == run]
        assert [event["seq"] for event in own] == list(range(len(own)))
    assert (events[-1]["run_id"], events[-1]["type"]) == (root, "run.completed")
    places = [(event["run_id"], event["type"]) for event in events]
    for run in runs - {root}:
        parent = run.rpartition(".")[0]
        assert places.index((parent, "child.started")) < places.index((run, "run.submitted"))
        assert places.index((run, "run.completed")) < places.index((parent, "child.completed"))


@pytest.mark.parametrize("owner", [True, False], ids=["the owner", "beside it"])
async def test_a_stream_carries_the_whole_tree(engine: Engine, tmp_path: Path, owner: bool) -> None:
    run = await parked(engine, "outermost")
    async with jeton.open(tmp_path / "runs.db", owner=False) as beside:
        asked = engine if owner else beside

        async def followed() -> list[JsonObject]:
            return [event async for event in asked.events(run.id, follow=True)]

        following = asyncio.create_task(followed())
        await engine.answer(run.id, {"ok": True})
        live = await following
        stored = [event async for event in asked.events(run.id)]
    runs = {run.id, f"{run.id}.0", f"{run.id}.0.0"}
    check_stream(live, run.id, runs)
    check_stream(stored, run.id, runs)


async def test_the_root_of_a_stream_that_was_cancelled_ends_last(engine: Engine) -> None:
    run = await parked(engine, "outermost")
    await run.cancel()
    events = [event async for event in engine.events(run.id, follow=True)]
    assert (events[-1]["run_id"], events[-1]["type"]) == (run.id, "run.cancelled")
    assert {str(event["run_id"]) for event in events if event["type"] == "run.cancelled"} == {
        run.id,
        f"{run.id}.0",
        f"{run.id}.0.0",
    }


@pytest.mark.parametrize("follow", [True, False])
async def test_a_stream_goes_on_where_it_was_left(engine: Engine, follow: bool) -> None:
    run = await parked(engine, "outer")
    await engine.answer(run.id, {"ok": True})
    await run.result()
    whole = [event async for event in engine.events(run.id)]
    last = max(int(str(event["seq"])) for event in whole if event["run_id"] == run.id)
    tail = [event async for event in engine.events(run.id, last - 1, follow=follow)]
    assert [(event["run_id"], event["seq"]) for event in tail] == [(run.id, last)]
    behind = {run.id: 2, f"{run.id}.0": 3}
    rest = [event async for event in engine.events(run.id, behind, follow=follow)]
    assert {str(e["run_id"]): min(int(str(x["seq"])) for x in rest if x["run_id"] == e["run_id"]) for e in rest} == {
        run.id: 3,
        f"{run.id}.0": 4,
    }


@pytest.mark.parametrize("at", [0, -1], ids=["before its fork", "after its fork"])
async def test_a_fork_of_a_fork_has_the_children_it_called_itself(engine: Engine, at: int) -> None:
    run = await parked(engine, "outer")
    first = await engine.fork(run.id, 0)
    await engine.idle()
    entries = [entry.number async for entry in engine.journal(first.id)]
    second = await engine.fork(first.id, entries[at])
    await engine.idle()
    await engine.answer(second.id, {"ok": True})
    assert (await second.result()).output == {"inner": "yes"}
    for follow in (True, False):
        events = [event async for event in engine.events(second.id, follow=follow)]
        check_stream(events, second.id, {second.id, f"{second.id}.0"})
    assert [token.child for token in await engine.tokens(second.id) if token.node == "call"] == [f"{second.id}.0"]
    assert {(await engine.get(each.id)).status for each in (run, first)} == {"waiting"}


def calls(version: str, says: str) -> JsonObject:
    return {
        "workflows": {
            "child": {
                "initial_node": "wait",
                "nodes": {"wait": {"wait": {"signal": "go"}, "output_mapping": {"output.says": f"'{says}'"}}},
            },
            "parent": {
                "initial_node": "first",
                "nodes": {
                    "first": {"wait": {"signal": "start"}},
                    "call": {"workflow": f"child{version}", "output_mapping": {"output.says": "result.says"}},
                },
                "transitions": [{"from": "first", "to": "call"}],
            },
        }
    }


async def outcome(engine: Engine, run: jeton.Run) -> object:
    await engine.signal(run.id, "start")
    await engine.idle()
    (child,) = await engine.children(run.id)
    await engine.signal(child.run_id, "go")
    return (await run.result()).output


async def test_a_run_calls_the_version_it_began_with(engine: Engine) -> None:
    await engine.deploy(calls("", "old"))
    run = await parked(engine, "parent")
    await engine.deploy(calls("", "new"))
    assert await outcome(engine, run) == {"says": "old"}
    assert await outcome(engine, await parked(engine, "parent")) == {"says": "new"}


async def test_a_version_that_is_named_must_be_there(engine: Engine) -> None:
    assert (await engine.deploy(calls("@1", "old"))).versions["child"] == 1
    with pytest.raises(jeton.DefinitionError) as refused:
        await engine.deploy(calls("@3", "new"))
    (problem,) = refused.value.problems
    assert (problem.code, problem.path) == ("unknown_version", "workflows.parent.nodes.call.workflow")
    assert "child@2" in problem.remedy
    assert (await engine.deploy(calls("@2", "new"))).versions["child"] == 2
    await engine.deploy(calls("@1", "newest"))
    assert await outcome(engine, await parked(engine, "parent")) == {"says": "old"}

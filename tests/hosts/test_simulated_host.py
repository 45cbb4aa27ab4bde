"""The simulated host below an engine: virtual time, determinism, and all that the host protocol promises."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import pytest

import jeton
from jeton.actor.starts import NewRun
from jeton.definitions import library_from
from jeton.definitions.bundle import bundle_of
from jeton.engine.engine import Engine
from jeton.model.failure import Refused, TaskFailed
from jeton.model.ids import RunId
from jeton.model.message import SignalRun
from jeton.testing import Answer, Fault, FaultPlan, Script, SimulatedHost, open_simulated, plan_from_seed

Opened = tuple[Engine, SimulatedHost]
HOUR_MS = 3_600_000


def mock(**implementation: Any) -> dict[str, Any]:
    return {"action": {"kind": "mock", "implementation": implementation}}


def project(**sections: Any) -> dict[str, Any]:
    return {
        "workflows": {
            "ask": {
                "initial_node": "work",
                "nodes": {
                    "work": mock(output={"n": 1}, delay_ms=500),
                    "gate": {
                        "gate": {"title": "Sure?", "timeout_ms": 1000},
                        "output_mapping": {"output.said": "result"},
                    },
                },
                "transitions": [{"from": "work", "to": "gate"}],
            },
            "nap": {"initial_node": "nap", "nodes": {"nap": {"wait": {"seconds": 3600}}}},
            "hear": {
                "initial_node": "hear",
                "nodes": {"hear": {"wait": {"signal": "go"}, "output_mapping": {"output.said": "result"}}},
            },
        },
        **sections,
    }


@pytest.fixture
async def opened() -> AsyncGenerator[Opened, None]:
    async with open_simulated() as (engine, host):
        await engine.deploy(project())
        yield engine, host


async def test_time_passes_while_somebody_waits_and_stands_still_otherwise(opened: Opened) -> None:
    engine, host = opened
    run = await engine.start("nap")
    began = host.now()
    for _ in range(1000):
        await asyncio.sleep(0)
    assert host.now() == began
    record = await run.result()
    assert record.completed_at is not None
    assert record.completed_at - record.submitted_at == timedelta(hours=1)


async def test_others_react_before_time_moves_on(opened: Opened) -> None:
    engine, _ = opened
    run = await engine.start("ask")

    async def person() -> None:
        async for event in run.events():
            if event["type"] == "gate.opened":  # one second later it is closed
                await run.answer("yes")

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(person())
        record = await run.result()
    assert (record.status, record.output) == ("completed", {"said": "yes"})


async def test_whoever_follows_a_run_sees_those_it_calls_in_time() -> None:
    calls = project()
    calls["workflows"]["calls"] = {"initial_node": "call", "nodes": {"call": {"workflow": "ask"}}}
    async with open_simulated() as (engine, _):
        await engine.deploy(calls)
        run = await engine.start("calls")
        async for event in run.events():
            if event["type"] == "gate.opened":  # one second later it is closed
                await run.answer("yes")
        assert [child.output for child in await engine.children(run.id)] == [{"said": "yes"}]


async def test_when_nothing_is_left_to_happen_the_next_message_lets_it_go_on(opened: Opened) -> None:
    engine, host = opened
    run = await engine.start("hear")
    waiting = asyncio.create_task(run.result())
    await engine.idle()
    assert not waiting.done()
    await run.signal("go", 7)
    assert (await waiting).output == {"said": 7}
    assert host.world.unfinished() == []


async def story(seed: int, plan: FaultPlan | None) -> tuple[str, list[str]]:
    """All that happens to three runs, with people who watch them."""
    async with open_simulated(seed=seed, plan=plan) as (engine, host):
        await engine.deploy(project())

        async def whole(number: int) -> str:
            run = await engine.start("ask", key=f"k{number}")
            assert (await engine.start("ask", key=f"k{number}")).id == run.id
            async for event in run.events():
                if event["type"] == "gate.opened":
                    await host.sleep(number * 100)
                    await run.answer("yes")
            return (await run.result()).status

        statuses = await asyncio.gather(*map(whole, range(3)))
        return host.world.store.digest(), statuses


@pytest.mark.parametrize("seed", range(12))
async def test_a_seed_decides_everything_and_calls_go_on_through_faults(seed: int) -> None:
    # few of them: a task whose worker is lost again and again fails
    kinds = ("crash_before_commit", "crash_after_commit", "crash_amid_effects", "commit_fails", "commit_unknown")
    plan = plan_from_seed(seed)
    plan = FaultPlan({kind: faults[:2] for kind, faults in plan.faults.items() if kind in kinds})
    first = await story(seed, plan)
    assert first == await story(seed, plan)
    assert first[1] == ["completed"] * 3


async def test_a_crash_in_the_middle_of_every_call() -> None:
    plan = FaultPlan({"crash_before_commit": tuple(Fault(nth, 5) for nth in range(0, 40, 2))}, storm_ms=HOUR_MS * 10)
    async with open_simulated(plan=plan) as (engine, host):
        await engine.deploy(project())
        run = await engine.start("hear")
        await run.signal("go", 1)
        assert (await run.result()).output == {"said": 1}
        fork = await engine.fork(run.id, 0)
        await fork.signal("go", 2)
        assert (await fork.result()).output == {"said": 2}
        assert host.world.crashes >= 4


async def test_a_script_answers_every_task_and_answers_by_node_only_theirs() -> None:
    async with open_simulated(script=Script({"work": Answer({"n": 9}, takes_ms=5)})) as (engine, host):
        await engine.deploy(project())
        run = await engine.start("ask")
        await engine.idle()
        assert host.now() - round((await run.record()).submitted_at.timestamp() * 1000) < 50
    async with open_simulated(script={"other": Answer({})}) as (engine, host):
        await engine.deploy(project())
        run = await engine.start("ask")
        await engine.idle()
        assert host.now() - round((await run.record()).submitted_at.timestamp() * 1000) >= 500


@jeton.action(name="gives_up_simulated")
async def gives_up() -> int:
    raise asyncio.CancelledError("enough")


async def test_a_function_that_raises_anything_fails_its_task() -> None:
    workflow = {"initial_node": "a", "nodes": {"a": {"action": "gives_up_simulated"}}}
    async with open_simulated() as (engine, _):
        await engine.deploy({"workflows": {"w": workflow}})
        record = await (await engine.start("w")).result(timeout=5)
        assert (record.status, record.error and record.error.type) == ("failed", "CancelledError")


@jeton.action(name="adds_up_simulated")
async def adds_up(numbers: list[int]) -> int:
    call = jeton.current_call()
    call.log("adding")
    await asyncio.sleep(0)
    return sum(numbers)


async def test_functions_are_run_on_the_loop_and_what_they_log_is_kept() -> None:
    flow = {
        "workflows": {
            "w": {
                "initial_node": "add",
                "nodes": {
                    "add": {
                        "action": "adds_up_simulated",
                        "input_mapping": {"numbers": "input.numbers"},
                        "output_mapping": {"output.sum": "result"},
                    }
                },
            }
        }
    }
    async with open_simulated() as (engine, _):
        await engine.deploy(flow)
        run = await engine.start("w", {"numbers": [1, 2, 3]})
        assert (await run.result()).output == {"sum": 6}
        assert [event["text"] async for event in run.events() if event["type"] == "task.log"] == ["adding"]


async def test_a_function_that_is_not_here_parks_the_run() -> None:
    node = {"action": {"kind": "python", "implementation": {"function": "nobody:has_this"}}}
    library = library_from({"workflows": {"w": {"initial_node": "a", "nodes": {"a": node}}}}).require()
    async with open_simulated() as (engine, host):
        await host.deploy(bundle_of(library, "w"), "w")
        run = await engine.start("w")
        await engine.idle()
        assert list(engine.needs_app) == [run.id]
        assert (await engine.cancel(run.id)).accepted
        assert engine.needs_app == {}


async def test_schedules_fire_as_time_passes() -> None:
    daily = {"daily": {"type": "schedule", "cron": "0 6 * * *", "start": "nap"}}
    async with open_simulated() as (engine, host):
        await engine.deploy(project(triggers=daily))
        await host.sleep(3 * 24 * HOUR_MS)
        assert [firing.source for firing in await engine.firings()] == [
            "2023-11-17T06:00:00.000Z",
            "2023-11-16T06:00:00.000Z",
            "2023-11-15T06:00:00.000Z",
        ]
        assert [record.trigger_id for record in await engine.list(workflow="nap")] == ["daily"] * 3
        await engine.disable("nap")
        await host.sleep(24 * HOUR_MS)
        assert (await engine.firings(limit=1))[0].code == "disabled"


async def test_triggers_by_hand_by_events_and_by_ends() -> None:
    tell = {"action": {"kind": "emit", "implementation": {"event": "told"}}, "input_mapping": {"n": "1"}}
    count = {"action": {"kind": "metric", "implementation": {"name": "seen", "type": "counter"}}}
    sections: dict[str, Any] = {
        "workflows": {
            "first": {
                "initial_node": "tell",
                "nodes": {"tell": tell, "count": {**count, "input_mapping": {"value": "2"}}},
                "transitions": [{"from": "tell", "to": "count"}],
            },
            "second": {"initial_node": "end", "nodes": {"end": {}}},
        },
        "triggers": {
            "heard": {"type": "event", "name": "told", "start": "second"},
            "over": {"type": "run_finished", "workflow": "first", "start": "second"},
            "hand": {"type": "manual", "start": "first"},
        },
    }
    async with open_simulated() as (engine, _):
        await engine.deploy(sections)
        fired = await engine.fire("hand", delivery_id="d")
        assert (await engine.fire("hand", delivery_id="d")).run_id == fired.run_id
        await engine.idle()
        assert sorted(firing.trigger for firing in await engine.firings()) == ["hand", "heard", "over"]
        assert [event.event for event in await engine.emitted()] == ["told"]
        assert [(metric.name, metric.value) for metric in await engine.metrics()] == [("seen", 2)]
        await engine.remove_trigger("hand")
        assert [trigger.name for trigger in await engine.triggers()] == ["heard", "over"]


async def test_a_run_keeps_the_version_it_was_started_with(opened: Opened) -> None:
    engine, _ = opened
    before = await engine.start("hear")
    changed = project()
    changed["workflows"]["hear"]["nodes"]["hear"]["output_mapping"] = {"output.heard": "result"}
    assert (await engine.deploy(changed)).versions == {"ask": 1, "nap": 1, "hear": 2}
    after = await engine.start("hear")
    for run in (before, after):
        await run.signal("go", 1)
    assert [(await run.result()).output for run in (before, after)] == [{"said": 1}, {"heard": 1}]
    assert (await engine.deploy(project())).versions["hear"] == 1


async def test_a_start_that_is_impossible_fails_the_call() -> None:
    calls = {"initial_node": "call", "nodes": {"call": {"workflow": "child@7"}}}
    child: dict[str, Any] = {"initial_node": "end", "nodes": {"end": {}}}
    library = library_from({"workflows": {"w": calls, "child": child}}).require()
    async with open_simulated() as (engine, host):
        await host.deploy(bundle_of(library, "w"), "w")
        record = await (await engine.start("w")).result()
        assert (record.status, record.error and record.error.type) == ("failed", "unknown_workflow")


@pytest.mark.parametrize(
    ("again", "code"),
    [
        pytest.param(NewRun("hear", 1, {"n": 2}, key="k"), "key_conflict", id="a key with other input"),
        pytest.param(NewRun("nap", 1, {"n": 1}, run=RunId("mine")), "run_exists", id="a name of another workflow's"),
        pytest.param(NewRun("hear", 1, {"n": 1}, "k2", RunId("mine")), "run_exists", id="a new key, an old name"),
        pytest.param(NewRun("hear", 8, {}), "unknown_workflow", id="a version that is not there"),
        pytest.param(NewRun("hear", 1, {"n": object()}), "bad_value", id="an input that is no JSON"),  # type: ignore[dict-item]
    ],
)
async def test_starts_that_are_refused(opened: Opened, again: NewRun, code: str) -> None:
    _, host = opened
    assert await host.start(NewRun("hear", 1, {"n": 1}, "k", RunId("mine"))) == (RunId("mine"), True)
    assert await host.start(NewRun("hear", 1, {"n": 1}, "k")) == (RunId("mine"), False)
    assert await host.start(NewRun("hear", 1, {"n": 1}, run=RunId("mine"))) == (RunId("mine"), False)
    with pytest.raises(Refused) as refused:
        await host.start(again)
    assert refused.value.code == code
    assert host.world.store.runs() == ("mine",)


async def test_messages_that_are_refused(opened: Opened) -> None:
    engine, host = opened
    run = await engine.start("hear")
    with pytest.raises(Refused, match="cannot be stored"):
        await host.deliver(run.id, SignalRun(0, "id", "go", object()))  # type: ignore[arg-type]
    with pytest.raises(Refused, match="there is no run"):
        await host.deliver(RunId("nobody"), SignalRun(0, "id", "go"))
    with pytest.raises(Refused, match="there is no run"):
        await host.ended(RunId("nobody"))


async def test_a_result_that_is_no_json_fails_its_task() -> None:
    bad = Answer(object())  # type: ignore[arg-type]
    async with open_simulated(script={"work": bad}) as (engine, _):
        await engine.deploy(project())
        record = await (await engine.start("ask")).result()
        assert (record.status, record.error and record.error.type) == ("failed", "bad_result")


async def test_credits_usage_and_exhaustion() -> None:
    settings = {"settings": {"credits": {"balance": 3, "costs": {"default": 2}}}}
    async with open_simulated(script={"work": Answer(failure=TaskFailed("no", "no"))}) as (engine, _):
        await engine.deploy({**project(), "project": settings})
        statuses = [(await (await engine.start("ask")).result()).status for _ in range(2)]
        assert statuses == ["failed", "exhausted"]
        assert (await engine.credits()).balance == 1
        assert [(usage.node, usage.credits) for usage in await engine.usage()] == [("work", 2)]
        assert (await engine.top_up(5)).balance == 6


async def test_prune_and_what_it_leaves(opened: Opened) -> None:
    engine, host = opened
    run = await engine.start("nap", key="k")
    await run.result()
    assert (await engine.prune(older_than_ms=HOUR_MS)).runs == 0
    await host.sleep(2 * HOUR_MS)
    assert (await engine.prune(older_than_ms=HOUR_MS, dry_run=True)).runs == 1
    assert len(await engine.list()) == 1
    pruned = await engine.prune(older_than_ms=HOUR_MS)
    assert (pruned.runs, pruned.entries > 0) == (1, True)
    assert await engine.list() == ()
    with pytest.raises(Refused, match="there is no run"):
        await engine.get(run.id)


async def test_a_closed_host_refuses(opened: Opened) -> None:
    engine, host = opened
    run = await engine.start("hear")
    waiting = asyncio.create_task(run.result())
    await engine.idle()
    await host.close()
    with pytest.raises(Refused, match="closed"):
        await waiting
    with pytest.raises(Refused, match="closed"):
        await engine.start("hear")

"""What nodes cost, on a real store: a run's own credits, the project's account, exhaustion and going on."""

from pathlib import Path

import pytest

import jeton
from jeton.hosts.sqlite.verify import verify
from jeton.model.json import Json, JsonObject

MOCK: JsonObject = {"kind": "mock", "implementation": {"output": {"ok": True}}}
CHAIN: JsonObject = {
    "initial_node": "a",
    "nodes": {"a": {"action": MOCK}, "b": {"action": MOCK}, "c": {"output_mapping": {"output.done": "true"}}},
    "transitions": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}],
}


@jeton.action
async def spend(used: int) -> None:
    """Says what it used."""
    jeton.current_call().cost(used)


SPEND: JsonObject = {
    "initial_node": "a",
    "nodes": {"a": {"action": "spend", "input_mapping": {"used": "input.used"}}},
}


def project(balance: int | None = None, costs: JsonObject | None = None, **workflows: Json) -> JsonObject:
    credits: JsonObject = {} if balance is None else {"balance": balance}
    settings: JsonObject = {"credits": {**credits, **({"costs": costs} if costs else {})}}
    return {"workflows": {"chain": CHAIN, "spend": SPEND, **workflows}, "project": {"settings": settings}}


async def events_of(engine: jeton.Engine, run: str) -> list[Json]:
    return [event["type"] async for event in engine.events(run)]


async def test_without_a_balance_there_is_no_limit_and_nothing_is_counted(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project())
        run = await engine.start("chain", {})
        assert (await run.result(30)).status == "completed"
        assert await engine.usage() == ()
        assert (await engine.credits()).balance is None
        with pytest.raises(jeton.Refused, match="no account"):
            await engine.top_up(1)


async def test_a_run_with_enough_of_its_own_completes_and_says_what_each_node_cost(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(costs={"mock": 5}))
        run = await engine.start("chain", {}, credits=11)
        assert (await run.result(30)).status == "completed"
        assert {each.node: each.credits for each in await engine.usage(run.id)} == {"a": 5, "b": 5, "c": 1}


async def test_too_little_to_start_is_exhausted_and_recorded_and_no_node_runs(tmp_path: Path) -> None:
    """D09."""
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(balance=0))
        for run in (await engine.start("chain", {}), await engine.start("chain", {}, credits=0)):
            record = await run.result(30)
            assert record.status == "exhausted"
            assert record.error is not None
            assert record.error.type == "credits_exhausted"
            kinds = await events_of(engine, run.id)
            assert "task.dispatched" not in kinds
            assert ("credits.short" in kinds, kinds[-1]) == (True, "run.exhausted")
    assert verify(tmp_path / "runs.db").problems == ()


async def test_running_out_midway_and_going_on_after_topping_up(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(balance=2))
        run = await engine.start("chain", {})
        assert (await run.result(30)).status == "exhausted"
        assert [each.node for each in await engine.usage(run.id)] == ["a", "b"]
        again = await engine.retry(run.id)
        assert (await again.result(30)).status == "exhausted"
        assert (await engine.top_up(10)).balance == 10
        last = await engine.retry(again.id)
        record = await last.result(30)
        assert (record.status, record.output) == ("completed", {"done": True})
        assert record.forked_from is not None
        assert [each.node for each in await engine.usage(last.id)] == ["c"]
        assert await engine.credits() == jeton.CreditsView(9, 0)
    assert verify(tmp_path / "runs.db").problems == ()


async def test_a_run_with_its_own_goes_on_with_what_a_retry_adds(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(costs={"mock": 2}))
        run = await engine.start("chain", {}, credits=3)
        assert (await run.result(30)).status == "exhausted"
        again = await engine.retry(run.id, credits=2)
        assert (await again.result(30)).status == "completed"
        assert sum(each.credits for each in await engine.usage(again.id)) == 3


@pytest.mark.parametrize(
    ("used", "left", "shortfall"),
    [
        pytest.param(2, 8, 0, id="less than its price: the rest is put back"),
        pytest.param(0, 10, 0, id="nothing at all"),
        pytest.param(5, 5, 0, id="its price"),
        pytest.param(9, 5, 4, id="more: a shortfall on record, and no more than the price is taken"),
    ],
)
async def test_what_an_action_really_used(tmp_path: Path, used: int, left: int, shortfall: int) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(balance=10, costs={"spend": 5}))
        run = await engine.start("spend", {"used": used})
        assert (await run.result(30)).status == "completed"
        (usage,) = await engine.usage(workflow="spend", day=(await run.record()).submitted_at.date().isoformat())
        assert (usage.credits, usage.shortfall) == (10 - left, shortfall)
        assert await engine.credits() == jeton.CreditsView(left, 0)
        assert "credits.settled" in await events_of(engine, run.id)


async def test_sub_workflows_are_paid_by_the_project_and_exhaust_their_parent(tmp_path: Path) -> None:
    parent: JsonObject = {"initial_node": "call", "nodes": {"call": {"workflow": "chain"}}}
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(balance=3, parent=parent))
        run = await engine.start("parent", {})
        assert (await run.result(30)).status == "exhausted"
        assert [child.status for child in await engine.children(run.id)] == ["exhausted"]
        await engine.top_up(4)
        again = await engine.retry(run.id)
        assert (await again.result(30)).status == "completed"
        await engine.idle()
        assert (await engine.credits()).granted == 0


async def test_deploying_again_does_not_fill_the_account_and_a_new_balance_adds_the_difference(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(balance=5))
        await (await engine.start("chain", {})).result(30)
        await engine.deploy(project(balance=5))
        assert (await engine.credits()).balance == 2
        await engine.deploy(project(balance=8))
        assert (await engine.credits()).balance == 5
        await engine.deploy(project(balance=1))
        assert (await engine.credits()).balance == 0


async def test_many_runs_share_the_account_to_the_last_credit(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(balance=20))
        runs = [await engine.start("chain", {}) for _ in range(10)]
        records = [await run.result(60) for run in runs]
        used = sum(each.credits for each in await engine.usage())
        account = await engine.credits()
        assert account.balance is not None
        assert (account.granted, used + account.balance) == (0, 20)
        assert account.balance == 0
        assert {record.status for record in records} <= {"completed", "exhausted"}


async def test_what_cannot_be_put_in(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(balance=0))
        for amount in (0, -1):
            with pytest.raises(jeton.Refused, match="cannot be put in"):
                await engine.top_up(amount)
        run = await engine.start("chain", {})
        await run.result(30)
        with pytest.raises(jeton.Refused, match="no credits of its own"):
            await engine.retry(run.id, credits=5)
        with pytest.raises(jeton.Refused, match="-1 credits"):
            await engine.start("chain", {}, credits=-1)

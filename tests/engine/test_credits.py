"""What nodes cost, on a real store: a run's own credits, the project's account, exhaustion and going on."""

from pathlib import Path

import pytest

import jeton
from jeton.hosts.sqlite.tools.verify import verify
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
            assert record.error.message.startswith("1 node could not be paid for: ")
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


CALLS: JsonObject = {"initial_node": "call", "nodes": {"call": {"workflow": "chain"}}}
DEEP: JsonObject = {"initial_node": "deep", "nodes": {"deep": {"workflow": "calls"}}}
WIDE: JsonObject = {
    "initial_node": "go",
    "nodes": {"go": {}, "call": {"workflow": "chain"}, "end": {}},
    "transitions": [
        {"from": "go", "to": "call", "spawn_count": "input.n"},
        {"from": "call", "to": "end", "synchronization": {}},
    ],
}


@pytest.mark.parametrize(
    ("credits", "status", "used"),
    [
        pytest.param(0, "exhausted", {}, id="nothing"),
        pytest.param(1, "exhausted", {"deep": 1}, id="the first call, and nothing for what it calls"),
        pytest.param(3, "exhausted", {"deep": 1, "call": 1, "a": 1}, id="two levels down"),
        pytest.param(5, "completed", {"deep": 1, "call": 1, "a": 1, "b": 1, "c": 1}, id="as much as it takes"),
        pytest.param(9, "completed", {"deep": 1, "call": 1, "a": 1, "b": 1, "c": 1}, id="more than it takes"),
    ],
)
async def test_credits_of_a_run_cover_all_that_it_calls(
    tmp_path: Path, credits: int, status: str, used: dict[str, int]
) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(calls=CALLS, deep=DEEP))
        run = await engine.start("deep", {}, credits=credits)
        assert (await run.result(30)).status == status
        tree = await engine.usage(run.id, tree=True)
        assert {each.node: each.credits for each in tree} == used
        assert [each.node for each in await engine.usage(run.id)] == [node for node in used if node == "deep"]
        children = await engine.children(run.id)
        assert [child.status for child in children] == [status for _ in children]
        for child in children:
            below = await engine.usage(child.run_id, tree=True)
            assert {each.node for each in below} == used.keys() - {"deep"}
    assert verify(tmp_path / "runs.db").problems == ()


async def test_an_exhausted_tree_goes_on_with_more(tmp_path: Path) -> None:
    """The call is made, and paid for, again; what the first run below did is done again, because it is a new run."""
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(calls=CALLS))
        first = await engine.start("calls", {}, credits=3)
        assert (await first.result(30)).status == "exhausted"
        for credits, status in ((2, "exhausted"), (4, "completed")):
            again = await engine.retry(first.id, credits=credits)
            record = await again.result(30)
            assert (record.status, record.forked_from is not None) == (status, True)
            assert sum(each.credits for each in await engine.usage(again.id, tree=True)) == credits
            assert [child.status for child in await engine.children(again.id)] == [status]


async def test_what_an_exhausted_tree_has_left_goes_on_with_its_retry(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(costs={"mock": 4}, calls=CALLS))
        first = await engine.start("calls", {}, credits=7)  # one for the call, four for a node, and two too few
        assert (await first.result(30)).status == "exhausted"
        again = await engine.retry(first.id, credits=8)
        assert (await again.result(30)).status == "completed"
        assert sum(each.credits for each in await engine.usage(again.id, tree=True)) == 1 + 4 + 4 + 1


@pytest.mark.parametrize("credits", [0, 1, 13, 40, 82, 200])
async def test_many_runs_below_share_the_credits_and_never_spend_more(tmp_path: Path, credits: int) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(wide=WIDE))
        run = await engine.start("wide", {"n": 20}, credits=credits)
        record = await run.result(60)
        await engine.idle()
        tree = await engine.usage(run.id, tree=True)
        assert record.status == ("completed" if credits >= 2 + 20 * 4 else "exhausted")
        assert sum(each.credits for each in tree) == min(credits, 2 + 20 * 4)
        events = [event async for event in engine.events(run.id)]
        lent = sum(int(str(event["amount"])) for event in events if event["type"] == "credits.lent")
        returned = sum(int(str(event["used"])) for event in events if event["type"] == "credits.returned")
        own = sum(each.credits for each in tree if each.run_id == run.id)
        assert (lent, returned) == (min(credits, 82) - own,) * 2
    assert verify(tmp_path / "runs.db").problems == ()


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


PROFILES: JsonObject = {
    "fast": {"provider": "openai", "model": "small", "prices": {"input": 1000, "output": 5000}},
    "local": {"provider": "openai", "model": "here"},
}


@jeton.action
def ask_a_model(profile: str, question: int, answer: int) -> None:
    """Says what a model call used."""
    jeton.current_call().tokens(profile, input=question, output=answer)


@jeton.node
async def ask_in_a_flow(data: JsonObject) -> JsonObject:
    """The same as a node of a flow."""
    jeton.current_call().tokens("fast", input=2000, output=0)
    return {}


ASK: JsonObject = {"initial_node": "ask", "nodes": {"ask": {"action": "ask_a_model"}}}


@pytest.mark.parametrize(
    ("profile", "question", "answer", "credits", "shortfall"),
    [
        pytest.param("fast", 2000, 300, 4, 0, id="3.5 credits are four"),
        pytest.param("fast", 2000, 200, 3, 0, id="three are three"),
        pytest.param("fast", 9000, 0, 6, 3, id="more than the price: a shortfall"),
        pytest.param("fast", 0, 0, 0, 0, id="nothing used"),
        pytest.param("local", 2000, 300, 6, 0, id="no prices: what the node costs"),
    ],
)
async def test_tokens_are_paid_at_the_profiles_prices(
    tmp_path: Path, profile: str, question: int, answer: int, credits: int, shortfall: int
) -> None:
    library = {**project(balance=20, costs={"ask_a_model": 6}, ask=ASK), "model_profiles": PROFILES}
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library)
        run = await engine.start("ask", {"profile": profile, "question": question, "answer": answer})
        assert (await run.result(30)).status == "completed"
        (usage,) = await engine.usage(run.id)
        assert (usage.credits, usage.shortfall) == (credits, shortfall)
        assert usage.tokens == {profile: jeton.TokensView(question, answer)}
        assert (await engine.credits()).balance == 20 - credits
        assert "task.tokens" in await events_of(engine, run.id)


async def test_tokens_are_counted_where_nothing_else_is(tmp_path: Path) -> None:
    """Without a limit there are no credits; by run, workflow and day the tokens add up all the same."""
    flow: JsonObject = {"nodes": {"one": {"type": "ask_in_a_flow"}, "two": {"type": "ask_in_a_flow"}}}
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy({**project(ask=ASK), "flows": {"both": flow}, "model_profiles": PROFILES})
        runs = [await engine.start("ask", {"profile": "fast", "question": 5, "answer": 7}) for _ in range(2)]
        for run in runs:
            assert (await run.result(30)).status == "completed"
        last = await engine.start("both", {})
        assert (await last.result(30)).status == "completed"
        day = (await last.record()).submitted_at.date().isoformat()
        assert [each.tokens for each in await engine.usage(runs[0].id)] == [{"fast": jeton.TokensView(5, 7)}]
        assert [each.run_id != last.id for each in await engine.usage(workflow="ask", day=day)] == [True, True]
        flows = await engine.usage(last.id)
        assert {each.node: (each.credits, each.tokens) for each in flows} == {
            "one": (0, {"fast": jeton.TokensView(2000, 0)}),
            "two": (0, {"fast": jeton.TokensView(2000, 0)}),
        }
        assert await engine.usage(day="1999-12-31") == ()


async def test_new_prices_are_a_new_version(tmp_path: Path) -> None:
    """A run pins what it began with, prices too."""
    dearer: JsonObject = {**PROFILES, "fast": {"provider": "openai", "prices": {"input": 9}}}
    async with jeton.open(tmp_path / "runs.db") as engine:
        versions = [
            (await engine.deploy({**project(ask=ASK), "model_profiles": profiles})).versions["ask"]
            for profiles in (PROFILES, dearer, PROFILES)
        ]
        assert versions == [1, 2, 1]


async def test_an_action_that_is_free_and_is_not_leaves_a_shortfall(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(balance=1, costs={"spend": 0}))
        run = await engine.start("spend", {"used": 3})
        assert (await run.result(30)).status == "completed"
        assert [(each.credits, each.shortfall) for each in await engine.usage(run.id)] == [(0, 3)]


async def test_what_cannot_be_put_in(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(project(balance=0))
        for amount in (0, -1):
            with pytest.raises(jeton.Refused, match="whole number from 1"):
                await engine.top_up(amount)
        run = await engine.start("chain", {})
        await run.result(30)
        with pytest.raises(jeton.Refused, match="no credits of its own"):
            await engine.retry(run.id, credits=5)
        with pytest.raises(jeton.Refused, match="and is -1"):
            await engine.start("chain", {}, credits=-1)

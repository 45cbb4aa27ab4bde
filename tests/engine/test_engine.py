"""The engine on a real store: deploy, start, ask, cancel."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

import jeton
from jeton.engine.engine import Engine
from jeton.model.json import JsonObject

MOCK: JsonObject = {"kind": "mock", "implementation": {"output": {"ok": True}}}
SLOW: JsonObject = {"kind": "mock", "implementation": {"output": {}, "delay_ms": 60_000}}
LIBRARY: JsonObject = {
    "workflows": {
        "double": {
            "input_schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}},
            "initial_node": "a",
            "nodes": {"a": {"output_mapping": {"output.n": "input.n * 2", "state.seen": "input.n"}}},
        },
        "slow": {"initial_node": "a", "nodes": {"a": {"action": SLOW}}},
        "broken": {
            "initial_node": "a",
            "nodes": {"a": {"action": {"kind": "assert", "implementation": {"that": "false"}}}},
        },
    }
}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with jeton.open(tmp_path / "runs.db", grace_s=0) as opened:
        await opened.deploy(LIBRARY)
        yield opened


async def test_a_run_from_start_to_output(engine: Engine) -> None:
    run = await engine.start("double", {"n": 21})
    record = await run.result()
    assert (record.status, record.output, record.version) == ("completed", {"n": 42}, 1)
    assert await engine.get(run.id) == msgspec.structs.replace(record, fired=())  # nobody looked for that before


async def test_a_failed_run_raises_nothing_until_its_output_is_asked_for(engine: Engine) -> None:
    record = await (await engine.start("broken")).result()
    assert record.status == "failed"
    assert record.error is not None
    with pytest.raises(jeton.NoOutput):
        record.output_or_raise()


async def test_bad_input_makes_no_run(engine: Engine) -> None:
    with pytest.raises(jeton.InputInvalid) as refused:
        await engine.start("double", {"n": "many"})
    assert [problem.path for problem in refused.value.problems] == ["input.n"]
    assert await engine.list() == ()


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        pytest.param("nobody", "unknown_workflow", id="a name nobody deployed"),
        pytest.param("double@7", "unknown_workflow", id="a version nobody deployed"),
        pytest.param("double@x", "bad_reference", id="a version that is no number"),
    ],
)
async def test_a_workflow_that_is_not_there(engine: Engine, reference: str, code: str) -> None:
    with pytest.raises(jeton.Refused) as refused:
        await engine.start(reference, {"n": 1})
    assert refused.value.code == code


async def test_the_same_definition_is_the_same_version_and_a_run_can_name_one(engine: Engine) -> None:
    assert (await engine.deploy(LIBRARY)).versions["double"] == 1
    triple: JsonObject = {
        "workflows": {"double": {"initial_node": "a", "nodes": {"a": {"output_mapping": {"output.n": "input.n * 3"}}}}}
    }
    assert (await engine.deploy(triple)).versions == {"double": 2}
    newest, first = await engine.start("double", {"n": 2}), await engine.start("double@1", {"n": 2})
    assert [(await run.result()).output for run in (newest, first)] == [{"n": 6}, {"n": 4}]


async def test_definitions_with_errors_are_not_deployed(engine: Engine) -> None:
    with pytest.raises(jeton.DefinitionError) as refused:
        await engine.deploy({"workflows": {"w": {"initial_node": "b", "nodes": {"a": {"task": "nobody"}}}}})
    assert len(refused.value.problems) > 1


async def test_a_file_and_plain_data_can_be_deployed_together(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "library.yaml"
    file.write_text("actions:\n  ask: {kind: mock, implementation: {output: {ok: true}}}\n")
    node: JsonObject = {"action": "ask", "output_mapping": {"output.ok": "result.ok"}}
    deployed = await engine.deploy([file, {"workflows": {"asks": {"initial_node": "a", "nodes": {"a": node}}}}])
    assert deployed.versions == {"asks": 1}
    assert (await (await engine.start("asks")).result()).output == {"ok": True}


async def test_a_key_starts_one_run(engine: Engine) -> None:
    first, again = [await engine.start("double", {"n": 1}, key="k") for _ in range(2)]
    assert first.id == again.id
    with pytest.raises(jeton.Refused) as refused:
        await engine.start("double", {"n": 2}, key="k")
    assert refused.value.code == "key_conflict"


async def test_a_result_may_be_waited_for_only_so_long(engine: Engine) -> None:
    run = await engine.start("slow")
    with pytest.raises(TimeoutError):
        await run.result(timeout=0.01)
    assert (await run.record()).current_nodes == ("a",)


async def test_a_cancellation_is_answered_with_what_came_of_it(engine: Engine) -> None:
    run = await engine.start("slow")
    taken, late = await run.cancel("no longer needed"), await run.cancel()
    assert (taken.accepted, taken.record.status) == (True, "cancelled")
    assert taken.record.error is not None
    assert taken.record.error.message == "no longer needed"
    assert (late.accepted, late.record.status) == (False, "cancelled")


async def test_runs_are_listed_newest_first_and_by_page(engine: Engine) -> None:
    runs = [(await (await engine.start("double", {"n": n})).result()).run_id for n in range(3)]
    page = await engine.list(limit=2)
    rest = await engine.list(limit=2, after=page[-1].run_id)
    assert [record.run_id for record in (*page, *rest)] == runs[::-1]
    assert await engine.list(status="failed") == ()
    assert await engine.list(workflow="slow") == ()


async def test_events_can_be_followed_and_taken_up_again(engine: Engine) -> None:
    run = await engine.start("double", {"n": 1})
    followed = [event["seq"] async for event in run.events()]
    assert followed == list(range(len(followed)))
    assert [event["seq"] async for event in engine.events(run.id, after=2)] == followed[3:]


async def test_a_traced_run_tells_what_was_decided_and_does_the_same(engine: Engine) -> None:
    traced, plain = await engine.start("double", {"n": 1}, trace=True), await engine.start("double", {"n": 1})
    types = [str(event["type"]) async for event in traced.events()]
    assert "decision.finish_node" in types
    assert [kind for kind in types if not kind.startswith("decision.")] == [e["type"] async for e in plain.events()]


async def test_the_context_is_what_the_run_was_given_keeps_and_says(engine: Engine) -> None:
    run = await engine.start("double", {"n": 4})
    await run.result()
    assert await engine.context(run.id) == jeton.Context({"n": 4}, {"seen": 4}, {"n": 8})


async def test_tokens_and_reasons_are_read_from_the_store(engine: Engine) -> None:
    run = await engine.start("slow")
    await run.cancel("enough")
    (token,) = await engine.tokens(run.id)
    told = await engine.explain(run.id, token=0)
    assert token.status == "cancelled"
    assert isinstance(told, jeton.TokenExplained)
    assert told.cancelled is not None
    assert told.cancelled.request == "enough"


@pytest.mark.parametrize("ask", ["get", "context", "tokens", "explain", "cancel"])
async def test_a_run_nobody_started_is_refused(engine: Engine, ask: str) -> None:
    with pytest.raises(jeton.Refused) as refused:
        await getattr(engine, ask)("nobody")
    assert refused.value.code == "unknown_run"


async def test_an_interrupted_run_goes_on_when_the_store_is_opened_again(tmp_path: Path) -> None:
    nap: JsonObject = {"kind": "mock", "implementation": {"output": {}, "delay_ms": 30}}
    async with jeton.open(tmp_path / "runs.db", grace_s=0) as engine:
        await engine.deploy({"workflows": {"nap": {"initial_node": "a", "nodes": {"a": {"action": nap}}}}})
        run = await engine.start("nap")
    async with jeton.open(tmp_path / "runs.db") as engine:
        assert (await (await engine.run(run.id)).result(timeout=10)).status == "completed"
        assert [token.deliveries for token in await engine.tokens(run.id)] == [1]  # a clean shutdown is no delivery


async def test_a_store_has_one_owner_and_any_number_of_readers(engine: Engine, tmp_path: Path) -> None:
    run = await engine.start("slow")
    with pytest.raises(jeton.Refused) as refused:
        async with jeton.open(tmp_path / "runs.db"):
            pass
    assert refused.value.code == "store_owned"
    async with jeton.open(tmp_path / "runs.db", owner=False) as reader:
        followed = asyncio.create_task(anext(reader.events(run.id, follow=True)))
        assert (await followed)["type"] == "run.submitted"
        assert (await reader.cancel(run.id, "from outside")).accepted
    assert (await run.result()).status == "cancelled"


async def test_a_reader_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(jeton.Refused) as refused:
        async with jeton.open(tmp_path / "nowhere.db", owner=False):
            pass
    assert refused.value.code == "no_store"
    assert not (tmp_path / "nowhere.db").exists()

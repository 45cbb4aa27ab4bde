"""Runs of flows through the engine: the examples other engines are described by, and what is shown of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

import jeton
from jeton import Engine, Refused, RunRecord
from jeton.engine.views.dialects import in_dialect
from jeton.model.json import Json

Data = dict[str, Any]


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with jeton.open(tmp_path / "runs.db") as opened:
        yield opened


def flow(nodes: Data, *connections: Data, **rest: Any) -> Data:
    return {"flows": {"f": {"nodes": nodes, "connections": list(connections), **rest}}}


def wire(source: str, target: str, output: str = "main", into: str = "main") -> Data:
    return {"from": source, "from_output": output, "to": target, "to_input": into}


def constant(value: Json) -> Data:
    return {"type": "constant", "data": {"value": value}}


async def ended(engine: Engine, library: Data, given: Json = None, **rest: Any) -> RunRecord:
    await engine.deploy(library)
    return await (await engine.start("f", given, **rest)).result(timeout=20)


LINEAR = flow(
    {"num1": constant(5), "add": {"type": "add", "inputs": {"b": 3}}, "mult": {"type": "multiply", "inputs": {"b": 2}}},
    wire("num1", "add", "value", "a"),
    wire("add", "mult", "result", "a"),
)
BROKEN = flow(
    {
        "num1": constant(10),
        "num2": constant(0),
        "div": {"type": "divide"},
        "add": {"type": "add", "inputs": {"b": 5}},
    },
    wire("num1", "div", "value", "a"),
    wire("num2", "div", "value", "b"),
    wire("div", "add", "result", "a"),
)
LACKING = flow({"num1": constant(5), "add": {"type": "add"}}, wire("num1", "add", "value", "a"))


# the worked examples of dataflow runtimes, in their own words


async def test_a_linear_chain_with_success(engine: Engine) -> None:
    said = in_dialect(await ended(engine, LINEAR), "dataflow")
    assert said["executedNodes"] == ["num1", "add", "mult"]
    assert said["nodeOutputs"] == {"num1": {"value": 5}, "add": {"result": 8}, "mult": {"result": 16}}
    assert said["skippedNodes"] == []
    assert said["nodeErrors"] == {}
    assert said["status"] == "completed"


async def test_a_chain_with_an_error_in_the_middle(engine: Engine) -> None:
    record = await ended(engine, BROKEN)
    said = in_dialect(record, "dataflow")
    assert said["executedNodes"] == ["num1", "num2"]
    assert said["nodeOutputs"] == {"num1": {"value": 10}, "num2": {"value": 0}}
    assert said["skippedNodes"] == ["add"]
    assert list(record.nodes) == ["num1", "num2", "div", "add"]
    assert said["status"] == "error"
    errors = said["nodeErrors"]
    assert isinstance(errors, dict)
    assert list(errors) == ["div"]
    assert "zero" in str(errors["div"])
    executions = said["nodeExecutions"]
    assert isinstance(executions, list)
    assert executions[-1] == {
        "nodeId": "add",
        "status": "skipped",
        "skipReason": "upstream_failure",
        "blockedBy": ["div"],
        "outputs": None,
    }


async def test_a_node_with_a_missing_input_executes_anyway(engine: Engine) -> None:
    record = await ended(engine, LACKING)
    said = in_dialect(record, "dataflow")
    assert said["executedNodes"] == ["num1"]
    assert said["nodeOutputs"] == {"num1": {"value": 5}}
    assert said["skippedNodes"] == []
    assert record.nodes["add"].status == "failed"
    assert record.nodes["add"].error is not None
    assert "b" in record.nodes["add"].error.message
    assert said["status"] == "error"


async def test_an_empty_flow_completes_with_what_it_was_given(engine: Engine) -> None:
    record = await ended(engine, flow({}), {"x": 1})
    assert (record.status, record.output, record.nodes) == ("completed", {"x": 1}, {})


# the life of an execution, in the words of editors


async def told(engine: Engine, run: str, status: str) -> RunRecord:
    """The record as soon as the run has that status."""
    async with asyncio.timeout(20):
        while (record := await engine.get(run)).status != status:
            await asyncio.sleep(0.005)
    return record


async def test_the_life_of_an_execution(engine: Engine) -> None:
    nap = {"type": "gate", "data": {"title": "may it go on?"}}
    pause = {"type": "wait", "data": {"seconds": 600, "label": "a nap"}}
    await engine.deploy(flow({"start": {"type": "trigger"}, "nap": pause}, wire("start", "nap")))
    run = await engine.start("f", {"x": 1})
    said = in_dialect(await told(engine, run.id, "waiting"), "editor")
    assert (said["status"], said["triggerType"], said["triggerDepth"]) == ("WAITING", "MANUAL_TRIGGER", 0)
    assert (said["currentNodeId"], said["waitingAtNodeId"]) == ("nap", "nap")
    assert isinstance(said["nextStepAt"], str)
    assert said["completeAt"] is None
    await engine.deploy(flow({"start": {"type": "trigger"}, "ask": nap}, wire("start", "ask")))
    run = await engine.start("f", {"x": 1})
    await told(engine, run.id, "waiting")
    await engine.answer(run.id, {"yes": True}, node="ask")
    said = in_dialect(await run.result(timeout=20), "editor")
    assert (said["status"], said["output"], said["error"]) == ("SUCCESS", {"x": 1, "yes": True}, None)
    assert (said["currentNodeId"], said["waitingAtNodeId"], said["nextStepAt"]) == (None, None, None)
    assert isinstance(said["completeAt"], str)


async def test_an_execution_that_fails(engine: Engine) -> None:
    later = {"div": {"type": "divide", "inputs": {"a": 1, "b": 0}}, "later": {"type": "merge"}}
    record = await ended(engine, flow(later, wire("div", "later"), on_error="fail"))
    said = in_dialect(record, "editor")
    assert said["status"] == "FAILED"
    assert "zero" in str(said["error"])
    assert isinstance(said["completeAt"], str)
    assert (said["currentNodeId"], said["waitingAtNodeId"], said["nextStepAt"]) == (None, None, None)
    assert record.nodes["later"].status == "idle"


# starting


async def test_an_override_is_over_the_literal_and_under_the_connection(engine: Engine) -> None:
    over = {"add": {"a": 100, "b": 4}}
    record = await ended(engine, LINEAR, overrides=over)
    assert record.nodes["add"].outputs == {"result": 9}
    again = await ended(engine, LINEAR)
    assert again.nodes["add"].outputs == {"result": 8}


@pytest.mark.parametrize(
    ("name", "overrides", "code"),
    [
        pytest.param("f", {"nobody": {"a": 1}}, "unknown_node", id="a node that is not there"),
        pytest.param("f", {"add": {"c": 1}}, "unknown_handle", id="a handle that the node does not have"),
        pytest.param("w", {"a": {"a": 1}}, "not_a_flow", id="a workflow has no handles"),
    ],
)
async def test_overrides_that_are_refused(engine: Engine, name: str, overrides: Data, code: str) -> None:
    await engine.deploy(LINEAR)
    await engine.deploy({"workflows": {"w": {"initial_node": "a", "nodes": {"a": {}}}}})
    with pytest.raises(Refused) as refused:
        await engine.start(name, overrides=overrides)
    assert refused.value.code == code
    assert await engine.list() == ()


async def test_a_key_knows_its_overrides(engine: Engine) -> None:
    await engine.deploy(LINEAR)
    first = await engine.start("f", key="k", overrides={"add": {"b": 4}})
    assert (await engine.start("f", key="k", overrides={"add": {"b": 4}})).id == first.id
    with pytest.raises(Refused, match="other input"):
        await engine.start("f", key="k", overrides={"add": {"b": 5}})


async def test_an_input_that_does_not_fit_makes_no_run(engine: Engine) -> None:
    await engine.deploy(flow({"start": {"type": "trigger"}}, input_schema={"type": "object", "required": ["x"]}))
    with pytest.raises(jeton.InputInvalid):
        await engine.start("f", {})
    assert await engine.list() == ()


async def test_a_changed_flow_is_a_new_version(engine: Engine) -> None:
    first = await engine.deploy(LINEAR)
    assert (await engine.deploy(LINEAR)).versions == first.versions == {"f": 1}
    assert (await engine.deploy(BROKEN)).versions == {"f": 2}
    old = await (await engine.start("f@1")).result(timeout=20)
    assert old.output == {"value": 5, "result": 16}


async def test_a_flow_calls_a_workflow_and_a_workflow_calls_a_flow(engine: Engine) -> None:
    library = {
        "flows": {
            "f": {
                "nodes": {"start": {"type": "trigger"}, "call": {"type": "workflow", "data": {"workflow": "w"}}},
                "connections": [wire("start", "call")],
            },
            "inner": {"nodes": {"one": constant(1)}},
        },
        "workflows": {
            "w": {
                "initial_node": "down",
                "nodes": {"down": {"workflow": "inner", "output_mapping": {"output.got": "result.value"}}},
            }
        },
    }
    record = await ended(engine, library, {"x": 1})
    assert record.output == {"x": 1, "got": 1}
    assert [child.workflow for child in await engine.children(record.run_id)] == ["w"]


# reading


async def test_everything_that_can_be_asked_of_a_run_can_be_asked_of_a_flows(engine: Engine) -> None:
    record = await ended(engine, BROKEN, {"x": 1})
    run = record.run_id
    told = await engine.explain(run)
    assert isinstance(told, jeton.RunExplained)
    assert [(node.node, node.status) for node in told.nodes][-1] == ("add", "skipped")
    assert [(each.source, each.fate) for each in told.nodes[-1].incoming] == [("div", "failed")]
    assert isinstance(await engine.explain(run, token=0), jeton.TokenExplained)
    with pytest.raises(Refused, match="connections"):
        await engine.explain(run, transition=0)
    assert [token.node for token in await engine.tokens(run)] == ["num1", "num2", "div"]
    assert await engine.context(run) == jeton.Context({"x": 1}, {}, {})
    types = [event["type"] async for event in engine.events(run)]
    assert types.count("node.skipped") == 1
    assert types[-1] == "run.failed"


async def test_gates_of_a_flow_are_listed_and_a_fork_waits_for_its_own(engine: Engine) -> None:
    ask = {"type": "gate", "data": {"title": "really?"}}
    await engine.deploy(flow({"one": constant(1), "ask": ask}, wire("one", "ask")))
    run = await engine.start("f")
    await told(engine, run.id, "waiting")
    (gate,) = await engine.gates()
    assert (gate.title, gate.node) == ("really?", "ask")
    fork = await engine.fork(run.id, 0)
    await told(engine, fork.id, "waiting")
    await fork.answer({"yes": True})
    assert (await fork.result(timeout=20)).nodes["one"].outputs == {"value": 1}
    assert (await engine.get(run.id)).status == "waiting"


# what is refused before anything runs, and what travels


@pytest.mark.parametrize(
    ("connections", "code"),
    [
        pytest.param([wire("a", "b"), wire("b", "a")], "flow_cycle", id="D06 a cycle"),
        pytest.param([wire("a", "a")], "flow_cycle", id="D06 a node that leads to itself"),
        pytest.param([wire("a", "nobody")], None, id="D08 a connection to a node that is not there"),
    ],
)
async def test_a_graph_that_is_refused(engine: Engine, connections: list[Data], code: str | None) -> None:
    with pytest.raises(jeton.DefinitionError) as refused:
        await engine.deploy(flow({"a": {"type": "merge"}, "b": {"type": "merge"}}, *connections))
    assert code is None or code in [problem.code for problem in refused.value.problems]
    with pytest.raises(Refused, match="deployed"):
        await engine.start("f")
    assert await engine.list() == ()


def test_a_function_that_is_no_node_is_told_how_to_become_one() -> None:
    async def undecorated() -> None: ...

    built = jeton.Flow("f")
    with pytest.raises(jeton.DefinitionError, match="write @jeton"):
        built.node("n", undecorated)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # the mistake


async def test_h12_a_flow_that_is_not_there_is_refused(engine: Engine) -> None:
    with pytest.raises(Refused) as refused:
        await engine.start("nobody")
    assert refused.value.code == "unknown_workflow"
    assert await engine.list() == ()


async def test_d17_content_travels_as_a_reference(engine: Engine) -> None:
    write = {"kind": "artifact", "implementation": {"operation": "write", "encoding": "base64"}}
    start = {"start": {"type": "trigger"}, "keep": {"type": "keep"}, "next": {"type": "merge"}}
    library = flow(start, wire("start", "keep"), wire("keep", "next"))
    record = await ended(engine, {**library, "actions": {"keep": write}}, {"base64": "AAEC/w=="})
    kept = record.nodes["keep"].outputs
    assert kept is not None
    assert (set(kept), kept["size"]) == ({"id", "media_type", "size"}, 4)
    assert record.nodes["next"].outputs == {"main": kept}


async def test_g05_a_run_that_waits_says_where_and_until_when(engine: Engine) -> None:
    rest = {"nap": {"type": "wait", "data": {"seconds": 0.2, "label": "a nap"}}, "after": {"type": "merge"}}
    await engine.deploy(flow(rest, wire("nap", "after")))
    run = await engine.start("f")
    record = await told(engine, run.id, "waiting")
    assert (record.waiting_at_node, record.waiting_label, record.current_nodes) == ("nap", "a nap", ("nap",))
    assert record.next_step_at is not None
    assert record.nodes["nap"].status == "executing"
    record = await run.result(timeout=20)
    assert (record.waiting_at_node, record.waiting_label, record.next_step_at) == (None, None, None)
    assert record.nodes["after"].status == "completed"


async def test_a_run_that_is_cancelled_leaves_nothing_executing(engine: Engine) -> None:
    await engine.deploy(flow({"ask": {"type": "gate", "data": {"title": "?"}}}))
    run = await engine.start("f")
    await told(engine, run.id, "waiting")
    await run.cancel("enough")
    assert (await engine.get(run.id)).nodes["ask"].status == "idle"


# going on after a failure


FLAKY: list[str] = []


@jeton.node
async def flaky(node_id: str, data: Data) -> Data:
    """Fails the first time it is asked."""
    FLAKY.append(node_id)
    if FLAKY.count(node_id) == 1 and data.get("fails", True):
        raise ValueError("not today")
    return {node_id: True}


@pytest.mark.parametrize("on_error", ["continue", "fail"])
async def test_a_retry_does_the_failed_nodes_again_and_no_other(engine: Engine, on_error: str) -> None:
    FLAKY.clear()
    nodes = {
        "fine": {"type": "flaky", "data": {"fails": False}},
        "a": {"type": "flaky"},
        "behind": {"type": "flaky", "data": {"fails": False}},
        "both": {"type": "merge", "repeated": ["main"]},
    }
    library = flow(
        nodes, wire("fine", "a"), wire("a", "behind"), wire("behind", "both"), wire("fine", "both"), on_error=on_error
    )
    first = await ended(engine, library)
    assert first.status == "failed"
    again = await (await engine.retry(first.run_id)).result(timeout=20)
    assert (again.status, again.output) == ("completed", {"fine": True, "a": True, "behind": True, "main": [ANY, ANY]})
    assert FLAKY == ["fine", "a", "a", "behind"]
    assert again.forked_from is not None
    assert {view.status for view in again.nodes.values()} == {"completed"}
    assert (await engine.get(first.run_id)).nodes["a"].status == "failed"


@pytest.mark.parametrize("on_error", ["continue", "fail"])
async def test_a_retry_of_what_cannot_succeed_fails_again(engine: Engine, on_error: str) -> None:
    first = await ended(engine, {"flows": {"f": {**BROKEN["flows"]["f"], "on_error": on_error}}})
    again = await (await engine.retry(first.run_id)).result(timeout=20)
    assert (again.status, again.nodes["div"].status) == ("failed", "failed")
    assert again.nodes["add"].skip_reason == ("upstream_failure" if on_error == "continue" else None)


async def test_a_store_with_a_retried_flow_is_whole(tmp_path: Path) -> None:
    from jeton.hosts.sqlite.tools.verify import verify

    async with jeton.open(tmp_path / "runs.db") as engine:
        first = await ended(engine, BROKEN)
        await (await engine.retry(first.run_id)).result(timeout=20)
    assert verify(tmp_path / "runs.db").problems == ()


async def test_e04_supposing_something_of_a_flow_changes_nothing(engine: Engine) -> None:
    ask = {"ask": {"type": "gate", "data": {"title": "?"}}, "next": {"type": "merge"}}
    await engine.deploy(flow(ask, wire("ask", "next")))
    run = await engine.start("f")
    before = await told(engine, run.id, "waiting")
    supposed = await engine.simulate(run.id, 0, result={"ok": True})
    assert supposed.status == "completed"
    assert "execute_node" in [decision["do"] for decision in supposed.decisions]
    failing = await engine.simulate(run.id, 0, failure="no")
    assert failing.status == "failed"
    assert await engine.get(run.id) == before


async def test_e02_a_trace_changes_no_result(engine: Engine) -> None:
    first = await ended(engine, BROKEN)
    second = await ended(engine, BROKEN, trace=True)
    assert first.nodes == second.nodes
    plain = [event["type"] async for event in engine.events(first.run_id)]
    traced = [event["type"] async for event in engine.events(second.run_id, trace=True)]
    assert plain == [kind for kind in traced if not str(kind).startswith("decision.")]
    assert len(traced) > len(plain)


async def test_c01_a_child_that_is_given_the_wrong_input_fails_and_tells_its_parent(engine: Engine) -> None:
    call = {"start": {"type": "trigger"}, "call": {"type": "workflow", "data": {"workflow": "picky"}}}
    library = flow(call, wire("start", "call"))
    picky = {"nodes": {"one": constant(1)}, "input_schema": {"type": "object", "required": ["n"]}}
    library["flows"]["picky"] = picky
    record = await ended(engine, library, {"x": 1})
    assert record.status == "failed"
    (child,) = await engine.children(record.run_id)
    assert (child.workflow, child.status) == ("picky", "failed")
    assert record.nodes["call"].error is not None
    assert (await engine.get(child.run_id)).nodes["one"].status == "idle"


async def test_c06_two_runs_never_see_each_other(engine: Engine) -> None:
    await engine.deploy(flow({"start": {"type": "trigger"}, "next": {"type": "merge"}}, wire("start", "next")))
    runs = [await engine.start("f", {"n": n}) for n in range(5)]
    assert [(await run.result(timeout=20)).output for run in runs] == [{"n": n, "main": {"n": n}} for n in range(5)]

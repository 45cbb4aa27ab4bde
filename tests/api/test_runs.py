"""Lists of runs by queries, and actions on many of them."""

from typing import Any

import httpx2
import pytest

from jeton.engine.engine import Engine
from jeton.telemetry.collect import spans_below
from jeton.telemetry.span import Span
from tests.api.listed import Server, code, ok

LIBRARY = """
workflows:
  paged: {initial_node: a, nodes: {a: {}}}
  kept:
    initial_node: a
    nodes:
      a: {output_mapping: {state.order: "{'amount': input.n, 'open': true}", output.secret: "'in the output'"}}
      wait: {wait: {seconds: 600}}
    transitions: [{from: a, to: wait}]
  breaks:
    initial_node: a
    nodes: {a: {end: {failed: {type: no_stock, message: "'Sold OUT today'"}}}}
  calls:
    initial_node: a
    nodes: {a: {workflow: paged}}
"""


@pytest.fixture(scope="module")
def runs(server: Server) -> Any:
    with server.client() as client:
        files = [{"name": "runs.yaml", "text": LIBRARY}]
        found = client.post("/v1/definitions", json={"files": files})
        assert found.status_code == 200, found.text
    return server


def start(client: httpx2.Client, workflow: str, **more: object) -> str:
    answer = client.post("/v1/runs?wait_ms=0", json={"workflow": workflow, **more})
    assert answer.status_code in (200, 201), answer.text
    return str(answer.json()["run_id"])


def ended(client: httpx2.Client, workflow: str, **more: object) -> str:
    run = start(client, workflow, **more)
    ok(client.get(f"/v1/runs/{run}?wait_ms=10000"))
    return run


def found(client: httpx2.Client, **query: str | int) -> list[str]:
    return [row["run_id"] for row in ok(client.get("/v1/runs", params=query))["runs"]]


def test_pages_hold_their_place_when_runs_are_added(runs: Server, client: httpx2.Client) -> None:
    started = [ended(client, "paged") for _ in range(5)][::-1]
    first = ok(client.get("/v1/runs?workflow=paged&limit=2"))
    newer = ended(client, "paged")
    second = ok(client.get(f"/v1/runs?workflow=paged&limit=2&after={first['next']}"))
    third = ok(client.get(f"/v1/runs?workflow=paged&limit=2&after={second['next']}"))
    pages = [[row["run_id"] for row in page["runs"]] for page in (first, second, third)]
    assert [run for page in pages for run in page][:5] == started
    assert newer not in pages[1] + pages[2]
    assert found(client, workflow="paged", limit=1) == [newer]


def test_a_list_carries_no_input_output_or_context(runs: Server, client: httpx2.Client) -> None:
    start(client, "kept", input={"n": 7654321})
    ended(client, "breaks")
    text = client.get("/v1/runs?limit=1000").text
    assert "7654321" not in text
    assert "in the output" not in text
    row = ok(client.get("/v1/runs?limit=1"))["runs"][0]
    assert not {"input", "output", "context", "state", "nodes"} & set(row)


def test_runs_are_found_by_what_is_known_of_them(runs: Server, client: httpx2.Client) -> None:
    kept = start(client, "kept", input={"n": 31}, key="order 31")
    broken = ended(client, "breaks", key="b-31")
    both = {kept, broken}

    def among(**query: str | int) -> set[str]:
        return both & set(found(client, **query))

    assert among() == both
    assert among(q="workflow:kept") == among(workflow="kept") == {kept}
    assert among(status="failed,completed") == among(q="status:failed") == {broken}
    assert among(q="sold out") == among(q='error:"out TODAY"') == among(q="error:no_stock") == {broken}
    assert among(q='key:"order 31"') == among(q='workflow:kept key:"order 31"') == {kept}
    assert among(q="-31") == {broken}
    assert among(q=kept) == {kept}
    assert among(q="state.order.amount:31") == among(q="state.order.amount:31 state.order.open:true") == {kept}
    assert among(q='state.order.amount:"31"') == among(q="state.order.amount:32") == set()
    assert among(q="node:wait") == {kept}
    assert among(q="node:a") == {broken}
    assert among(q="trigger:manual") == both
    assert among(q="trigger:webhook") == set()
    assert among(q="workflow:kept", workflow="breaks") == among(q="status:failed", status="waiting") == set()
    assert among(until="2020-01-01T00:00:00Z") == set()
    assert among(since="2020-01-01") == both


def test_a_run_is_found_by_its_id_with_those_it_called(runs: Server, client: httpx2.Client) -> None:
    run = ended(client, "calls")
    assert sorted(found(client, q=run)) == [run, f"{run}.1"] or len(found(client, q=run)) == 2
    assert all(each.startswith(run) for each in found(client, q=run))


@pytest.mark.parametrize(
    ("query", "then"),
    [
        ("q=statsu:failed", "bad_query"),
        ("q=%22", "bad_query"),
        ("after=zzz", "bad_cursor"),
        ("status=fialed", "bad_argument"),
        ("limit=0", "bad_argument"),
        ("limit=1001", "bad_argument"),
        ("limit=x", "bad_argument"),
        ("since=yesterday", "bad_argument"),
        ("stauts=failed", "bad_argument"),
    ],
)
def test_what_cannot_be_asked_is_refused(client: httpx2.Client, query: str, then: str) -> None:
    assert code(client.get(f"/v1/runs?{query}")) == (400, then)


def test_many_runs_are_cancelled_by_a_query_after_a_look(runs: Server, client: httpx2.Client) -> None:
    many = {start(client, "kept", input={"n": 99}) for _ in range(7)}
    body: dict[str, object] = {"action": "cancel", "query": {"q": "state.order.amount:99", "status": "waiting"}}
    for run in many:
        ok(client.get(f"/v1/runs/{run}?wait_ms=50"))
    looked = ok(client.post("/v1/runs/actions", json={**body, "dry_run": True}))
    assert looked == {"matched": 7, "done": [], "refused": [], "next": None}
    done = ok(client.post("/v1/runs/actions", json={**body, "reason": "enough"}))
    assert done["matched"] == 7
    assert set(done["done"]) == many
    assert done["refused"] == []
    assert {ok(client.get(f"/v1/runs/{run}"))["status"] for run in many} == {"cancelled"}


def test_what_is_not_possible_with_one_run_does_not_hold_up_the_others(runs: Server, client: httpx2.Client) -> None:
    waiting, over = start(client, "kept", input={"n": 1}), ended(client, "paged")
    body = {"action": "cancel", "runs": [waiting, over, "nowhere", waiting]}
    done = ok(client.post("/v1/runs/actions", json=body))
    assert done["matched"] == 3
    assert done["done"] == [waiting]
    assert {(each["run_id"], each["code"]) for each in done["refused"]} == {
        (over, "run_ended"),
        ("nowhere", "unknown_run"),
    }


def test_runs_are_paused_unpaused_and_retried(runs: Server, client: httpx2.Client) -> None:
    run, broken = start(client, "kept", input={"n": 1}), ended(client, "breaks")
    for action, paused in (("pause", True), ("unpause", False)):
        assert ok(client.post("/v1/runs/actions", json={"action": action, "runs": [run]}))["done"] == [run]
        assert ok(client.get(f"/v1/runs/{run}"))["paused"] is paused
    assert ok(client.post("/v1/runs/actions", json={"action": "retry", "runs": [broken]}))["done"] == [broken]


@pytest.mark.parametrize(
    ("body", "then"),
    [
        ({"action": "cancel"}, "ambiguous"),
        ({"action": "cancel", "runs": [], "query": {}}, "ambiguous"),
        ({"action": "delete", "runs": []}, "bad_argument"),
        ({"action": "cancel", "runs": ["x"] * 1001}, "bad_argument"),
        ({"action": "cancel", "query": {"q": "x:y"}}, "bad_query"),
        ({"action": "cancel", "query": {"limit": 1001}}, "bad_argument"),
        ({"action": "cancel", "query": {"after": "x"}}, "bad_cursor"),
    ],
)
def test_an_action_says_which_runs(client: httpx2.Client, body: dict[str, object], then: str) -> None:
    assert code(client.post("/v1/runs/actions", json=body)) == (400, then)


def test_a_run_goes_on_with_the_trace_of_the_request(runs: Server, client: httpx2.Client) -> None:
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    headers = {"traceparent": f"00-{trace}-{parent}-01"}
    started = client.post("/v1/runs?wait_ms=10000", json={"workflow": "calls"}, headers=headers)
    run = ok(started, 201)["run_id"]

    async def spans(engine: Engine) -> list[Span]:
        return [span async for span in spans_below(engine, run)]

    found = runs.call(spans)
    assert {span.trace_id for span in found} == {trace}
    assert [span.parent_id for span in found if span.name == "run calls"] == [parent]
    assert any(span.name == "run paged" for span in found), "the run that it called, too"

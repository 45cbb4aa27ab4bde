"""Details of routes: what is refused and how it is said, pages that end exactly, and what changes nothing."""

from typing import Any

import httpx2
import pytest

from tests.api.listed import Server, code, ok

LIBRARY = """
workflows:
  d_ends: {initial_node: a, nodes: {a: {}}}
  d_fails: {initial_node: a, nodes: {a: {action: {kind: fail, implementation: {type: bad_day, message: no}}}}}
  d_asks: {initial_node: g, nodes: {g: {gate: {title: Well?}}}}
  d_both: {initial_node: g, nodes: {g: {gate: {title: Both?, approvals: 3}}}}
  d_late:
    initial_node: r
    nodes: {r: {wait: {signal: go}}, g: {gate: {title: Well?}}}
    transitions: [{from: r, to: g}]
  d_calls: {initial_node: a, nodes: {a: {workflow: d_asks}}}
  d_fans:
    initial_node: a
    nodes: {a: {}, b: {}, c: {}}
    transitions:
      - {from: a, to: b, foreach: {collection: "range(40)"}}
      - {from: b, to: c, synchronization: {strategy: all}}
triggers:
  d_by_hand: {type: manual, start: d_ends}
model_profiles: {d_fake: {provider: scripted, script: [{text: One.}, {text: Two.}, {text: Three.}]}}
personas: {d_helper: {instructions: Help., model_profile: d_fake}}
agents: {d_bob: {persona: d_helper}}
"""


@pytest.fixture(scope="module")
def client(server: Server) -> Any:
    with server.client() as opened:
        ok(opened.post("/v1/definitions", json={"files": [{"name": "details.yaml", "text": LIBRARY}]}))
        yield opened


def started(client: httpx2.Client, workflow: str, wait_ms: int = 10_000) -> str:
    found = ok(client.post(f"/v1/runs?wait_ms={wait_ms}", json={"workflow": workflow}), 201)
    return str(found["run_id"])


@pytest.mark.parametrize(
    ("method", "path", "body", "problem"),
    [
        pytest.param("GET", "/runs?limit=x", None, "limit: must be a whole number, and is 'x'", id="no number"),
        pytest.param("GET", "/runs/r?at=x", None, "at: must be a whole number, and is 'x'", id="no number or nothing"),
        pytest.param("GET", "/usage?by=moon", None, "by: must be one of day, workflow, node, profile", id="one of few"),
        pytest.param("GET", "/conversations?active=x", None, "active: must be true or false, and is 'x'", id="neither"),
        pytest.param("GET", "/runs/r/deltas", None, "from: is missing; to: is missing", id="parameters left out"),
        pytest.param(
            "POST", "/runs", {"workflow": "x", "credits": 1.5}, 'body.credits: 1.5 is not of type "integer"', id="half"
        ),
        pytest.param(
            "POST",
            "/runs/actions",
            {"action": "cancel", "query": {"nope": 1}},
            "body.query: Additional properties are not allowed ('nope' was unexpected)",
            id="an unknown field below",
        ),
        pytest.param(
            "POST",
            "/store/prune",
            {"statuses": ["waiting"]},
            'body.statuses[0]: "waiting" is not one of "cancelled", "completed" or 3 other candidates',
            id="a status of runs that go on",
        ),
        pytest.param("GET", "/conversations?limit=1001", None, "limit: must be 1 to 1000", id="too long a page"),
    ],
)  # fmt: skip
def test_a_bad_argument_is_named(client: httpx2.Client, method: str, path: str, body: Any, problem: str) -> None:
    found = (
        client.request(method, f"/v1{path}", json=body) if body is not None else client.request(method, f"/v1{path}")
    )
    assert code(found) == (400, "bad_argument")
    assert found.json()["problem"] == problem


@pytest.mark.parametrize(
    ("method", "path", "body", "refused"),
    [
        pytest.param("GET", "/gates/nobody:1", None, (404, "unknown_gate"), id="a gate of no run"),
        pytest.param("POST", "/gates/nobody:1/answer", {"value": 1}, (404, "unknown_gate"), id="an answer to it"),
        pytest.param("PUT", "/queries/bad", {"q": "colour:red"}, (400, "bad_query"), id="no query"),
        pytest.param("GET", "/conversations?after=zz", None, (400, "bad_cursor"), id="a cursor of no list"),
        pytest.param("GET", "/agents/nobody/memories", None, (404, "unknown_agent"), id="memories of nobody"),
        pytest.param("GET", "/agents/d_bob/memories/m1", None, (404, "unknown_memory"), id="no memory"),
        pytest.param("GET", "/agents/d_bob/memories?q=x&after=m1", None, (400, "ambiguous"), id="a paged search"),
        pytest.param(
            "POST", "/agents/d_bob/memories/delete", {"ids": ["m1"]}, (404, "unknown_memory"), id="forgetting nothing"
        ),
        pytest.param("GET", "/runs/nobody/export", None, (404, "unknown_run"), id="a file of nothing"),
        pytest.param("GET", "/credits/usage?run=nobody", None, (404, "unknown_run"), id="usage of nobody"),
        pytest.param("POST", "/conversations/nobody/cancel", {}, (404, "unknown_run"), id="stopping nothing"),
    ],
)  # fmt: skip
def test_what_is_not_there(client: httpx2.Client, method: str, path: str, body: Any, refused: tuple[int, str]) -> None:
    found = (
        client.request(method, f"/v1{path}", json=body) if body is not None else client.request(method, f"/v1{path}")
    )
    assert code(found) == refused


def test_a_wait_that_is_too_long_starts_nothing(client: httpx2.Client) -> None:
    asked = {"workflow": "d_ends", "key": "waited"}
    assert code(client.post("/v1/runs?wait_ms=60001", json=asked)) == (400, "bad_argument")
    assert ok(client.get("/v1/runs?workflow=d_ends&q=key:waited")) == {"runs": [], "next": None}


def test_a_method_that_is_not_there_is_answered_with_those_that_are(client: httpx2.Client) -> None:
    found = client.put("/v1/runs", json={})
    assert (code(found), found.headers["allow"]) == ((405, "method_not_allowed"), "GET, POST")


def test_a_run_that_has_ended_is_not_cancelled(client: httpx2.Client) -> None:
    assert code(client.post(f"/v1/runs/{started(client, 'd_ends')}/cancel")) == (409, "run_ended")


def test_pages_end_exactly(client: httpx2.Client) -> None:
    runs = [started(client, "d_fails") for _ in range(2)][::-1]
    page = ok(client.get("/v1/runs?workflow=d_fails&limit=2"))
    assert ([run["run_id"] for run in page["runs"]], page["next"]) == (runs, None)
    first = ok(client.get("/v1/runs?workflow=d_fails&limit=1"))
    last = ok(client.get(f"/v1/runs?workflow=d_fails&limit=1&after={first['next']}"))
    assert ([run["run_id"] for run in last["runs"]], last["next"]) == (runs[1:], None)
    talks = [ok(client.post("/v1/agents/d_bob/conversations"), 201)["conversation_id"] for _ in range(2)][::-1]
    page = ok(client.get("/v1/conversations?agent=d_bob&limit=1"))
    rest = ok(client.get(f"/v1/conversations?agent=d_bob&limit=1&after={page['next']}"))
    assert [talk["id"] for talk in (*page["conversations"], *rest["conversations"])] == talks
    assert rest["next"] is None
    entries = ok(client.get(f"/v1/runs/{runs[0]}/entries"))["entries"]
    assert ok(client.get(f"/v1/runs/{runs[0]}/entries?limit={len(entries)}"))["next"] is None


def test_a_page_of_events_has_a_hundred(client: httpx2.Client) -> None:
    run = started(client, "d_fans")
    page = ok(client.get(f"/v1/runs/{run}/events"))
    assert ([event["seq"] for event in page["events"]], page["next"]) == (list(range(100)), 99)


def test_lists_say_what_a_run_waits_for(client: httpx2.Client) -> None:
    run = started(client, "d_asks", 0)
    (listed,) = ok(client.get(f"/v1/runs?q={run}"))["runs"]
    assert (listed["waiting_at_node"], listed["waiting_label"], listed["current_nodes"]) == ("g", "Well?", ["g"])
    assert "output" not in listed


def test_an_action_reaches_calls_through_their_callers(client: httpx2.Client) -> None:
    run = started(client, "d_calls", 100)
    query = {"q": run, "status": "waiting"}
    assert len(ok(client.get("/v1/runs", params=query))["runs"]) == 2
    would = ok(client.post("/v1/runs/actions", json={"action": "cancel", "query": query, "dry_run": True}))
    assert (would["matched"], would["done"]) == (1, [])
    done = ok(client.post("/v1/runs/actions", json={"action": "cancel", "query": query}))
    assert (done["done"], done["refused"], done["next"]) == ([run], [], None)
    assert ok(client.get(f"/v1/runs/{run}.0?wait_ms=10000"))["status"] == "cancelled"
    assert ok(client.get(f"/v1/runs/{run}"))["status"] == "cancelled"


def test_an_answer_by_node_is_kept_until_its_gate_opens(client: httpx2.Client) -> None:
    run = started(client, "d_late", 0)
    assert code(client.post(f"/v1/runs/{run}/answer", json={"value": 1})) == (409, "gate_closed")
    kept = ok(client.post(f"/v1/runs/{run}/answer", json={"value": {"ok": True}, "node": "g"}))
    assert (kept["outcome"], kept["run_id"], kept["record"]["status"]) == ("kept", run, "waiting")
    both = {"value": 1, "node": "g", "gate": f"{run}:1"}
    assert code(client.post(f"/v1/runs/{run}/answer", json=both)) == (400, "ambiguous")
    ok(client.post(f"/v1/runs/{run}/signal", json={"name": "go"}))
    assert ok(client.get(f"/v1/runs/{run}?wait_ms=10000"))["status"] == "completed"


def test_an_answer_by_the_caller_names_the_run_that_took_it(client: httpx2.Client) -> None:
    run = started(client, "d_calls", 100)
    taken = ok(client.post(f"/v1/runs/{run}/answer", json={"value": 1}))
    assert (taken["run_id"], taken["outcome"], taken["record"]["run_id"]) == (f"{run}.0", "taken", run)


def test_a_key_of_a_person_speaks_as_nobody_else(server: Server, client: httpx2.Client) -> None:
    made = ok(client.post("/v1/keys", json={"name": "ann", "scopes": ["answer"], "person": "ann"}), 201)
    with server.client(made["key"]) as ann:
        talk = ok(ann.post("/v1/agents/d_bob/conversations", json={"key": "k"}), 201)["conversation_id"]
        assert ok(ann.post("/v1/agents/d_bob/conversations", json={"key": "k"}), 201)["conversation_id"] == talk
        said = {"text": "hi", "user": "eve"}
        assert code(ann.post(f"/v1/conversations/{talk}/messages", json=said)) == (400, "bad_argument")
        ok(ann.post(f"/v1/conversations/{talk}/messages", json={"text": "hi"}), 202)
        (turn,) = ok(ann.get(f"/v1/conversations/{talk}"))["turns"]
        assert turn["caller"] == {"type": "user", "user": "ann"}
        attached = {"text": "look", "attachments": [{"id": "nothing"}]}
        assert code(ann.post(f"/v1/conversations/{talk}/messages", json=attached)) == (404, "unknown_artifact")


def test_the_store_counts_runs_and_no_conversations(client: httpx2.Client) -> None:
    before = ok(client.get("/v1/store"))["runs"]
    ok(client.post("/v1/agents/d_bob/conversations"), 201)
    assert ok(client.get("/v1/store"))["runs"] == before


def test_firings_of_all_triggers_and_of_the_one_that_started_a_run(client: httpx2.Client) -> None:
    fired = ok(client.post("/v1/triggers/d_by_hand/fire", json={}), 202)
    assert ok(client.get(f"/v1/firings?run={fired['run_id']}"))["firings"] == [fired]
    assert fired in ok(client.get("/v1/firings?trigger=d_by_hand"))["firings"]
    assert fired in ok(client.get("/v1/firings"))["firings"]


def test_a_dry_run_of_pruning_counts(client: httpx2.Client) -> None:
    run = started(client, "d_ends")
    body = {"older_than_ms": 0, "workflow": "d_ends", "dry_run": True}
    assert ok(client.post("/v1/store/prune", json=body))["runs"] >= 1
    assert ok(client.get(f"/v1/runs/{run}"))["status"] == "completed"


def test_a_run_as_a_file_is_a_download(client: httpx2.Client) -> None:
    found = client.get(f"/v1/runs/{started(client, 'd_ends')}/export")
    assert found.status_code == 200
    assert found.headers["content-disposition"] == 'attachment; filename="run.json"'
    assert found.headers["x-content-type-options"] == "nosniff"


def test_the_document_is_there_without_the_prefix_too(client: httpx2.Client) -> None:
    assert ok(client.get("/openapi.json")) == ok(client.get("/v1/openapi.json"))


def test_an_explanation_lists_few_of_what_is_alike_and_counts_the_rest(client: httpx2.Client) -> None:
    run = started(client, "d_fans")
    whole = ok(client.get(f"/v1/runs/{run}/explain"))["routings"]
    few = ok(client.get(f"/v1/runs/{run}/explain?alike=2"))["routings"]
    of_b = [routing for routing in whole if routing["node"] == "b"]
    assert len(of_b) == 40
    assert [routing for routing in few if routing["node"] == "b"] == [of_b[0], {**of_b[1], "alike": 38}]
    assert [routing for routing in few if routing["node"] != "b"] == [each for each in whole if each["node"] != "b"]
    transition = ok(client.get(f"/v1/runs/{run}/explain?transition=1&alike=1"))["routings"]
    assert [(routing["token"], routing["alike"]) for routing in transition] == [(of_b[0]["token"], 39)]
    assert code(client.get(f"/v1/runs/{run}/explain?alike=0")) == (400, "bad_argument")


def test_a_gate_says_who_has_answered(client: httpx2.Client) -> None:
    run = started(client, "d_both", 300)
    for by in ("ann", "ben"):
        ok(client.post(f"/v1/runs/{run}/answer", json={"value": 1, "by": by}))
    [gate] = ok(client.get(f"/v1/gates?run={run}"))["gates"]
    assert (gate["answers"], gate["approvals"], gate["answered_by"]) == (2, 3, ["ann", "ben"])


def test_a_key_says_when_it_was_last_used(client: httpx2.Client) -> None:
    made = ok(client.post("/v1/keys", json={"name": "d_key", "scopes": ["read"]}), 201)

    def last_used() -> Any:
        return next(key for key in ok(client.get("/v1/keys"))["keys"] if key["id"] == made["id"])["last_used_at"]

    assert last_used() is None
    ok(client.get("/v1/me", headers={"Authorization": f"Bearer {made['key']}"}))
    assert last_used() >= made["created_at"]

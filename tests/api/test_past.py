"""A run's events, entries and changes, and the run as it was after any of its entries."""

from typing import Any

import httpx2
import pytest

from tests.api.listed import Server, code, ok

LIBRARY = """
workflows:
  walked:
    initial_node: a
    nodes:
      a: {output_mapping: {state.n: "1"}}
      b: {output_mapping: {state.n: "state.n + 1"}}
      hold: {wait: {seconds: 600}}
    transitions: [{from: a, to: b}, {from: b, to: hold}]
  fans:
    initial_node: split
    nodes:
      split: {}
      each: {}
      hold: {gate: {title: Well?}}
    transitions:
      - {from: split, to: each, spawn_count: 5, sibling_group: five}
      - {from: each, to: hold, synchronization: {sibling_group: five, strategy: all}}
"""


@pytest.fixture(scope="module")
def walked(server: Server) -> Any:
    with server.client() as client:
        ok(client.post("/v1/definitions", json={"files": [{"name": "past.yaml", "text": LIBRARY}]}))
        return ok(client.post("/v1/runs?wait_ms=300", json={"workflow": "walked"}), 201)["run_id"]


def test_events_come_in_pages_without_gaps(walked: str, client: httpx2.Client) -> None:
    everything = ok(client.get(f"/v1/runs/{walked}/events"))
    assert everything["next"] is None
    seqs = [event["seq"] for event in everything["events"]]
    assert seqs == list(range(len(seqs)))
    assert len(seqs) > 5
    paged: list[int] = []
    after: int | None = -1
    while after is not None:
        page = ok(client.get(f"/v1/runs/{walked}/events?after={after}&limit=2"))
        assert len(page["events"]) <= 2
        paged += [event["seq"] for event in page["events"]]
        after = page["next"]
    assert paged == seqs
    assert ok(client.get(f"/v1/runs/{walked}/events?after={seqs[-1]}"))["events"] == []
    assert ok(client.get(f"/v1/runs/{walked}/events?after=1000000"))["events"] == []


def test_entries_say_what_came_and_what_was_decided(walked: str, client: httpx2.Client) -> None:
    everything = ok(client.get(f"/v1/runs/{walked}/entries"))["entries"]
    paged: list[Any] = []
    after: int | None = -1
    while after is not None:
        page = ok(client.get(f"/v1/runs/{walked}/entries?after={after}&limit=1"))
        paged += page["entries"]
        after = page["next"]
    assert paged == everything
    assert [entry["number"] for entry in paged] == list(range(len(paged)))
    assert paged[0]["messages"]
    assert paged[0]["decisions"]


def test_the_run_as_it_was_and_what_changed_since_agree(walked: str, client: httpx2.Client) -> None:
    last = len(ok(client.get(f"/v1/runs/{walked}/entries"))["entries"]) - 1
    now = ok(client.get(f"/v1/runs/{walked}/graph"))
    assert now["live"]
    assert now["entry"] == last
    assert now["nodes"]["hold"]["waiting"] == 1
    assert ok(client.get(f"/v1/runs/{walked}/context?at={last}")) == ok(client.get(f"/v1/runs/{walked}/context"))
    assert ok(client.get(f"/v1/runs/{walked}?at=0"))["run_id"] == walked
    assert len(ok(client.get(f"/v1/runs/{walked}/tokens?at={last}"))["tokens"]) >= 1
    ok(client.get(f"/v1/runs/{walked}/explain?at=0"))
    deltas = ok(client.get(f"/v1/runs/{walked}/deltas?from=0&to={last}"))["deltas"]
    counted: dict[str, dict[str, int]] = {}
    for delta in deltas:
        for node, places in delta["nodes"].items():
            for place, change in places.items():
                counted.setdefault(node, {}).setdefault(place, 0)
                counted[node][place] += change
    for node, places in counted.items():
        assert {place: count for place, count in places.items() if count} == {
            place: count for place, count in now["nodes"][node].items() if count
        }


def test_slots_of_a_fan_out_are_stretches(walked: str, client: httpx2.Client) -> None:
    run = ok(client.post("/v1/runs?wait_ms=300", json={"workflow": "fans"}), 201)["run_id"]
    (group,) = ok(client.get(f"/v1/runs/{run}/graph"))["groups"]
    assert group["total"] == 5
    slots = ok(client.get(f"/v1/runs/{run}/groups/{group['id']}/slots"))
    assert slots["total"] == 5
    assert sum(count for _, _, count in slots["runs"]) == 5
    part = ok(client.get(f"/v1/runs/{run}/groups/{group['id']}/slots?from=1&to=3"))
    assert sum(count for _, _, count in part["runs"]) == 2
    assert code(client.get(f"/v1/runs/{run}/groups/77/slots")) == (404, "unknown_group")
    assert code(client.get(f"/v1/runs/{run}/groups/x/slots")) == (404, "unknown_group")


@pytest.mark.parametrize(
    ("path", "then"),
    [
        ("?at=99999", (404, "unknown_entry")),
        ("?at=-1", (404, "unknown_entry")),
        ("?at=0&wait_ms=5", (400, "ambiguous")),
        ("/graph?at=99999", (404, "unknown_entry")),
        ("/context?at=99999", (404, "unknown_entry")),
        ("/deltas", (400, "bad_argument")),
        ("/deltas?from=5&to=2", (400, "bad_argument")),
        ("/deltas?from=0&to=1000", (400, "bad_argument")),
        ("/deltas?from=0&to=999", (404, "unknown_entry")),
        ("/entries?after=-2", (400, "bad_argument")),
        ("/events?limit=0", (400, "bad_argument")),
        ("/events?after=99999999999999999999999", (400, "bad_argument")),
    ],
)
def test_what_there_is_not_is_refused(walked: str, client: httpx2.Client, path: str, then: tuple[int, str]) -> None:
    assert code(client.get(f"/v1/runs/{walked}{path}")) == then

"""Numbers for Prometheus: every name there is, right values, and no look at the rows of runs."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from prometheus_client.parser import text_string_to_metric_families

from jeton.model.json import JsonObject
from tests.api.server import Reply, Running, add_key, serving

NAMES = (
    "jeton_runs", "jeton_runs_started_total", "jeton_runs_ended_total", "jeton_run_seconds",
    "jeton_nodes_ended_total", "jeton_tasks_in_flight", "jeton_task_seconds", "jeton_retries_total",
    "jeton_gates_open", "jeton_commits_total", "jeton_commit_seconds", "jeton_commit_entries",
    "jeton_inbox_messages", "jeton_actors_live", "jeton_store_bytes", "jeton_http_requests_total",
    "jeton_http_seconds", "jeton_streams", "jeton_streams_dropped_total", "jeton_auth_refused_total",
    "jeton_firings_total", "jeton_credits_used_total", "jeton_model_tokens_total", "jeton_sink_events_total",
)  # fmt: skip
LIBRARY: JsonObject = {
    "workflows": {
        "double": {
            "initial_node": "a",
            "nodes": {
                "a": {
                    "action": {"kind": "metric", "implementation": {"name": "orders_seen", "type": "counter"}},
                    "input_mapping": {"value": "2"},
                }
            },
        },
        "ask": {"initial_node": "gate", "nodes": {"gate": {"gate": {"title": "Ship it?"}}}},
        "broken": {
            "initial_node": "a",
            "nodes": {"a": {"action": {"kind": "assert", "implementation": {"that": "false"}}}},
        },
    },
    "triggers": {"hook": {"type": "webhook", "path": "open", "start": "double"}},
}


ORDER = ("workflow", "route", "node", "trigger", "method", "status", "outcome")


def samples(reply: Reply) -> dict[tuple[str, ...], float]:
    """The values by name and labels."""
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(reply.body.decode())
    found = [each for family in families for each in family.samples]
    return {(each.name, *sorted(each.labels.values(), key=of_name(each.labels))): each.value for each in found}


def of_name(labels: dict[str, str]) -> Callable[[str], int]:
    """The place of a label's value, by its name."""
    names = {value: name for name, value in labels.items()}
    return lambda value: ORDER.index(names[value]) if names[value] in ORDER else len(ORDER)


async def scraped(server: Running) -> dict[tuple[str, ...], float]:
    return samples(await server.ask("GET", "/metrics", key=server.key))


async def started(server: Running, workflow: str) -> str:
    reply = await server.ask("POST", "/v1/runs?wait_ms=5000", {"workflow": workflow, "input": {}}, key=server.key)
    return str(reply.json["run_id"])


COMPLETED = ("jeton_runs", "double", "completed")


async def test_what_runs_do_is_counted(tmp_path: Path) -> None:
    async with serving(tmp_path / "store.db", library=LIBRARY) as server:
        for workflow in ("double", "double", "broken"):
            await started(server, workflow)
        assert (await server.ask("POST", "/hooks/open", {})).status == 202
        asking = (await server.ask("POST", "/v1/runs", {"workflow": "ask"}, key=server.key)).json["run_id"]
        while (found := await scraped(server)).get(("jeton_gates_open",)) != 1 or found[COMPLETED] != 3:
            await asyncio.sleep(0.02)
        assert {key: value for key, value in found.items() if key[0] == "jeton_runs" and value} == {
            ("jeton_runs", "double", "completed"): 3,
            ("jeton_runs", "broken", "failed"): 1,
            ("jeton_runs", "ask", "waiting"): 1,
        }
        assert found["jeton_runs_started_total", "double", "manual"] == 2
        assert found["jeton_runs_started_total", "double", "webhook"] == 1
        assert found["jeton_runs_ended_total", "broken", "failed"] == 1
        assert found["jeton_nodes_ended_total", "double", "a", "completed"] == 3
        assert found["jeton_run_seconds_count", "double"] == 3
        assert found["jeton_task_seconds_count", "metric"] == 3
        assert found["jeton_firings_total", "hook", "started"] == 1
        assert found["jeton_gates_open",] == 1
        assert found["jeton_user_orders_seen_total",] == 6
        assert found["jeton_commits_total",] > 0
        assert found["jeton_store_bytes",] > 10_000
        assert found["jeton_http_requests_total", "start_run", "POST", "201"] == 4
        await server.ask("POST", f"/v1/runs/{asking}/cancel", {}, key=server.key)
        found = await scraped(server)
        assert (found["jeton_gates_open",], found["jeton_runs", "ask", "cancelled"]) == (0, 1)


async def test_every_name_is_there(tmp_path: Path) -> None:
    async with serving(tmp_path / "store.db", library=LIBRARY) as server:
        text = (await server.ask("GET", "/metrics", key=server.key)).body.decode()
        families = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
        assert sorted(set(NAMES) - families - {f"{name}_total" for name in families}) == []


async def test_runs_of_before_are_counted_and_go_on_from_there(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    async with serving(store, library=LIBRARY) as server:
        await started(server, "double")
        asking = (await server.ask("POST", "/v1/runs", {"workflow": "ask"}, key=server.key)).json["run_id"]
        while (await scraped(server)).get(("jeton_gates_open",)) != 1:
            await asyncio.sleep(0.02)
    async with serving(store, library=LIBRARY) as server:
        found = await scraped(server)
        assert (found["jeton_runs", "double", "completed"], found["jeton_runs", "ask", "waiting"]) == (1, 1)
        assert ("jeton_runs_ended_total", "double", "completed") not in found
        await server.ask("POST", f"/v1/runs/{asking}/cancel", {}, key=server.key)
        found = await scraped(server)
        assert (found["jeton_runs", "ask", "waiting"], found["jeton_runs", "ask", "cancelled"]) == (0, 1)
        assert found["jeton_runs_ended_total", "ask", "cancelled"] == 1


async def test_a_scrape_reads_no_row_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statements: list[str] = []

    def trace(_cursor: object, sql: str, _bindings: object) -> bool:
        statements.append(sql)
        return True

    def traced(connection: Any) -> None:
        connection.set_exec_trace(trace)

    store = tmp_path / "store.db"
    async with serving(store, library=LIBRARY) as server:
        for _ in range(5):
            await started(server, "double")
    monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, traced])
    async with serving(store, library=LIBRARY) as server:
        await scraped(server)
        statements.clear()
        await scraped(server)
        assert any("inbox" in each for each in statements), "nothing was traced"
        assert [each for each in statements if "runs" in each.replace("runs.db", "")] == []


async def test_who_is_not_let_in_is_counted(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    key, answers = await add_key(store, "read"), await add_key(store, "answer")
    async with serving(store, library=LIBRARY) as server:
        await server.ask("GET", "/metrics")
        await server.ask("GET", "/metrics", key=answers)
        await server.ask("GET", "/nothing", headers=[("Host", "evil.example")])
        await server.ask("BREW", "/v1/me", key=key)
        found = samples(await server.ask("GET", "/metrics", key=key))
        for code in ("key_missing", "scope_missing", "host_refused"):
            assert found["jeton_auth_refused_total", code] == 1
        labels = {part for each in found for part in each[1:]}
        assert not {"BREW", "/nothing", "evil.example"} & labels

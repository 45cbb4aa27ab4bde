"""Definitions that ask for more than a request may have: they are refused, and nobody else waits for them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from jeton.api import state
from jeton.api.apart import process
from tests.api.listed import Server, code, ok

SECONDS = 3
NINES = ",".join(["x"] * 9)
ALIASES = "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12))


def workflow(nodes: dict[str, Any] | None = None, transitions: list[Any] | None = None, **fields: Any) -> str:
    """The text of a workflow."""
    given = {"initial_node": "a", "nodes": nodes or {"a": {}}, "transitions": transitions or [], **fields}
    return json.dumps({"workflows": {"w": given}})


def twelve_times_ten() -> dict[str, Any]:
    """A schema whose parts each refer ten times to the next."""
    parts = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 10} for i in range(12)}
    return {"$defs": {**parts, "d12": {"type": "integer"}}, "$ref": "#/$defs/d0"}


def often(count: int, **more: Any) -> list[Any]:
    return [{"from": "a", "to": "a", "loop_config": {"max_iterations": count}, **more}]


ENDLESS: dict[str, tuple[str, object]] = {
    "a schema that refers to itself": (workflow(input_schema=twelve_times_ten()), 1),
    "a loop of a million rounds": (workflow({"a": {"wait": {"seconds": 0}}}, often(1_000_000)), {}),
}
READ_AT_ONCE = {
    "aliases of aliases": f"a: &a [{NINES}]\n{ALIASES}",
    "lists in lists": "[" * 200_000,
    "objects in objects": "{a: " * 200_000,
    "a number without end": "a: " + "9" * 1_000_000,
    "an exponent without end": '{"a": 1e' + "9" * 100_000 + "}",
    "nothing but colons": ":" * 1_000_000,
    "an expression of brackets": workflow({"a": {"output_mapping": {"output.n": "(" * 200_000}}}),
    "an expression of signs": workflow({"a": {"output_mapping": {"output.n": "!" * 200_000 + "true"}}}),
    "a template of braces": workflow({"a": {"gate": {"title": "{{" * 200_000}}}),
}


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that gives definitions a few seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "SIMULATE_S", SECONDS)
        server = Server(tmp_path_factory.mktemp("hasty") / "store.db").start()
        yield server
        server.stop()


def files(text: str) -> dict[str, Any]:
    return {"files": [{"name": "a.yaml", "text": text}]}


@pytest.mark.parametrize("text", READ_AT_ONCE.values(), ids=READ_AT_ONCE)
def test_what_is_too_large_when_it_is_written_out_is_a_problem_of_the_file(hasty: Server, text: str) -> None:
    with hasty.client() as client:
        assert ok(client.post("/v1/check", json=files(text)))["ok"] is False
        for path in ("definitions", "simulate"):
            assert code(client.post(f"/v1/{path}", json=files(text))) == (422, "definition_invalid")


@pytest.mark.parametrize(("text", "value"), ENDLESS.values(), ids=ENDLESS)
def test_what_does_not_end_is_ended_and_the_next_one_is_served(hasty: Server, text: str, value: object) -> None:
    with hasty.client() as client:
        refused = client.post("/v1/simulate", json={**files(text), "input": value, "seeds": 1})
        assert code(refused) == (400, "bad_argument"), refused.text
        assert f"more than {SECONDS} seconds" in refused.json()["problem"]
        assert ok(client.post("/v1/simulate", json={**files(workflow()), "input": {}, "seeds": 1}))["ok"]


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "string", "minLength": 10**12}, id="a text without end"),
        pytest.param({"type": "array", "minItems": 10**9, "items": {"type": "array", "minItems": 10**9}}, id="lists"),
        pytest.param(
            {"type": "object", "required": ["x", "y"], "properties": {"x": {"$ref": "#"}, "y": {"$ref": "#"}}},
            id="an object that must contain itself twice",
        ),
    ],
)
def test_an_input_is_made_up_only_as_far_as_it_can_be(hasty: Server, schema: dict[str, Any]) -> None:
    with hasty.client() as client:
        body = {**files(workflow(input_schema=schema)), "seeds": 1}
        assert code(client.post("/v1/simulate", json=body)) == (422, "input_invalid")


def test_a_graph_with_many_ways_is_checked_and_drawn(client: httpx2.Client) -> None:
    names = [f"n{i}" for i in range(45)]
    everywhere = [{"from": a, "to": b} for i, a in enumerate(names) for b in names[i + 1 :]]
    text = workflow({name: {} for name in names}, everywhere, initial_node="n0")
    found = ok(client.post("/v1/check", json=files(text)))
    assert found["ok"]
    graph = found["graphs"]["w"]
    assert len(graph["edges"]) == len(everywhere)
    assert sum(len(edge["points"]) for edge in graph["edges"]) < 2 * len(everywhere) + 20_001


def test_a_key_has_few_definitions_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_WAITING", 0)
    server = Server(tmp_path / "store.db").start()
    try:
        with server.client() as client:
            assert code(client.post("/v1/check", json=files(workflow()))) == (429, "rate_limited")
    finally:
        server.stop()

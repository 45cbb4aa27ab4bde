"""The OpenAPI document: every route with its answers, and a server that keeps to it, whatever it is asked."""

import os
from collections.abc import Iterator
from typing import Any, Final, cast

import httpx2
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,  # pyright: ignore[reportUnknownVariableType]
    response_schema_conformance,
    status_code_conformance,
)

from jeton.api import state
from jeton.api.listed import codes_of
from jeton.api.openapi import document_of
from jeton.api.problems import STATUSES
from jeton.api.routes.table import ROUTES
from tests.api.listed import Server, ok

EXAMPLES: Final = int(os.environ.get("JETON_SCHEMATHESIS_EXAMPLES", "1"))
"""Of each kind, for each operation. A larger run: JETON_SCHEMATHESIS_EXAMPLES=200."""
MORE: Final = () if EXAMPLES == 1 else tuple((mode, dict[str, str]()) for mode in GenerationMode)


def test_every_route_is_listed_with_its_answers_and_codes(client: httpx2.Client) -> None:
    document = ok(client.get("/v1/openapi.json"))
    assert document["openapi"] == "3.1.0"
    for route in ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        listed = {int(status) for status in operation["responses"]}
        assert listed == {*route.answers, *codes_of(route)}, route.path
        assert operation["summary"]
        assert operation["x-scopes"] == list(route.scopes)
    names = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(names) == len(set(names)) == len(ROUTES)


def test_every_code_that_is_listed_has_a_status() -> None:
    for route in ROUTES:
        for status, codes in codes_of(route).items():
            for code in codes:
                assert STATUSES.get(code, 404) == status, f"{route.path}: {code} is answered as another code"


CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
LIBRARY = """
workflows:
  waits: {initial_node: a, nodes: {a: {gate: {title: Well?}}}}
  ends: {initial_node: a, nodes: {a: {}}}
triggers:
  asked: {type: manual, start: ends}
"""
LONGEST_WAIT_MS = 20


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that counts no requests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("KEY_RATE", "ADDRESS_RATE"):
            patch.setattr(state, name, 1e9)
        server = Server(tmp_path_factory.mktemp("asked") / "store.db").start()
        yield server
        server.stop()


@pytest.fixture(scope="module")
def known(asked: Server) -> dict[str, str]:
    """Values of path parameters that name something."""
    with asked.client() as client:
        ok(client.post("/v1/definitions", json={"files": [{"name": "a.yaml", "text": LIBRARY}]}))
        run = ok(client.post("/v1/runs", json={"workflow": "waits"}), 201)["run_id"]
        artifact = ok(client.put("/v1/artifacts", content=b"x"), 201)["id"]
        ok(client.put("/v1/queries/mine", json={"q": "x"}))
        gate = ok(client.get("/v1/gates"))["gates"][0]["id"]
    named = {"run": run, "workflow": "waits", "artifact": artifact, "name": "mine", "gate": gate, "trigger": "asked"}
    return {**named, "conversation": run, "agent": "bob", "key": "00000000"}


SCHEMA = schemathesis.openapi.from_dict(msgspec.json.decode(msgspec.json.encode(document_of(ROUTES))))
LABELS = [f"{route.method} {route.path}" for route in ROUTES if route.name != "stream"]  # which has no end


@pytest.mark.parametrize("label", LABELS)
def test_the_server_keeps_to_its_document(label: str, asked: Server, known: dict[str, str]) -> None:
    method, path = label.split(" ")
    operation: Any = cast("Any", SCHEMA)[path][method]
    modes = list(GenerationMode) if EXAMPLES > 1 or LABELS.index(label) % 2 else [GenerationMode.POSITIVE]
    for mode, parts in (*((mode, known) for mode in modes), *MORE):
        _ask_all(operation.as_strategy(generation_mode=mode), asked, parts)


def _ask_all(cases: Any, server: Server, parts: dict[str, str]) -> None:
    @seed(1)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
        database=None,
    )
    @given(cases)
    def ask(case: Any) -> None:
        _ask(case, server, parts)

    ask()


def _ask(case: Any, server: Server, known: dict[str, str]) -> None:
    """Send a case, with things that there are in its path, and check the answer."""
    path: dict[str, Any] = case.path_parameters or {}
    path.update({name: known[name] for name in path if name in known})
    query: dict[str, Any] = case.query or {}
    if isinstance(query.get("wait_ms"), int):
        query["wait_ms"] = min(query["wait_ms"], LONGEST_WAIT_MS)
    case.call_and_validate(
        base_url=server.url, headers={"Authorization": f"Bearer {server.key}"}, checks=CHECKS, timeout=30
    )

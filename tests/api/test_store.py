"""Usage, the store, artifacts and firings over HTTP."""

import hashlib
import json
import shutil
from http.client import HTTPConnection
from pathlib import Path

import httpx2
import pytest

from jeton.model.ids import RunId
from tests.api.listed import Server, code, ok

SPENDS = """
project: {settings: {credits: {balance: 1000, costs: {sample: 5}}}}
tasks: {work: {steps: [{action: {kind: context, implementation: {set: {}}}}]}}
workflows:
  spends: {initial_node: a, nodes: {a: {}}}
triggers:
  by_hand: {type: manual, start: spends}
"""


def test_the_store_says_how_large_it_is_and_whose(server: Server, client: httpx2.Client) -> None:
    found = ok(client.get("/v1/store"))
    assert found["bytes"] >= 4096
    assert found["free_bytes"] == pytest.approx(shutil.disk_usage(server.store.parent).free, rel=0.2)
    assert found["owner"].startswith("process ")
    assert found["lost"] == 0
    assert found["entries"] >= 0
    assert sum(found["runs"].values()) >= 0


def test_the_store_counts_runs_by_status(tmp_path: Path) -> None:
    server = Server(tmp_path / "store.db").start()
    with server.client() as client:
        ok(client.post("/v1/definitions", json={"files": [{"name": "s.yaml", "text": SPENDS}]}))
        before = ok(client.get("/v1/store"))
        assert before["runs"] == {}
        assert before["last_commit_at"] is None
        assert before["entries"] == 0
        for _ in range(3):
            ok(client.post("/v1/runs?wait_ms=5000", json={"workflow": "spends"}), 201)
        after = ok(client.get("/v1/store"))
        assert after["runs"] == {"completed": 3}
        assert after["entries"] >= 3
        assert after["last_commit_at"] is not None
        assert ok(client.post("/v1/store/verify")) == {"ok": True, "problems": []}
    server.stop()


def test_firings_are_paged_and_hold_their_place(server: Server, client: httpx2.Client) -> None:
    ok(client.post("/v1/definitions", json={"files": [{"name": "f.yaml", "text": SPENDS}]}))
    for number in range(5):
        ok(client.post("/v1/triggers/by_hand/fire", json={"delivery_id": f"d{number}"}), 202)
    first = ok(client.get("/v1/triggers/by_hand/firings?limit=2"))
    ok(client.post("/v1/triggers/by_hand/fire", json={"delivery_id": "later"}), 202)
    second = ok(client.get(f"/v1/triggers/by_hand/firings?limit=2&after={first['next']}"))
    third = ok(client.get(f"/v1/triggers/by_hand/firings?limit=2&after={second['next']}"))
    pages = [[each["delivery_id"] for each in page["firings"]] for page in (first, second, third)]
    assert pages == [["d4", "d3"], ["d2", "d1"], ["d0"]]
    assert third["next"] is None
    assert code(client.get("/v1/triggers/nobody/firings")) == (404, "unknown_trigger")
    assert (
        code(client.get(f"/v1/triggers/by_hand/firings?after={ok(client.get('/v1/runs?limit=1'))['next']}"))[1]
        == "bad_cursor"
    )


def test_usage_is_summed_by_what_was_asked_for(server: Server, client: httpx2.Client) -> None:
    for by in ("day", "workflow", "node", "profile"):
        found = ok(client.get(f"/v1/usage?by={by}&since=2020-01-01&until=2100-01-01"))
        assert all(by in row and row["credits"] >= 0 for row in found["usage"])
    assert ok(client.get("/v1/usage?until=2020-01-01"))["usage"] == []
    assert code(client.get("/v1/usage?by=week")) == (400, "bad_argument")
    assert code(client.get("/v1/usage?since=now")) == (400, "bad_argument")


def test_an_artifact_comes_back_as_a_download(client: httpx2.Client) -> None:
    content = bytes(range(256)) * 3000
    put = client.put("/v1/artifacts", content=content, headers={"content-type": "text/html"})
    found = ok(put, 201)
    assert found == {
        "id": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "media_type": "text/html",
        "size": len(content),
    }
    got = client.get(put.headers["location"])
    assert got.content == content
    assert got.headers["content-disposition"].startswith("attachment")
    assert got.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in got.headers["content-security-policy"]


@pytest.mark.parametrize("given", ["", "text", "nonsense", "a/b; x=" + "y" * 500])
def test_a_type_that_is_none_is_stored_as_bytes(client: httpx2.Client, given: str) -> None:
    put = client.put("/v1/artifacts", content=b"x", headers={"content-type": given})
    assert ok(put, 201)["media_type"] == "application/octet-stream"


@pytest.mark.parametrize("id", ["sha256:" + "0" * 64, "sha256:x", "..%2f..%2fetc%2fpasswd", "%00"])
def test_an_artifact_that_nobody_holds_is_unknown(client: httpx2.Client, id: str) -> None:
    assert client.get(f"/v1/artifacts/{id}").status_code == 404


def test_an_upload_is_kept_by_pruning_until_it_is_old(server: Server, client: httpx2.Client) -> None:
    id = ok(client.put("/v1/artifacts", content=b"kept for a while"), 201)["id"]

    async def old(engine: object) -> None:
        artifacts = server.engine._host.artifacts  # pyright: ignore[reportPrivateUsage]
        await artifacts.release_uploads("2026-01-01")
        await artifacts.collect(0)

    server.call(old)
    assert client.get(f"/v1/artifacts/{id}").status_code == 200

    async def later(engine: object) -> None:
        artifacts = server.engine._host.artifacts  # pyright: ignore[reportPrivateUsage]
        await artifacts.read(RunId("reader"), id, 1000)  # a run that has read it holds it too
        await artifacts.release_uploads("2100-01-01")
        await artifacts.collect(0)

    server.call(later)
    assert client.get(f"/v1/artifacts/{id}").status_code == 200

    async def released(engine: object) -> None:
        artifacts = server.engine._host.artifacts  # pyright: ignore[reportPrivateUsage]
        await artifacts.delete(RunId("reader"), id)
        await artifacts.collect(0)

    server.call(released)
    assert code(client.get(f"/v1/artifacts/{id}")) == (404, "unknown_artifact")


def test_an_artifact_that_is_too_large_is_refused_before_it_is_read(server: Server) -> None:
    connection = HTTPConnection(server.url.removeprefix("http://"), timeout=10)
    connection.putrequest("PUT", "/v1/artifacts")
    connection.putheader("Authorization", f"Bearer {server.key}")
    connection.putheader("Content-Length", str(200 << 20))
    connection.endheaders()
    response = connection.getresponse()
    assert (response.status, json.loads(response.read())["code"]) == (413, "body_too_large")
    connection.close()

"""`artifact`: content by reference, kept as long as somebody holds it."""

import os
from collections.abc import AsyncGenerator, AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest

from jeton.actor.retention import Rule
from jeton.executor import check_implementation
from jeton.executor.artifacts import (
    ArtifactMissing,
    ArtifactReference,
    Artifacts,
    ArtifactTooLarge,
    MemoryArtifactIndex,
)
from jeton.hosts.sqlite import SqliteHost
from jeton.model.definition.task import Action
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from tests.executor.actions.given_action import Bench, action, failed, succeeded

HELLO = ArtifactReference(f"sha256:{sha256(b'hello').hexdigest()}", "text/plain", 5)
R1, R2 = RunId("r1"), RunId("r2")


def artifact(operation: str, **more: Json) -> Action:
    return action("artifact", operation=operation, **more)


@pytest.fixture(params=["memory", "sqlite"])
async def artifacts(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Artifacts]:
    if request.param == "memory":
        yield Artifacts(tmp_path / "artifacts", MemoryArtifactIndex())
        return
    host = await SqliteHost.open(tmp_path / "store.db", workers=None)
    yield host.artifacts
    await host.close(0)


def files(artifacts: Artifacts) -> list[Path]:
    folder: Path = artifacts.__dict__["_folder"]
    return [file for file in folder.rglob("*") if file.is_file()]


async def test_the_same_content_is_one_file(artifacts: Artifacts) -> None:
    for run in (R1, R1, R2):
        assert await artifacts.write(run, b"hello", "text/plain") == HELLO
    assert await artifacts.write(R2, b"hello", "text/html") == ArtifactReference(HELLO.id, "text/html", 5)
    assert [file.read_bytes() for file in files(artifacts)] == [b"hello"]
    assert await artifacts.list(R1) == [HELLO]
    assert len(await artifacts.list(R2)) == 2
    assert await artifacts.read(R1, HELLO.id, 100) == (HELLO, b"hello")


async def test_an_artifact_is_kept_while_any_run_holds_it(artifacts: Artifacts) -> None:
    await artifacts.write(R1, b"hello", "text/plain")
    await artifacts.read(R2, HELLO.id, 100)
    assert await artifacts.delete(R1, HELLO.id)
    assert not await artifacts.delete(R1, HELLO.id)
    assert await artifacts.collect(older_than_ms=0) == 0
    assert (await artifacts.read(R2, HELLO.id, 100))[1] == b"hello"
    await artifacts.delete(R2, HELLO.id)
    assert await artifacts.collect() == 0, "what is new is left alone: somebody may be about to hold it"
    assert await artifacts.collect(older_than_ms=0) == 1
    with pytest.raises(ArtifactMissing):
        await artifacts.read(R2, HELLO.id, 100)


async def test_what_breaks_off_leaves_nothing_that_is_not_collected(artifacts: Artifacts) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"hel"
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        await artifacts.save(R1, broken(), "text/plain")
    assert files(artifacts) == []
    folder: Path = artifacts.__dict__["_folder"]
    (folder / "0123.draft").write_bytes(b"left by a crash")
    assert await artifacts.collect(older_than_ms=0) == 1


async def test_content_that_was_changed_or_is_gone_is_noticed(artifacts: Artifacts) -> None:
    await artifacts.write(R1, b"hello", "text/plain")
    (file,) = files(artifacts)
    file.write_bytes(b"jello")
    with pytest.raises(ArtifactMissing, match="damaged"):
        await artifacts.read(R1, HELLO.id, 100)
    os.unlink(file)  # noqa: PTH108
    with pytest.raises(ArtifactMissing, match="is missing"):
        await artifacts.read(R1, HELLO.id, 100)
    await artifacts.write(R1, b"hello", "text/plain")
    assert (await artifacts.read(R1, HELLO.id, 100))[1] == b"hello", "writing it again mends it"


async def test_sizes_are_bounded(artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    await artifacts.write(R1, b"hello", "text/plain")
    with pytest.raises(ArtifactTooLarge, match=r"max_bytes \(4\)"):
        await artifacts.read(R1, HELLO.id, 4)
    monkeypatch.setattr("jeton.executor.artifacts.MAX_BYTES", 4)
    with pytest.raises(ArtifactTooLarge, match="larger than 4 bytes"):
        await artifacts.write(R1, b"hello", "text/plain")


async def test_the_action_gives_a_reference_and_takes_it_back(bench: Bench) -> None:
    reference = succeeded(await bench.call(artifact("write", media_type="text/plain"), {"text": "hello"}))
    assert reference == {"id": HELLO.id, "media_type": "text/plain", "size": 5}
    assert await bench.call(artifact("read"), reference) == {**reference, "text": "hello"}
    assert await bench.call(artifact("list")) == {"artifacts": [reference]}
    assert await bench.call(artifact("list"), run="r2") == {"artifacts": []}
    assert await bench.call(artifact("delete"), reference) == {"deleted": True}
    assert failed(await bench.call(artifact("read"), reference)).type == "not_found"


async def test_content_may_go_from_file_to_file_and_never_through_the_task(bench: Bench) -> None:
    (bench.workspace / "in.bin").write_bytes(b"\xff\x00")
    reference = succeeded(await bench.call(artifact("write", root="workspace"), {"path": "in.bin"}))
    assert reference["size"] == 2
    answer = await bench.call(artifact("read", root="workspace"), {**reference, "path": "out/copy.bin"})
    assert answer == {**reference, "path": "out/copy.bin"}
    assert (bench.workspace / "out" / "copy.bin").read_bytes() == b"\xff\x00"
    assert failed(await bench.call(artifact("write", root="workspace"), {"path": "../x"})).type == "path_refused"


@pytest.mark.parametrize("id", ["", "sha256:../../etc/passwd", "/etc/passwd", "sha256:" + "0" * 64, "../x", "x\0"])
async def test_an_id_is_no_path(bench: Bench, id: str) -> None:
    assert failed(await bench.call(artifact("read"), {"id": id})).type == "not_found"


@pytest.mark.parametrize(
    ("given", "input", "then"),
    [
        pytest.param(artifact("write"), {}, "input_invalid", id="nothing to write"),
        pytest.param(artifact("read"), {"id": 3}, "input_invalid", id="an id that is none"),
        pytest.param(artifact("write", max_bytes=3), {"text": "four"}, "too_large", id="too much"),
        pytest.param(artifact("write", root="none"), {"path": "x"}, "unknown_root", id="an unknown root"),
        pytest.param(artifact("write", root="workspace"), {"path": "x"}, "not_found", id="no such file"),
    ],
)
async def test_failures(bench: Bench, given: Action, input: JsonObject, then: str) -> None:
    assert failed(await bench.call(given, input)).type == then


@pytest.mark.parametrize(
    ("implementation", "paths"),
    [
        pytest.param({"operation": "write", "media_type": "text/markdown; charset=utf-8"}, [], id="nothing"),
        pytest.param({"operation": "write", "media_type": "text"}, ["media_type"], id="no media type"),
        pytest.param({"operation": "copy"}, ["operation"], id="an unknown operation"),
        pytest.param({"operation": "read", "max_bytes": 1 << 40}, ["max_bytes"], id="a bound too large"),
    ],
)
def test_check_at_load(implementation: JsonObject, paths: list[str]) -> None:
    assert [flaw.path for flaw in check_implementation(Action("artifact", implementation))] == paths


async def test_artifacts_go_with_the_last_run_that_holds_them(tmp_path: Path) -> None:
    import jeton

    write: JsonObject = {"kind": "artifact", "implementation": {"operation": "write"}}
    library: dict[str, object] = {"workflows": {"w": {"initial_node": "n", "nodes": {"n": {"action": write}}}}}
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library)
        record = await (await engine.start("w", {"text": "hello"})).result()
        assert record.status == "completed"
    folder = tmp_path / "store.db-artifacts"
    (file,) = (file for file in folder.rglob("*") if file.is_file())
    assert file.read_text() == "hello"
    os.utime(file, (0, 0))
    host = await SqliteHost.open(tmp_path / "store.db", workers=None)
    await host.prune([Rule("history", -1)])
    assert file.exists()
    await host.prune([Rule("run", -1)])
    assert not file.exists()
    await host.close(0)

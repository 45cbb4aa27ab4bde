"""`file`: regular files below a named root, and no way out of it."""

import os
import socket
from pathlib import Path

import pytest

from jeton.executor import Executor, check_implementation
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, Step, Task
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from tests.executor.actions.given_action import Bench, action, failed, succeeded
from tests.executor.actions.test_shell import eventually
from tests.executor.given import asserting, unheard


def file(operation: str, **more: Json) -> Action:
    return action("file", operation=operation, root="workspace", **more)


async def test_what_is_written_can_be_read_listed_and_deleted(bench: Bench) -> None:
    written = await bench.call(file("write"), {"path": "a/b/note.txt", "text": "é\n"})
    assert written == {"path": "a/b/note.txt", "size": 3}
    assert await bench.call(file("read"), {"path": "a/b/note.txt"}) == {"text": "é\n", "size": 3}
    note, folder = {"name": "note.txt", "type": "file", "size": 3}, {"name": "b", "type": "folder"}
    assert await bench.call(file("list"), {"path": "a/b"}) == {"entries": [note]}
    (entry,) = listed(await bench.call(file("list"), {"path": "a"}))
    assert {key: entry[key] for key in folder} == folder
    assert await bench.call(file("delete"), {"path": "a/b/note.txt"}) == {"deleted": True}
    assert await bench.call(file("delete"), {"path": "a/b/note.txt"}) == {"deleted": False}, "it may be repeated"
    assert failed(await bench.call(file("read"), {"path": "a/b/note.txt"})).type == "not_found"


def listed(answer: TaskResult) -> list[JsonObject]:
    entries = succeeded(answer)["entries"]
    assert isinstance(entries, list)
    return [entry for entry in entries if isinstance(entry, dict)]


async def test_writing_replaces_a_file_whole_and_leaves_no_draft(bench: Bench) -> None:
    for text in ("long text", "short"):
        await bench.call(file("write"), {"path": "note", "text": text})
    assert await bench.call(file("read"), {"path": "note"}) == {"text": "short", "size": 5}
    assert [entry["name"] for entry in listed(await bench.call(file("list")))] == ["note"]


async def test_what_is_no_text_goes_as_base64(bench: Bench) -> None:
    await bench.call(file("write", encoding="base64"), {"path": "raw", "base64": "/wD+"})
    assert (bench.workspace / "raw").read_bytes() == b"\xff\x00\xfe"
    assert await bench.call(file("read", encoding="base64"), {"path": "raw"}) == {"base64": "/wD+", "size": 3}
    assert "encoding: base64" in failed(await bench.call(file("read"), {"path": "raw"})).message
    bad = failed(await bench.call(file("write", encoding="base64"), {"path": "raw", "base64": "no!"}))
    assert bad.type == "input_invalid"


async def test_a_path_that_is_fixed_cannot_be_changed_by_the_input(bench: Bench) -> None:
    await bench.call(file("write", path="mine"), {"path": "other", "text": "x"})
    assert [entry["name"] for entry in listed(await bench.call(file("list")))] == ["mine"]


@pytest.mark.parametrize("operation", ["read", "write", "list", "delete"])
@pytest.mark.parametrize(
    "path",
    [
        "../secret", "a/../../secret", "..", "a/..", "/etc/passwd", "//etc/passwd", "./a", ".", "a//b", "a/", "x\0y",
        "link", "link/secret", "a/link/secret", "loop", "pipe", "socket", "dangling", "x" * 2000, "y" * 300,
    ],
)  # fmt: skip
async def test_no_path_leads_out_of_the_root(bench: Bench, operation: str, path: str) -> None:
    outside = bench.folder / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    root = bench.workspace
    (root / "a").mkdir()
    (root / "link").symlink_to(outside / "secret" if path == "link" else outside)
    (root / "a" / "link").symlink_to("../../outside")
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to(outside / "new")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(root / "socket"))
        answer = failed(await bench.call(file(operation), {"path": path, "text": "mine"}))
    assert answer.type in ("path_refused", "file_error")
    assert answer.type == "path_refused" or path == "y" * 300
    assert sorted(entry.name for entry in outside.iterdir()) == ["secret"]
    assert (outside / "secret").read_text() == "secret"


async def test_a_device_is_no_file(bench: Bench) -> None:
    bench.settings = {"files": {"workspace": "/dev"}}
    assert failed(await bench.call(file("read"), {"path": "zero"})).type == "path_refused"


async def test_a_folder_swapped_for_a_link_while_we_look_leads_nowhere(bench: Bench) -> None:
    """Whatever is true at any moment, what we read is ours or nothing."""
    inside, outside = bench.workspace / "d", bench.folder / "outside"
    for folder, content in ((inside, "ours"), (outside, "secret")):
        folder.mkdir()
        (folder / "f").write_text(content)
    hidden = bench.folder / "hidden"
    for _ in range(100):
        reading = bench.call(file("read"), {"path": "d/f"})
        inside.rename(hidden)
        inside.symlink_to(outside)
        answer = await reading
        inside.unlink()
        hidden.rename(inside)
        assert isinstance(answer, dict) is False or answer == {"text": "ours", "size": 4}


@pytest.mark.parametrize(
    ("given", "input", "type_", "message"),
    [
        pytest.param(file("read"), {}, "input_invalid", "needs 'path'", id="no path"),
        pytest.param(file("read"), {"path": 3}, "input_invalid", "needs 'path'", id="a path that is none"),
        pytest.param(file("write"), {"path": "x"}, "input_invalid", "needs 'text'", id="nothing to write"),
        pytest.param(file("write"), {"path": "x", "text": "\ud800"}, "input_invalid", "is invalid", id="no text"),
        pytest.param(file("read"), {"path": "large"}, "too_large", "max_bytes (1048576)", id="too large"),
        pytest.param(
            file("write", max_bytes=3), {"path": "x", "text": "four"}, "too_large", "max_bytes (3)", id="to write"
        ),
        pytest.param(file("read"), {"path": "folder"}, "path_refused", "is a folder", id="a folder"),
        pytest.param(file("delete"), {"path": "folder"}, "path_refused", "is a folder", id="a folder to delete"),
        pytest.param(file("list"), {"path": "large"}, "path_refused", "is a regular file", id="a file to list"),
        pytest.param(file("write"), {"path": "large/x", "text": ""}, "path_refused", "not a folder", id="below a file"),
    ],
)
async def test_failures_name_what_is_wrong(
    bench: Bench, given: Action, input: JsonObject, type_: str, message: str
) -> None:
    (bench.workspace / "large").write_bytes(b"x" * (1 << 21))
    (bench.workspace / "folder").mkdir()
    answer = failed(await bench.call(given, input))
    assert (answer.type, message in answer.message, answer.transient) == (type_, True, False), answer


@pytest.mark.parametrize(
    ("settings", "then"),
    [
        pytest.param({}, "there is no root 'workspace'; project.settings.files has: none", id="no roots at all"),
        pytest.param({"files": {"a": "b", "c": "d"}}, "has: a, c", id="others"),
        pytest.param({"files": {"workspace": 3}}, "is a number, but must be a path", id="not a path"),
    ],
)
async def test_a_root_must_be_named_in_the_project(bench: Bench, settings: JsonObject, then: str) -> None:
    bench.settings = settings
    answer = failed(await bench.call(file("read"), {"path": "x"}))
    assert answer.type == "unknown_root"
    assert then in answer.message


async def test_a_root_may_be_anywhere_and_be_a_link_itself(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to("real")
    bench.settings = {"files": {"workspace": str(tmp_path / "root")}}
    assert succeeded(await bench.call(file("write"), {"path": "x", "text": "t"}))["size"] == 1
    assert (tmp_path / "real" / "x").read_text() == "t"


@pytest.mark.parametrize(
    ("implementation", "paths"),
    [
        pytest.param({"operation": "read", "root": "workspace"}, [], id="nothing"),
        pytest.param({"operation": "move", "root": "workspace"}, ["operation"], id="an unknown operation"),
        pytest.param({"operation": "read"}, [""], id="no root"),
        pytest.param({"operation": "read", "root": "w", "max_bytes": 0}, ["max_bytes"], id="a bound of nothing"),
    ],
)
def test_check_at_load(implementation: JsonObject, paths: list[str]) -> None:
    assert [flaw.path for flaw in check_implementation(Action("file", implementation))] == paths


async def test_three_steps_cost_one_dispatch(tmp_path: Path) -> None:
    """The example of docs/actions/file.md, counted: write, read, check."""
    path: JsonObject = {"path": "input.path"}
    edit = Task(
        (
            Step(file("write"), "write", input_mapping={**path, "text": "input.text"}),
            Step(file("read"), "read", input_mapping=path, output_mapping={"state.found": "result.text"}),
            Step(asserting("state.found == input.text"), "check", input_mapping={"text": "input.text"}),
        )
    )
    library = Library(settings={"files": {"workspace": str(tmp_path)}})
    executor, heard = Executor(), list[str]()

    def finished(answer: TaskResult) -> None:
        heard.append(f"finished {answer}")

    effect = StartTask(TokenId(1), "edit", 1, 1, {"path": "a.txt", "text": "hello"})
    executor.start(RunId("r"), effect, edit, library, lambda: heard.append("started"), unheard, finished)
    await eventually(lambda: len(heard) == 2)
    assert heard == ["started", "finished {'path': 'a.txt', 'size': 5}"]
    await executor.close(0)

"""Which files are read, and what is said of those that cannot be."""

from pathlib import Path

import pytest

from jeton.definitions import load_library
from jeton.definitions.text.plain import MAX_FILE_BYTES
from jeton.model.failure import DefinitionError

WORKFLOW = "workflows: {%s: {initial_node: a, nodes: {a: {}}}}\n"


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_a_folder_is_read_with_all_below_it_in_order(tmp_path: Path) -> None:
    write(tmp_path, "b.yml", WORKFLOW % "two")
    write(tmp_path, "a.yaml", WORKFLOW % "one")
    write(tmp_path, "deep/er/c.json", '{"workflows": {"three": {"initial_node": "a", "nodes": {"a": {}}}}}')
    write(tmp_path, "readme.txt", "{")
    assert list(load_library(tmp_path).require().workflows) == ["one", "two", "three"]


def test_hidden_files_and_folders_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", WORKFLOW % "one")
    write(tmp_path, ".pre-commit-config.yaml", "repos: []")
    write(tmp_path, ".venv/lib/x.yaml", "x: y")
    assert list(load_library(tmp_path).require().workflows) == ["one"]


def test_a_file_given_twice_is_read_once(tmp_path: Path) -> None:
    file = write(tmp_path, "a.yaml", WORKFLOW % "one")
    assert load_library([file, tmp_path, file]).ok


def test_a_definition_in_two_files_is_reported_with_both_places(tmp_path: Path) -> None:
    first, second = write(tmp_path, "a.yaml", WORKFLOW % "one"), write(tmp_path, "b.yaml", "\n" + WORKFLOW % "one")
    (problem,) = load_library([first, second]).problems
    assert (problem.code, problem.file, problem.line) == ("duplicate_definition", str(second), 2)
    assert f"{first}:1" in problem.problem


def test_a_setting_in_two_files_is_reported(tmp_path: Path) -> None:
    settings = "project: {settings: {snapshot_policy: never}}"
    write(tmp_path, "a.yaml", settings)
    write(tmp_path, "b.yaml", settings)
    loaded = load_library(tmp_path)
    assert [p.code for p in loaded.problems] == ["duplicate_definition"]
    assert loaded.library.settings == {"snapshot_policy": "never"}


def test_a_missing_file_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    file = write(tmp_path, "a.yaml", WORKFLOW % "one")
    loaded = load_library([tmp_path / "nope.yaml", file])
    assert [(p.code, p.file) for p in loaded.problems] == [("file_not_found", str(tmp_path / "nope.yaml"))]
    assert list(loaded.library.workflows) == ["one"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("x" * 5000, id="too long for any file"),
        pytest.param("a\0b", id="with a NUL"),
        pytest.param("\ud800", id="with half of a surrogate pair"),
        pytest.param("", id="empty, which is the folder we are in"),
    ],
)
def test_a_name_no_file_can_have_is_reported(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (problem,) = load_library(name).problems
    assert problem.code == ("file_not_found" if name else "no_files")
    problem.file.encode("utf-8")


def test_a_folder_without_definitions_is_reported(tmp_path: Path) -> None:
    assert [p.code for p in load_library(tmp_path).problems] == ["no_files"]


def test_bytes_that_are_no_text_are_reported_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"a: 1\nb: \xff\n")
    assert [(p.code, p.line) for p in load_library(file).problems] == [("not_utf8", 2)]


def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + (WORKFLOW % "one").encode())
    assert load_library(file).ok


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    assert [p.code for p in load_library(file).problems] == ["file_too_large"]


def test_a_file_that_may_not_be_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path, "a.yaml", WORKFLOW % "one")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    (problem,) = load_library(file).problems
    assert (problem.code, problem.file) == ("file_unreadable", str(file))
    assert "Permission denied" in problem.problem


def test_a_folder_that_holds_itself_is_walked_once(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", WORKFLOW % "one")
    (tmp_path / "again").symlink_to(tmp_path)
    assert load_library(tmp_path).ok


def test_an_empty_file_is_an_empty_library(tmp_path: Path) -> None:
    assert load_library([write(tmp_path, "a.yaml", ""), write(tmp_path, "b.json", "")]).ok


def test_errors_are_raised_all_together(tmp_path: Path) -> None:
    loaded = load_library(write(tmp_path, "a.yaml", "workflos: {}\ntaks: {}"))
    with pytest.raises(DefinitionError) as raised:
        loaded.require()
    assert [p.code for p in raised.value.problems] == ["unknown_section", "unknown_section"]

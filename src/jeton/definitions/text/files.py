"""Definition files: found below the given paths, and read."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from jeton.definitions.read.location import Mark
from jeton.definitions.report import Report
from jeton.definitions.text.json import read_json
from jeton.definitions.text.plain import MAX_FILE_BYTES, Document, unread_location
from jeton.definitions.text.yaml import read_yaml

SUFFIXES = (".yaml", ".yml", ".json")
SCRIPTS = tuple(f".script{suffix}" for suffix in SUFFIXES)  # which a model profile names; no library files

AnyPath = str | os.PathLike[str]


class SourceFile(msgspec.Struct, frozen=True):
    """A file that was read, with its name as the user gave it."""

    name: str
    document: Document


def read_files(paths: Iterable[AnyPath], report: Report) -> Iterator[SourceFile]:
    """Read every definition file at or below the paths, once each, in the order given and sorted within a folder."""
    for file in _files_below(paths, report):
        document = read_document(file, report)
        if document is not None:
            yield SourceFile(_shown(file), document)


def read_texts(paths: Iterable[AnyPath], report: Report) -> Iterator[tuple[str, str]]:
    """The same files, by their names as the user gave them and their texts, as they are."""
    for file in _files_below(paths, report):
        text = _text_of(file, report)
        if text is not None:
            yield _shown(file), text


def _files_below(paths: Iterable[AnyPath], report: Report) -> Iterator[Path]:
    seen: set[Path] = set()
    for path in paths:
        for file in _files_at(Path(path), report):
            if file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def _files_at(path: Path, report: Report) -> list[Path]:
    location = unread_location(_shown(path), 0, ())
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except OSError:
        is_folder = exists = False  # not a valid file name, such as one that is too long
    if is_folder:
        found = sorted(_below(path, report))
        if not found:
            problem = "the folder holds no definition files"
            report.error(location, "no_files", problem, f"put a file ending in {', '.join(SUFFIXES)} into it")
        return found
    if not exists:
        report.error(location, "file_not_found", "there is no such file or folder", "check the path")
        return []
    return [path]


def _below(folder: Path, report: Report) -> Iterator[Path]:
    """The definition files of a folder, without scripts, hidden files and folders such as `.venv` and `.git`."""

    def unreadable(error: OSError) -> None:
        _report_unreadable(Path(str(error.filename)), error, report)

    for root, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.endswith(SUFFIXES) and not name.endswith(SCRIPTS) and not name.startswith("."):
                yield Path(root, name)


def _report_unreadable(file: Path, error: OSError, report: Report) -> None:
    problem = f"cannot be read: {error.strerror or error}"
    report.error(unread_location(_shown(file), 0, ()), "file_unreadable", problem, "check its permissions")


def _shown(file: Path) -> str:
    """The file name as valid text."""
    return str(file).encode("utf-8", "replace").decode("utf-8")


def read_document(file: Path, report: Report) -> Document | None:
    """The data of one file; None, and a report, if it cannot be read."""
    text = _text_of(file, report)
    return None if text is None else document_of(text, _shown(file), report)


def _text_of(file: Path, report: Report) -> str | None:
    name = _shown(file)
    location = unread_location(name, 0, ())
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        _report_unreadable(file, error, report)
        return None
    if len(data) > MAX_FILE_BYTES:
        problem = f"is larger than {MAX_FILE_BYTES // 1_000_000} MB"
        report.error(location, "file_too_large", problem, "split it into several files")
        return None
    return _decoded(data, name, report)


def document_of(text: str, name: str, report: Report) -> Document | None:
    """The data of a text; None, and a report, if it cannot be read. A name with `.json` says that it is JSON."""
    if name.endswith(".json"):
        return read_json(text, name, report) if text.strip() else Document(None, Mark(1))
    return read_yaml(text, name, report)


def _decoded(data: bytes, name: str, report: Report) -> str | None:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        report.error(unread_location(name, line, ()), "not_utf8", "is not UTF-8 text", "save the file as UTF-8")
        return None

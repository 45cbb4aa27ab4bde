"""Named folders that paths may not lead out of.

A path is walked from its root one name at a time, each opened inside the folder before it and never through a link. So
there is no moment between looking and opening, and whatever others do to the tree meanwhile, we stay below the root.
"""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from jeton.model.json import JsonObject, kind_of

LONGEST_PATH = 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEVER_THROUGH_LINKS = os.O_NOFOLLOW | os.O_CLOEXEC


class PathRefused(Exception):
    """The path leads out of its root, or to something that is no plain file or folder."""


class RootUnknown(Exception):
    """The project names no such root."""


class Root(NamedTuple):
    """A folder that the project has a name for."""

    name: str
    folder: Path

    @contextmanager
    def open_folder(self, path: str, *, make: bool = False) -> Generator[int]:
        """A folder below the root, as an open file; the root itself for an empty path."""
        file = self._walk(self._names(path) if path else [], make)
        try:
            yield file
        finally:
            os.close(file)

    @contextmanager
    def open_parent(self, path: str, *, make: bool = False) -> Generator[tuple[int, str]]:
        """The folder a file is in, as an open file, and the file's name there."""
        *folders, name = self._names(path)
        file = self._walk(folders, make)
        try:
            yield file, name
        finally:
            os.close(file)

    def open_file(self, path: str) -> int:
        """A plain file for reading: no link, no folder, no device, no pipe."""
        with self.open_parent(path) as (folder, name):
            # a pipe would have us wait for whoever writes to it, and a terminal could become ours
            flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | _NEVER_THROUGH_LINKS
            self.check_plain(folder, name)
            file = os.open(name, flags, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise self._refused(path, "is no plain file")
        return file

    def check_plain(self, folder: int, name: str) -> None:
        """Refuse what is no plain file. Raises FileNotFoundError if there is nothing."""
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if not stat.S_ISREG(mode):
            raise self._refused(name, f"is {_described(mode)}, and only plain files are touched")

    def _walk(self, names: list[str], make: bool) -> int:
        self.folder.mkdir(parents=True, exist_ok=True)
        here = os.open(self.folder, _FOLDER)
        for name in names:
            try:
                inner = self._enter(here, name, make)
            finally:
                os.close(here)
            here = inner
        return here

    def _enter(self, here: int, name: str, make: bool) -> int:
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=here)
        try:
            return os.open(name, _FOLDER | _NEVER_THROUGH_LINKS, dir_fd=here)
        except NotADirectoryError:  # which is also what a link is
            mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
            raise self._refused(name, f"is {_described(mode)}, and no folder") from None

    def _names(self, path: str) -> list[str]:
        if len(path) > LONGEST_PATH:
            raise self._refused(f"{path[:40]}…", f"has {len(path)} letters, and {LONGEST_PATH} is the most")
        if "\0" in path:
            raise self._refused(path, "has a zero byte in it")
        names = path.split("/")
        if path.startswith("/"):
            raise self._refused(path, "is absolute")
        if ".." in names:
            raise self._refused(path, "leads upwards")
        if "" in names or "." in names:
            raise self._refused(path, "has an empty part, or a '.'")
        return names

    def _refused(self, path: str, why: str) -> PathRefused:
        return PathRefused(f"{path!r} {why}; paths stay below the root '{self.name}'")


def root_named(name: str, settings: JsonObject, base: Path) -> Root:
    """The root that `project.settings.files` gives a folder; a relative one begins at `base`."""
    files = settings.get("files")
    roots = files if isinstance(files, dict) else {}
    folder = roots.get(name)
    if folder is None:
        known = ", ".join(roots) or "none"
        raise RootUnknown(f"'{name}' is no root; project.settings.files has: {known}")
    if not isinstance(folder, str):
        raise RootUnknown(f"project.settings.files.{name} is {kind_of(folder)}, and a path belongs there")
    return Root(name, base / folder)


def _described(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a link"
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a plain file" if stat.S_ISREG(mode) else "a device, a pipe or a socket"

"""Named folders that paths cannot leave.

A path is opened one name at a time, each relative to the folder before it and never through a symbolic link. There is
no gap between checking and opening, so changes made to the tree meanwhile cannot lead outside the root.
"""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from jeton.model.json import JsonObject, kind_of

MAX_PATH_LENGTH = 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_LINKS = os.O_NOFOLLOW | os.O_CLOEXEC


class PathRefused(Exception):
    """The path leads outside its root, or to something other than a regular file or a folder."""


class RootUnknown(Exception):
    """The project has no root of that name."""


class Root(NamedTuple):
    """A named folder of the project."""

    name: str
    folder: Path

    @contextmanager
    def open_folder(self, path: str, *, make: bool = False) -> Generator[int]:
        """Open a folder below the root, as a file descriptor; the root itself for an empty path."""
        file = self._walk(self._names(path) if path else [], make)
        try:
            yield file
        finally:
            os.close(file)

    @contextmanager
    def open_parent(self, path: str, *, make: bool = False) -> Generator[tuple[int, str]]:
        """Open the folder of a file, as a file descriptor; gives it with the name of the file."""
        *folders, name = self._names(path)
        file = self._walk(folders, make)
        try:
            yield file, name
        finally:
            os.close(file)

    def open_file(self, path: str) -> int:
        """Open a regular file for reading. Links, folders, devices and pipes are refused."""
        with self.open_parent(path) as (folder, name):
            # without these flags a pipe would block, and a terminal could become ours
            flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | _NO_LINKS
            self.check_regular(folder, name)
            file = os.open(name, flags, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise self._refused(path, "is not a regular file")
        return file

    def check_regular(self, folder: int, name: str) -> None:
        """Raise PathRefused if it is not a regular file, FileNotFoundError if it does not exist."""
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if not stat.S_ISREG(mode):
            raise self._refused(name, f"is {_file_type(mode)}, and only regular files are allowed")

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
            return os.open(name, _FOLDER | _NO_LINKS, dir_fd=here)
        except NotADirectoryError:  # also raised for a link
            mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
            raise self._refused(name, f"is {_file_type(mode)}, not a folder") from None

    def _names(self, path: str) -> list[str]:
        if len(path) > MAX_PATH_LENGTH:
            raise self._refused(f"{path[:40]}…", f"has {len(path)} characters, more than {MAX_PATH_LENGTH}")
        if "\0" in path:
            raise self._refused(path, "contains a zero byte")
        names = path.split("/")
        if path.startswith("/"):
            raise self._refused(path, "is absolute")
        if ".." in names:
            raise self._refused(path, "contains '..'")
        if "" in names or "." in names:
            raise self._refused(path, "contains an empty part or '.'")
        return names

    def _refused(self, path: str, why: str) -> PathRefused:
        return PathRefused(f"{path!r} {why}; paths must stay below the root '{self.name}'")


def root_named(name: str, settings: JsonObject, base: Path) -> Root:
    """A root of `project.settings.files`. A relative folder is resolved against `base`."""
    files = settings.get("files")
    roots = files if isinstance(files, dict) else {}
    folder = roots.get(name)
    if folder is None:
        known = ", ".join(roots) or "none"
        raise RootUnknown(f"there is no root '{name}'; project.settings.files has: {known}")
    if not isinstance(folder, str):
        raise RootUnknown(f"project.settings.files.{name} is {kind_of(folder)}, but must be a path")
    return Root(name, base / folder)


def _file_type(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a link"
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a regular file" if stat.S_ISREG(mode) else "a device, a pipe or a socket"

"""`file`: read, write, list and delete regular files below a named root."""

import base64
import binascii
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Literal, TypeAlias

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem, LaneName
from jeton.executor.roots import PathRefused, Root, RootUnknown, root_named
from jeton.model.json import Json, JsonObject

DEFAULT_BYTES = 1024 * 1024  # what is read becomes part of a task's state, and may become part of a run's
MAX_BYTES = 16 * 1024 * 1024
MAX_ENTRIES = 10_000

Encoding: TypeAlias = Literal["text", "base64"]


class File(Kind, frozen=True):
    """One operation below one root. A `path` here takes precedence over that of the input."""

    operation: Literal["read", "write", "list", "delete"]
    root: str
    path: str | None = None
    encoding: Encoding = "text"
    max_bytes: int = DEFAULT_BYTES

    def problems(self) -> Iterator[KindProblem]:
        if not 0 < self.max_bytes <= MAX_BYTES:
            yield KindProblem("max_bytes", f"is {self.max_bytes}", f"write a number from 1 to {MAX_BYTES}")

    def lane(self) -> LaneName:
        return "thread"

    def prepare(self) -> ActionHandler:
        operations: dict[str, Callable[[Root, str, JsonObject], Json]] = {
            "read": self._read,
            "write": self._write,
            "list": self._list,
            "delete": self._delete,
        }
        operate = operations[self.operation]

        async def act(call: ActionCall) -> Json | ActionFailed:
            given = call.input if isinstance(call.input, dict) else {}
            path = given.get("path", "" if self.operation == "list" else None) if self.path is None else self.path
            if not isinstance(path, str):
                return ActionFailed("input_invalid", "needs 'path', a string")
            try:
                root = root_named(self.root, call.settings, call.resources.folder)
                return await call.resources.threads.run(lambda: operate(root, path, given))
            except (RootUnknown, PathRefused) as error:
                return path_failure(error)
            except FileNotFoundError:
                return ActionFailed("not_found", f"there is no {path!r} below '{self.root}'")
            except BadContent as bad:
                return ActionFailed("input_invalid", str(bad))
            except TooLarge as large:
                return ActionFailed("too_large", f"{path!r} {large}")
            except OSError as problem:
                return ActionFailed("file_error", f"{path!r}: {problem.strerror}")

        return act

    def _read(self, root: Root, path: str, _: JsonObject) -> Json:
        content = read_file(root, path, self.max_bytes)
        return {**decoded(content, self.encoding), "size": len(content)}

    def _write(self, root: Root, path: str, given: JsonObject) -> Json:
        content = encoded(given, self.encoding, self.max_bytes)
        write_file(root, path, content)
        return {"path": path, "size": len(content)}

    def _list(self, root: Root, path: str, _: JsonObject) -> Json:
        found: dict[str, Json] = {}
        with root.open_folder(path) as folder, os.scandir(folder) as entries:
            for entry in entries:
                if len(found) == MAX_ENTRIES:
                    raise TooLarge(f"has more than {MAX_ENTRIES} entries, the limit of a list")
                about = entry.stat(follow_symlinks=False)
                found[entry.name] = {"name": entry.name, "type": _type(about.st_mode), "size": about.st_size}
        return {"entries": [found[name] for name in sorted(found)]}

    def _delete(self, root: Root, path: str, _: JsonObject) -> Json:
        """Delete a file. One that does not exist is no failure, because a call may be repeated."""
        with suppress(FileNotFoundError), root.open_parent(path) as (folder, name):
            root.check_regular(folder, name)
            os.unlink(name, dir_fd=folder)
            return {"deleted": True}
        return {"deleted": False}


class TooLarge(Exception):
    """A limit is exceeded, which the message names."""


class BadContent(Exception):
    """The content does not match the encoding."""


def path_failure(error: RootUnknown | PathRefused) -> ActionFailed:
    """The failure of a path that cannot be used. A root that is unknown is a mistake in the definition."""
    if isinstance(error, RootUnknown):
        return ActionFailed("unknown_root", str(error), fatal=True)
    return ActionFailed("path_refused", str(error))


def read_file(root: Root, path: str, most: int) -> bytes:
    """The content of a regular file. Its size is not checked beforehand, because it may grow while it is read."""
    with os.fdopen(root.open_file(path), "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise TooLarge(f"is larger than max_bytes ({most}) allows")
    return content


def write_file(root: Root, path: str, content: bytes) -> None:
    """Write a file atomically: it gets its name once it is on disk. Missing folders are created."""
    with root.open_parent(path, make=True) as (folder, name):
        with suppress(FileNotFoundError):
            root.check_regular(folder, name)
        draft = f".{secrets.token_hex(8)}.jeton"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(draft, flags, 0o666, dir_fd=folder), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=folder)
            raise
        os.fsync(folder)


def encoded(given: JsonObject, encoding: Encoding, most: int) -> bytes:
    """The bytes of an input, under `text` or `base64`."""
    written = given.get(encoding)
    if not isinstance(written, str):
        raise BadContent(f"needs '{encoding}', a string")
    try:
        content = written.encode() if encoding == "text" else base64.b64decode(written, validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise BadContent(f"'{encoding}' is invalid: {error}") from None
    if len(content) > most:
        raise TooLarge(f"would have {len(content)} bytes, more than max_bytes ({most}) allows")
    return content


def decoded(content: bytes, encoding: Encoding) -> JsonObject:
    """The bytes as a result, under `text` or `base64`."""
    if encoding == "base64":
        return {"base64": base64.b64encode(content).decode()}
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError as error:
        raise BadContent(f"is not UTF-8 text: {error}; read it with 'encoding: base64'") from None


def _type(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "other"

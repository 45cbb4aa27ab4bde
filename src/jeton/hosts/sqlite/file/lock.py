"""One owner per store: the process that holds this lock advances its runs.

The lock is the operating system's, so it is gone with its holder however that ends. What is written in the file is for
people who are refused, and for `checks.py`, which tells by it whether a write-ahead log belongs to the file beside it.
"""

import fcntl
import os
import weakref
from pathlib import Path
from typing import Any

import msgspec

from jeton.model.failure import Refused


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who opened the store last, and as which of its epochs the main file may have been written since."""

    pid: int
    machine: str
    since: int
    store: str = ""
    epochs: tuple[int, ...] = ()


def lock_path(store: Path) -> Path:
    return store.with_name(f"{store.name}-lock")


def read_record(store: Path) -> Record | None:
    """What the last owner wrote; None if nobody did, or if it cannot be read."""
    try:
        return msgspec.json.decode(lock_path(store).read_bytes(), type=Record)
    except (OSError, msgspec.DecodeError):
        return None


class OwnerLock:
    """Held from construction until `release`."""

    def __init__(self, store: Path, now: int) -> None:
        try:
            self._file = os.open(lock_path(store), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as problem:
            remedy = "check the path, and who may write there"
            raise Refused("no_store", f"no store can be kept at {store}: {problem.strerror}", remedy) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise _owned(store) from None
        self.before = read_record(store)
        self._now = now
        _held.add(self)

    def note(self, store: str, *epochs: int) -> None:
        """Write down who we are, to the disk."""
        body = msgspec.json.encode(Record(os.getpid(), os.uname().nodename, self._now, store, epochs))
        os.pwrite(self._file, body, 0)
        os.ftruncate(self._file, len(body))
        os.fsync(self._file)

    def release(self) -> None:
        if self in _held:
            _held.discard(self)
            os.close(self._file)

    def forget(self) -> None:
        """In a forked child: the lock is the parent's, and must end with the parent."""
        os.close(self._file)


def _owned(store: Path) -> Refused:
    record = read_record(store)
    owner = "another process" if record is None else f"process {record.pid} on {record.machine}"
    remedy = "use that process (over its URL, or by messages to its runs), or wait until it has ended"
    return Refused("store_owned", f"{store} is owned by {owner}", remedy)


_held: "weakref.WeakSet[OwnerLock]" = weakref.WeakSet()


def _forget_all(*_: Any) -> None:
    for lock in list(_held):
        lock.forget()
    _held.clear()


os.register_at_fork(after_in_child=_forget_all)

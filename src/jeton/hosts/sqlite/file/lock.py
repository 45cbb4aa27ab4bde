"""The lock of a store: the process that holds it is the owner, and advances the runs.

It is a lock of the operating system, so it ends with its process. The content of the file is for the message to those
who are refused, and for `checks.py`, which finds out whether a write-ahead log belongs to the main file.
"""

import fcntl
import os
import weakref
from pathlib import Path
from typing import Any

import msgspec

from jeton.model.failure import Refused


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last owner of the store, and the epochs that its main file may have."""

    pid: int
    machine: str
    since: int
    store: str = ""
    epochs: tuple[int, ...] = ()


def lock_path(store: Path) -> Path:
    """The lock file of a store."""
    return store.with_name(f"{store.name}-lock")


def read_record(store: Path) -> Record | None:
    """What the last owner wrote; None if there is nothing that can be read."""
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
        self.last_record = read_record(store)
        self._now = now
        _held.add(self)

    def write_record(self, store: str, *epochs: int) -> None:
        """Write who the owner is, durably."""
        body = msgspec.json.encode(Record(os.getpid(), os.uname().nodename, self._now, store, epochs))
        os.pwrite(self._file, body, 0)
        os.ftruncate(self._file, len(body))
        os.fsync(self._file)

    def release(self) -> None:
        """Release the lock."""
        if self in _held:
            _held.discard(self)
            fcntl.flock(self._file, fcntl.LOCK_UN)  # at once, also if a forked child has not closed its copy yet
            os.close(self._file)

    def abandon(self) -> None:
        """Close the file in a forked child, because the lock belongs to the parent and must end with it."""
        os.close(self._file)


def _owned(store: Path) -> Refused:
    record = read_record(store)
    owner = "another process" if record is None else f"process {record.pid} on {record.machine}"
    remedy = "use that process (over its URL, or by messages to its runs), or wait until it has ended"
    return Refused("store_owned", f"{store} is owned by {owner}", remedy)


_held: "weakref.WeakSet[OwnerLock]" = weakref.WeakSet()


def _abandon_all(*_: Any) -> None:
    for lock in list(_held):
        lock.abandon()
    _held.clear()


os.register_at_fork(after_in_child=_abandon_all)

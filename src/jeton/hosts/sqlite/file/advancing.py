"""The file beside a store that says which run is being advanced, for the process that comes after a sudden end.

Its first page is memory that the kernel keeps when the process dies: noting a run costs no system call. What follows is
the count of such ends. Nothing is synced: after a power failure there was no end to count.
"""

import mmap
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from jeton.actor.whole.set_aside import Ends, set_aside_in, with_end, without_places, without_run
from jeton.hosts.sqlite.file.lock import read_record
from jeton.model.failure import Refused
from jeton.model.ids import RunId

PAGE_BYTES = 4096
NOTED = "\1"  # the first byte while a run is being advanced
END = "\n\n"

_ends = msgspec.json.Decoder(Ends).decode


def advancing_path(store: Path) -> Path:
    """The file of a store."""
    return store.with_name(f"{store.name}-advancing")


class FileAdvancing:
    """Fulfils `jeton.hosts.sql.loop.advancing.Advancing`. Made while the lock is held."""

    def __init__(self, store: Path, exists: Callable[[RunId], bool]) -> None:
        self._path = advancing_path(store)
        found = _read(self._path)
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            if os.fstat(self._file).st_size < PAGE_BYTES:
                os.ftruncate(self._file, PAGE_BYTES)
            self._page = mmap.mmap(self._file, PAGE_BYTES)
        except BaseException:
            os.close(self._file)
            raise
        self.ends: Ends = {run: each for run, each in found.items() if exists(run)}
        self._write()
        self.finish()  # only now, so that an end is not lost if this process ends here

    def begin(self, run: RunId, places: str) -> None:
        """Note a run that is about to be advanced, and with what."""
        note = f"{NOTED}{run}{places}{END}".encode()
        size = len(note)
        if size <= PAGE_BYTES:
            self._page[:size] = note

    def finish(self) -> None:
        """Take the note back: the run was advanced."""
        self._page[0] = 0

    def passed(self, run: RunId, places: str) -> None:
        """Forget ends at places that the run has got past."""
        if run in self.ends:
            self.ends = without_places(self.ends, run, places.split("\n"))
            self._write()

    def forget(self, run: RunId) -> None:
        """Forget all ends of a run, which has ended or is to be tried again."""
        if run in self.ends:
            self.ends = without_run(self.ends, run)
            self._write()

    def close(self) -> None:
        """Remove the file, unless it has something to say. The lock is still held."""
        if not self.ends:
            self._path.unlink(missing_ok=True)
        self._page.close()
        os.close(self._file)

    def _write(self) -> None:
        body = msgspec.json.encode(self.ends)
        os.pwrite(self._file, body, PAGE_BYTES)
        os.ftruncate(self._file, PAGE_BYTES + len(body))


def read_set_aside(store: Path) -> dict[RunId, Refused]:
    """The runs that are set aside, for a process that is not the owner."""
    owner = read_record(store)
    alive = owner is not None and (owner.machine != os.uname().nodename or _is_alive(owner.pid))
    return set_aside_in(_read(advancing_path(store), noted=not alive))


def _read(path: Path, *, noted: bool = True) -> Ends:
    """The ends that were counted, with the one that the last owner left a note of."""
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    ends: Ends = {}
    with suppress(msgspec.MsgspecError, UnicodeDecodeError):
        ends = _ends(content[PAGE_BYTES:])
    note, end, _ = content[:PAGE_BYTES].decode(errors="replace").partition(END)
    if noted and end and note.startswith(NOTED):
        run, *places = note.removeprefix(NOTED).split("\n")
        ends = with_end(ends, RunId(run), tuple(places))
    return ends


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it belongs to somebody else
    return True

"""Whether the files of a store are still the ones that were opened.

A process keeps writing into a file that was deleted, replaced or cut, and SQLite does not notice: everything that is
acknowledged afterwards is lost. So the owner looks at the names again and again, before commits and between them.
"""

import os
from pathlib import Path
from time import monotonic
from typing import TypeAlias

from jeton.hosts.sqlite.file.connect import FileConnection
from jeton.model.failure import Refused

CHECK_EVERY_S = 0.02
LOG_HEADER_BYTES = 32
PAGE_BYTES = 4096
FRAME_BYTES = 24 + PAGE_BYTES  # of one page in the write-ahead log

Inode: TypeAlias = tuple[int, int]


class StoreIdentity:
    """The main file and the write-ahead log, as the owner opened them."""

    def __init__(self, path: Path, db: FileConnection) -> None:
        self._db = db
        self._path = path
        self._log = path.with_name(f"{path.name}-wal")
        found = path.stat()
        self._inode: Inode = (found.st_dev, found.st_ino)
        self._log_inode: Inode | None = None  # the log is created with the first write
        self._size = found.st_size
        self._checked = 0.0

    def check(self, log_pages: int) -> None:
        """Raise Refused unless both files are there, are the same, and are as long as what was written.

        Looks at most every few milliseconds: a look lets other threads run, and costs a commit a tenth of its time."""
        now = monotonic()
        if now - self._checked < CHECK_EVERY_S:
            return
        self._checked = now
        main = self._stat(self._path, "the store")
        if (main.st_dev, main.st_ino) != self._inode:
            raise _replaced(f"another file is at {self._path}")
        if main.st_size < min(self._size, self._page_bytes(main.st_size)):
            raise _replaced(f"{self._path} was cut to {main.st_size} bytes")
        self._size = main.st_size
        if not log_pages:
            return
        log = self._stat(self._log, "its write-ahead log")
        if self._log_inode is not None and (log.st_dev, log.st_ino) != self._log_inode:
            raise _replaced(f"another file is at {self._log}")
        if log.st_size < LOG_HEADER_BYTES + log_pages * FRAME_BYTES:
            raise _replaced(f"{self._log} was cut to {log.st_size} bytes")
        self._log_inode = (log.st_dev, log.st_ino)

    def _page_bytes(self, size: int) -> int:
        """The size that the pages of the store need, asked for only if the file became smaller: pruning does that."""
        return size if size >= self._size else self._db.pragma("page_count") * PAGE_BYTES

    def _stat(self, path: Path, what: str) -> os.stat_result:
        try:
            return path.stat()
        except OSError as problem:
            raise _replaced(f"{what} is no longer at {path}: {problem.strerror}") from None


def _replaced(problem: str) -> Refused:
    return Refused("store_replaced", problem, "restore the store from a backup, and open it again")

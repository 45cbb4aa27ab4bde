"""Checks before a store is opened: the kind of file system, and the log beside the main file."""

from pathlib import Path
from typing import Any

import apsw

from jeton.hosts.sqlite.file.connect import connect
from jeton.hosts.sqlite.file.lock import Record, lock_path
from jeton.model.failure import Refused

_SHARED = frozenset(
    [
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "fuse",
        "fuseblk",
        "gfs2",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "prl_fs",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "vmhgfs",
    ]
)


def file_system(path: Path) -> str:
    """The kind of file system of a path, as the kernel names it; empty if it is not known."""
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    except OSError:
        return ""
    where = path.resolve().parent
    best = ("", "")
    for _, point, kind, *_ in mounts:
        mounted = point.encode().decode("unicode_escape")
        if where.is_relative_to(mounted) and len(mounted) >= len(best[0]):
            best = (mounted, kind)
    return best[1]


def refuse_shared_file_system(path: Path) -> None:
    """Raise Refused on a network or user-space file system, which has not the shared memory that the log needs."""
    kind = file_system(path)
    if kind in _SHARED or kind.startswith("fuse."):
        problem = f"{path} is on a file system of the kind '{kind}', where a store would be damaged sooner or later"
        raise Refused("shared_file_system", problem, "put the store on a local disk")


def refuse_stale_log(path: Path, record: Record | None) -> None:
    """Raise Refused if the log belongs to another main file, because SQLite would mix the two.

    Each opening writes a new epoch to the main file before anything else, and records it in the lock file."""
    log = path.with_name(f"{path.name}-wal")
    if record is None or not record.epochs or not log.exists() or log.stat().st_size == 0:
        return
    found = _identity(path)
    if found is not None and (found[0] != record.store or found[1] not in record.epochs):
        problem = (
            f"{log.name} was not written beside this {path.name}: the main file was replaced while its log was left"
        )
        remedy = (
            f"put back the file that belongs to the log; or, to go on with this one, remove"
            f" {path.name}-wal, {path.name}-shm and {lock_path(path).name}"
        )
        raise Refused("stale_log", problem, remedy)


def _identity(path: Path) -> tuple[str, int] | None:
    """The store's id and epoch in the main file alone, without its log."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        db = connect(f"file:{_quoted(path)}?immutable=1", flags=flags)
        try:
            meta: dict[str, Any] = dict(db.execute("select key, value from meta where key in ('store', 'epoch')"))
        finally:
            db.close()
        return str(meta["store"]), int(meta["epoch"])
    except (apsw.Error, Refused, KeyError, ValueError):
        return None  # a checkpoint was interrupted: SQLite completes it from the log


def _quoted(path: Path) -> str:
    return path.resolve().as_uri().removeprefix("file://")

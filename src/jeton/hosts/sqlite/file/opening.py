"""Opening a store: to read it, or as its owner, who creates it and migrates it."""

from pathlib import Path
from typing import Any

import apsw

from jeton.hosts.sqlite.file.checks import refuse_shared_file_system, refuse_stale_log
from jeton.hosts.sqlite.file.connect import begin, connect, refusal
from jeton.hosts.sqlite.file.lock import OwnerLock, read_record
from jeton.hosts.sqlite.file.meta import put_meta
from jeton.hosts.sqlite.file.migrate import prepare, refuse_unready
from jeton.model.failure import Refused

CHECKPOINT_BUSY_MS = 500


def artifacts_folder(store: Path) -> Path:
    """The folder of a store's artifacts."""
    return store.with_name(f"{store.name}-artifacts")


def check_readable(path: Path) -> None:
    """Raise Refused unless there is a store that can be read. Changes nothing."""
    if not path.exists():
        raise Refused("no_store", f"there is no store at {path}", "check the path, or start a run there")
    refuse_shared_file_system(path)
    refuse_stale_log(path, read_record(path))
    refuse_unready(path)


def open_owned(path: Path, now: int) -> tuple[OwnerLock, int]:
    """Take the lock, create or migrate the store, and begin a new epoch."""
    refuse_shared_file_system(path)
    lock = OwnerLock(path, now)
    try:
        refuse_stale_log(path, lock.last_record)
        prepare(path)
        return lock, _begin_epoch(path, lock)
    except (apsw.Error, OSError) as problem:
        lock.release()
        raise refusal(problem) from problem
    except BaseException:
        lock.release()
        raise


def _begin_epoch(path: Path, lock: OwnerLock) -> int:
    """Count this opening in the main file, so that the log of another main file can be recognised."""
    db = connect(path)
    try:
        meta: dict[str, Any] = dict(db.execute("select key, value from meta where key in ('store', 'epoch')"))
        store, epoch = str(meta["store"]), int(meta["epoch"]) + 1
        lock.write_record(store, epoch - 1, epoch)  # until the checkpoint, the main file may have either
        begin(db, "the owner")
        put_meta(db, "epoch", epoch)
        db.execute("commit")
        db.set_busy_timeout(CHECKPOINT_BUSY_MS)
        try:
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            lock.write_record(store, epoch)
        except apsw.BusyError:
            pass  # a reader holds the log: both epochs stay valid, which is only less strict
        return epoch
    finally:
        db.close()

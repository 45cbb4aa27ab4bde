"""How a process comes to a store: as a visitor, who looks, or as its owner, who makes it and brings it up to date."""

from pathlib import Path
from typing import Any

import apsw

from jeton.hosts.sqlite.file.checks import refuse_shared_file_system, refuse_stale_log
from jeton.hosts.sqlite.file.connect import begin, connect, refusal
from jeton.hosts.sqlite.file.lock import OwnerLock, read_record
from jeton.hosts.sqlite.file.migrate import prepare, refuse_unready
from jeton.model.failure import Refused

PATIENCE_MS = 500


def visit(path: Path) -> None:
    """Check a store before reading it; nothing is made, and nothing changed."""
    if not path.exists():
        raise Refused("no_store", f"there is no store at {path}", "check the path, or start a run there")
    refuse_shared_file_system(path)
    refuse_stale_log(path, read_record(path))
    refuse_unready(path)


def take(path: Path, now: int) -> tuple[OwnerLock, int]:
    """Become the owner: check the place, hold the lock, bring the store up to date, and begin an epoch."""
    refuse_shared_file_system(path)
    lock = OwnerLock(path, now)
    try:
        refuse_stale_log(path, lock.before)
        prepare(path)
        return lock, _begin_epoch(path, lock)
    except (apsw.Error, OSError) as problem:
        lock.release()
        raise refusal(problem) from problem
    except BaseException:
        lock.release()
        raise


def _begin_epoch(path: Path, lock: OwnerLock) -> int:
    """Count this opening in the main file itself, so that a log can be told from that of another main file."""
    db = connect(path)
    try:
        facts: dict[str, Any] = dict(db.execute("select key, value from meta where key in ('store', 'epoch')"))
        store, epoch = str(facts["store"]), int(facts["epoch"]) + 1
        lock.note(store, epoch - 1, epoch)  # until the log is folded, the main file may have either
        begin(db, "the owner")
        db.execute("update meta set value = ? where key = 'epoch'", (epoch,))
        db.execute("commit")
        db.set_busy_timeout(PATIENCE_MS)
        try:
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            lock.note(store, epoch)
        except apsw.BusyError:
            pass  # somebody reads: then either stays possible, which is only less strict
        return epoch
    finally:
        db.close()

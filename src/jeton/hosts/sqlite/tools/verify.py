"""Checks of a store that is a file."""

from collections.abc import Callable, Iterator
from pathlib import Path

import apsw

from jeton.actor.whole.verified import Finding, Verified
from jeton.executor.artifacts import damage_of
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.store import Store
from jeton.hosts.sql.tools.verify import Verifier
from jeton.hosts.sqlite.file.commit_log import Loss, lost_commits, stored_losses
from jeton.hosts.sqlite.file.connect import refusal
from jeton.hosts.sqlite.file.line import line_problems, out_of_order
from jeton.hosts.sqlite.file.meta import missing_meta, schema_problems, sequence_problems
from jeton.hosts.sqlite.file.opening import artifacts_folder, check_readable
from jeton.hosts.sqlite.store import file_store
from jeton.hosts.sqlite.tools.memory_index import index_problems
from jeton.model.ids import RunId


def verify(path: Path) -> Verified:
    """Check everything in a store. Raises Refused for a file that is no store."""
    file = path.resolve()
    try:
        check_readable(file)
    except (apsw.CorruptError, apsw.NotADBError) as problem:
        return Verified(False, (Finding(None, refusal(problem).problem),))
    store = file_store(file)
    try:
        problems = tuple(_FileVerifier(file, store).findings())
    finally:
        store.close()
    return Verified(not problems, problems)


class _FileVerifier(Verifier):
    def __init__(self, path: Path, store: Store) -> None:
        super().__init__(store)
        self._path = path

    def _own_checks(self) -> tuple[Callable[[Connection], Iterator[Finding]], ...]:
        return self._page_findings, self._lost_commits, self._schema_findings, self._index_findings

    def _has_artifacts(self, db: Connection) -> bool:
        """A copy of a store has no files of its own at first."""
        copied = db.execute("select 1 from meta where key = 'origin'").get
        return artifacts_folder(self._path).exists() or not copied

    def _damage_of(self, id: str) -> str | None:
        return damage_of(artifacts_folder(self._path), id)

    def _page_findings(self, db: Connection) -> Iterator[Finding]:
        for (line,) in db.execute("pragma integrity_check"):
            if line != "ok":
                yield Finding(None, f"SQLite says: {line}")
        for table, *_ in db.execute("pragma foreign_key_check"):
            yield Finding(None, f"a row of '{table}' belongs to no row")

    def _lost_commits(self, db: Connection) -> Iterator[Finding]:
        lost = lost_commits(self._path, db)
        for loss in [*stored_losses(db), *([] if lost is None else [lost])]:
            yield from _lost(loss)

    def _schema_findings(self, db: Connection) -> Iterator[Finding]:
        for problem in (*missing_meta(db), *schema_problems(db), *sequence_problems(db), *line_problems(db)):
            yield Finding(None, problem)
        for run in out_of_order(db):
            yield Finding(RunId(run), "the positions of its journal entries were altered: restore a backup")

    def _index_findings(self, _: Connection) -> Iterator[Finding]:
        for problem in index_problems(self._path):
            yield Finding(None, problem)


def _lost(loss: Loss) -> Iterator[Finding]:
    yield Finding(None, f"the last {loss.commits} commits were lost: the write-ahead log was cut short or replaced")
    for run, entries in sorted(loss.runs.items()):
        yield Finding(run, f"it lost its last commits: it had {entries} entries")

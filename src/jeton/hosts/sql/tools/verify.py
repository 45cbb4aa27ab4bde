"""Checks of a whole store for damage that the database's own check does not see, with the runs concerned.

The store may be in use: each run is checked in a short transaction of its own.
"""

from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from jeton.actor.definitions import bundle_hash
from jeton.actor.queries.snapshots import canonical
from jeton.actor.queries.typed import all_branch_rows
from jeton.actor.typed.layout import RUN
from jeton.actor.typed.names import quoted, quoted_list
from jeton.actor.whole.digests import DIGESTED, Digested, altered_rows
from jeton.actor.whole.run_copy import RunCopy, problems_in
from jeton.actor.whole.verified import Finding
from jeton.executor.artifacts import UPLOADS
from jeton.executor.memory.contents import HOLDER
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.mirrors.gates import gates_problem
from jeton.hosts.sql.mirrors.typed.tables import Tables, stored_layout, stored_layouts
from jeton.hosts.sql.store import Store
from jeton.hosts.sql.tools.portable import read_copy
from jeton.model.definition.workflow import Library
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import Message, StartRun

RUNS_PER_READ = 500

_RUNS_WITHOUT_LAYOUT = """
select count(*) from runs where workflow = ?1 and version = ?2
and not exists(select 1 from layouts where workflow = ?1 and version = ?2)
"""

_encode = msgspec.json.Encoder().encode
_library = msgspec.json.Decoder(Library).decode
_message = msgspec.json.Decoder(Message).decode


class Verifier:
    """Checks a store. Damage can raise anything; an exception is a finding, and the check goes on.

    A host adds what its database can tell (`_own_checks`), and says what is wrong with an artifact (`_damage_of`)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tables: dict[tuple[str, int], Tables | None] = {}

    def _own_checks(self) -> tuple[Callable[[Connection], Iterator[Finding]], ...]:
        """Checks of the database itself."""
        return ()

    def _has_artifacts(self, db: Connection) -> bool:
        """Whether the contents of artifacts are expected to be there."""
        return True

    def _damage_of(self, id: str) -> str | None:
        """What is wrong with the content of an artifact; None if nothing is."""
        raise NotImplementedError

    def findings(self) -> Iterator[Finding]:
        for check in self._own_checks():
            yield from self._tried(check)
        for digested in DIGESTED:
            yield from self._tried(partial(self._altered_rows, digested=digested))
        yield from self._tried(self._definition_findings)
        yield from self._tried(self._orphans)
        yield from self._tried(self._undeliverable)
        yield from self._artifacts()
        yield from self._runs()

    def _tried(self, check: Callable[[Connection], Iterator[Finding]]) -> list[Finding]:
        found: list[Finding] = []
        try:
            with self._store.snapshot() as db:
                found.extend(check(db))
        except Exception as problem:
            found.append(Finding(None, f"the store cannot be read: {type(problem).__name__}: {problem}"))
        return found

    def _altered_rows(self, db: Connection, digested: Digested) -> Iterator[Finding]:
        columns = quoted_list((*digested.columns, digested.digest))
        yield from altered_rows(digested, db.execute(f"select {columns} from {digested.table}"))

    def _definition_findings(self, db: Connection) -> Iterator[Finding]:
        for name, version, stored, bundle in db.execute("select name, version, hash, bundle from definitions"):
            try:
                library = _library(bundle)
                found = bundle_hash(library)
            except msgspec.MsgspecError as problem:
                yield Finding(None, f"version {version} of '{name}' cannot be read: {problem}")
                continue
            if found != stored:
                yield Finding(None, f"version {version} of '{name}' was altered: restore a backup")
            workflow = library.workflows.get(name)
            typed = workflow is not None and workflow.state_schema is not None
            if typed and db.execute(_RUNS_WITHOUT_LAYOUT, (name, version)).get:
                yield Finding(None, f"version {version} of '{name}' has no row in 'layouts': restore a backup")

    def _orphans(self, db: Connection) -> Iterator[Finding]:
        """Rows of runs that are not there."""
        tables = [(table, "run") for table in ("journal", "sections", "snapshots", "summaries", "gates")]
        tables += [(layout.table, RUN) for layout in stored_layouts(db)]
        for table, column in tables:
            query = f"select distinct {quoted(column)} from {quoted(table)}"
            for (run,) in db.execute(f"{query} where {quoted(column)} not in (select run from runs)"):
                yield Finding(RunId(run), f"'{table}' has rows of a run that is not there")

    def _undeliverable(self, db: Connection) -> Iterator[Finding]:
        """Messages to runs that are not there, and runs of workflows that are not there."""
        absent: dict[str, bool] = {}  # runs that are not there, and whether their start is in the inbox
        known = "select run, body, run in (select run from runs) from inbox"
        for run, body, there in db.execute(known):
            begins = False
            try:
                begins = isinstance(_message(body), StartRun)
            except msgspec.MsgspecError as problem:
                yield Finding(RunId(run), f"a message that waits for it cannot be read: {problem}")
            if not there:
                absent[run] = absent.get(run, False) or begins
        for run, begins in absent.items():
            if not begins:
                yield Finding(RunId(run), "'inbox' has rows of a run that is not there")
        missing = "select run from runs where (workflow, version) not in (select name, version from definitions)"
        for (run,) in db.execute(missing):
            yield Finding(RunId(run), "the version of its workflow is not there")

    def _artifacts(self) -> Iterator[Finding]:
        """Artifacts whose files are missing or altered. A copy of a store has no files of its own at first."""
        try:
            with self._store.snapshot() as db:
                if not self._has_artifacts(db):
                    return
                held: dict[str, str] = dict(db.execute("select id, run from artifacts order by run desc"))
        except Exception as problem:
            yield Finding(None, f"the artifacts cannot be listed: {type(problem).__name__}: {problem}")
            return
        for id, run in held.items():
            found = self._damage_of(id)
            if found is not None and self._holds(run, id):  # it may have been deleted in the meantime
                memory = run.removeprefix(HOLDER) if run.startswith(HOLDER) else None
                of = "" if memory is None else f" of the memory '{memory}'"
                text = f"the artifact {id}{of} {found}: restore its file from a backup"
                yield Finding(None if run.startswith((HOLDER, UPLOADS)) else RunId(run), text)

    def _holds(self, run: str, id: str) -> bool:
        with self._store.snapshot() as db:
            return bool(db.execute("select count(*) from artifacts where run = ? and id = ?", (run, id)).get)

    def _runs(self) -> Iterator[Finding]:
        after = ""
        while True:
            try:
                with self._store.snapshot() as db:
                    query = "select run from runs where run > ? order by run limit ?"
                    runs = [RunId(run) for (run,) in db.execute(query, (after, RUNS_PER_READ))]
            except Exception as problem:
                yield Finding(None, f"the runs behind '{after}' cannot be listed: {problem}")
                return
            if not runs:
                return
            for run in runs:
                yield from self._run(run)
            after = runs[-1]

    def _run(self, run: RunId) -> list[Finding]:
        try:
            with self._store.snapshot() as db:
                copy = read_copy(db, run)
                if copy is None:
                    return []  # it was pruned in the meantime
                problems = list(problems_in(copy)) or list(self._mirror_problems(db, copy))
        except Exception as problem:
            problems = [f"it cannot be read: {type(problem).__name__}: {problem}"]
        return [Finding(run, problem) for problem in problems]

    def _mirror_problems(self, db: Connection, copy: RunCopy) -> Iterator[str]:
        """Compare a run that is whole otherwise with the tables that are derived from it."""
        problem = gates_problem(db, copy.live.state)
        if problem is not None:
            yield problem
        yield from self._typed_problems(db, copy)

    def _typed_problems(self, db: Connection, copy: RunCopy) -> Iterator[str]:
        version = copy.columns.workflow, copy.columns.version
        if version not in self._tables:
            layout = stored_layout(db, *version)
            self._tables[version] = None if layout is None else Tables(layout)
        tables = self._tables[version]
        if tables is None:
            return
        state, found = copy.live.state, tables.read(db, copy.run)
        if found is None:
            yield "it has no row in the table of its workflow"
        elif _exact(found) != _exact(state.state):
            keys = sorted(
                key for key in {*found, *state.state} if _exact(found.get(key)) != _exact(state.state.get(key))
            )
            yield f"its typed context is not its context: {', '.join(keys) or 'a null'}"
        elif not tables.has_texts_of(db, copy.run, state.state):
            yield "its typed context is written otherwise than its context"
        if tables.read_branches(db, copy.run) != all_branch_rows(state):
            yield "the rows of its branches are not what its branches hold"


def _exact(value: Json) -> bytes:
    return canonical(_encode(value))

"""Whether every view of a run from elsewhere can be made, before the run is stored."""

from jeton.actor.rows import run_row
from jeton.actor.whole.portable import Imported, fitting
from jeton.actor.whole.run_copy import entries_of
from jeton.engine.views.events import events_in
from jeton.engine.views.explain.explain import RunHistory, explain_run
from jeton.engine.views.flows import node_views
from jeton.engine.views.plain import plain
from jeton.engine.views.record import record_of
from jeton.engine.views.tokens import token_views
from jeton.model.state.run import Head

MOST_EXPLAINED = 2_000  # entries; explaining more takes long


def check_views(imported: Imported) -> None:
    """Raise Refused for a run that could not be shown."""
    copy, program = imported.copy, imported.program
    with fitting():
        live = copy.live
        row = run_row(live.state.head, live.timers.next_due())
        plain(record_of(row, live.state, node_views(program, live)))
        if copy.pruned:
            return
        entries = entries_of(copy)
        for _ in events_in(copy.run, entries):
            pass
        for view in token_views(entries, copy.run):
            plain(view)
        if len(entries) <= MOST_EXPLAINED:
            plain(explain_run(RunHistory(program, Head(row.run, row.workflow, row.version), entries)))

"""A run's state from its journal alone. It must equal what is stored; verify, fork and explain rely on it."""

from collections.abc import Iterable

from jeton.actor.advance import LiveRun
from jeton.apply.draft import Draft
from jeton.apply.fold import fold
from jeton.apply.record import count_events
from jeton.model.entry import Entry
from jeton.model.state.run import Head, RunState


def replay(head: Head, entries: Iterable[Entry]) -> LiveRun:
    """Fold all decisions of a journal. Of `head` only the names of the run and its workflow are used."""
    run = LiveRun(RunState(Head(head.run, head.workflow, head.version)))
    for entry in entries:
        replay_entry(run, entry)
    return run


def replay_entry(run: LiveRun, entry: Entry) -> None:
    """Fold the next entry of a journal into the run that those before it gave."""
    draft = Draft(run.state, run.timers)
    for decision in entry.decisions:
        fold(draft, decision)
    run.state.head.entries += 1
    run.state.head.events += count_events(entry.decisions)

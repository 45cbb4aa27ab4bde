"""A run as it is stored, whether it has a commit or not."""

from collections.abc import Iterable, Mapping

from jeton.actor.advance import LiveRun
from jeton.actor.journal import JournalEntry, decode_entry
from jeton.actor.replay import replay
from jeton.actor.sections import load_run
from jeton.actor.starts import fresh_run
from jeton.model.ids import RunId
from jeton.model.state.run import Head


def load_stored(
    run: RunId, workflow: str, version: int, sections: Mapping[str, bytes] | None, shared: Iterable[JournalEntry]
) -> LiveRun:
    """Load a run from its sections; before its first commit, from the history it shares, or as a new one."""
    if sections is not None:
        return load_run(sections)
    history = [decode_entry(each.body) for each in shared]
    return replay(Head(run, workflow, version), history) if history else fresh_run(run, workflow, version)

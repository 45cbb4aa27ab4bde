"""What is stored says the same in every way it can be read: sections, journal, and the batch handled once more."""

from collections.abc import Iterable, Mapping

from jeton.actor.advance import LiveRun
from jeton.actor.replay import replay, replay_entry
from jeton.actor.sections import encode_sections, load_run
from jeton.apply.draft import TOKENS_PER_SECTION, Touched
from jeton.hosts.simulated.observer import Step
from jeton.model.entry import Entry
from jeton.model.state.run import SLOTS_PER_STRETCH, Head, RunState
from tests.simulation.invariants.seen import broken


def journal_folds(run: LiveRun, entries: Iterable[Entry], sections: Mapping[str, bytes]) -> None:
    """Folding the journal from nothing gives the sections that are stored, byte for byte."""
    _same("the journal folds to other sections", whole(replay(run.state.head, entries).state), dict(sections))


class Folded:
    """A journal that is folded as it grows, each entry once, so that it can be compared at any time."""

    def __init__(self, head: Head) -> None:
        self._run = LiveRun(RunState(Head(head.run, head.workflow, head.version)))
        self._entries: list[Entry] = []  # not folded yet

    def committed(self, entry: Entry) -> None:
        self._entries.append(entry)

    def compare(self, sections: Mapping[str, bytes]) -> None:
        """What the journal gives, from nothing, is what is stored, byte for byte."""
        for entry in self._entries:
            replay_entry(self._run, entry)
        self._entries.clear()
        _same("the journal folds to other sections", whole(self._run.state), dict(sections))


def sections_reload(run: LiveRun, sections: Mapping[str, bytes]) -> None:
    """What is stored is what is in memory, and loading it gives the same tables."""
    _same("other sections are stored than the run has", whole(run.state), dict(sections))
    tables_reload(run, sections)


def tables_reload(run: LiveRun, sections: Mapping[str, bytes]) -> None:
    """Loading what is stored gives the tables that are in memory."""
    loaded = load_run(sections).state
    for table in RunState.__slots__:
        found, was = getattr(loaded, table), getattr(run.state, table)
        if table in ("signals", "waiters"):  # who came first counts; a name with nobody left is as good as none
            found, was = _in_order(found), _in_order(was)
        if table == "_flow":  # made when first asked for, and partly a memory of what follows from the rest
            found, was = _flow_tables(loaded), _flow_tables(run.state)
        if table == "_talk":  # likewise
            found, was = _talk_tables(loaded), _talk_tables(run.state)
        if table == "_facts":  # made when first asked for
            found, was = loaded.facts, run.state.facts
        if found != was:
            broken(f"{table} is loaded as {found} and was {was}")


def _flow_tables(state: RunState) -> dict[str, object]:
    flow = state.flow
    return {name: getattr(flow, name) for name in flow.__slots__ if name not in ("blocked", "contexts")}


def _talk_tables(state: RunState) -> dict[str, object]:
    talk = state.talk
    return {name: getattr(talk, name) for name in talk.__slots__}


def _in_order(table: dict[str, dict[int, object]]) -> dict[str, list[tuple[int, object]]]:
    return {name: list(below.items()) for name, below in table.items() if below}


def batch_repeats(step: Step) -> None:
    """Law 7: the same batch, on what was stored before it, gives the same commit."""
    turn = step.repeated()
    if turn != step.turn:
        broken(f"the same batch gives another turn: {turn}, it was {step.turn}")


def whole(state: RunState) -> dict[str, bytes]:
    """Every section of a run, encoded anew."""
    touched = Touched()
    touched.input = state.head.started_at is not None
    touched.state.update(state.state)
    touched.output.update(state.output)
    touched.tokens.update(token // TOKENS_PER_SECTION for token in state.tokens)
    touched.rest.groups.update(state.groups)
    touched.rest.progress.update(state.progress)
    touched.rest.slots.update((group, index // SLOTS_PER_STRETCH) for group, index in state.slots)
    touched.rest.arrived.update(state.arrived)
    flow = state.flow
    touched.overrides = bool(flow.overrides)
    for table in (flow.executed, flow.executing, flow.waiting, flow.errors, flow.skipped, flow.remaining):
        touched.rest.nodes.update(table)
    touched.rest.signals.update((name, number) for name, kept in state.signals.items() for number in kept)
    touched.rest.heard.update(state.heard)
    touched.rest.early.update(state.early)
    touched.rest.lent.update(state.lent)
    touched.rest.talk.update(state.talk.rows())
    return {name: body for name, body in encode_sections(state, touched).items() if body is not None}


def _same(what: str, found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    if found != expected:
        names = sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))
        shown = [f"{name}: {found.get(name)!r} and {expected.get(name)!r}" for name in names]
        broken(f"{what}: " + "; ".join(shown))

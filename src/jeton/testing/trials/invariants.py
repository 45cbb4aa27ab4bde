"""Invariants of stored runs once nothing more will happen (docs/semantics/durability.md#invariants)."""

from collections.abc import Iterator

from jeton.actor.journal import decode_entry
from jeton.actor.replay import replay
from jeton.actor.rows import RunRow
from jeton.actor.sections import encode_sections, load_run
from jeton.apply.draft import Touched
from jeton.apply.record import count_events, events_of
from jeton.engine.views.tokens import token_views
from jeton.hosts.simulated.world import World
from jeton.model.decision import EndRun
from jeton.model.definition.agent import agent_of
from jeton.model.entry import Entry
from jeton.model.event import RunCancelled, RunCompleted, RunExhausted, RunFailed, RunSubmitted, RunTimedOut
from jeton.model.ids import RunId
from jeton.model.state.run import TERMINAL, RunState

ENDS = (RunCompleted, RunFailed, RunCancelled, RunTimedOut, RunExhausted)


def violations(world: World) -> Iterator[str]:
    """Every violation of an invariant by any run."""
    for run in world.store.runs():
        row, sections = world.store.row(run), world.store.sections(run)
        if row is None or sections is None:
            continue
        entries = [decode_entry(body) for body in world.store.journal(run)]
        yield from (f"run {run}: {violation}" for violation in _of_history(run, row, entries))
        loaded = load_run(sections).state
        if _whole(replay(loaded.head, entries).state) != _whole(loaded):
            yield f"run {run}: folding the journal does not give the stored state"
        if row.status in TERMINAL:
            yield from (f"run {run}: {violation}" for violation in _left_over(world, row, loaded, entries))


def _of_history(run: RunId, row: RunRow, entries: list[Entry]) -> Iterator[str]:
    seen = 0
    for number, entry in enumerate(entries):
        if entry.number != number:
            yield f"entry {entry.number} is at position {number} of its journal"
        if entry.first_event != seen:
            yield f"the events of entry {number} begin at {entry.first_event} instead of {seen}"
        seen += count_events(entry.decisions)
        yield from (_contradiction(d) for d in entry.decisions if isinstance(d, EndRun) and d.broken)
    events = [event for entry in entries for event in events_of(run, entry)]
    if [event.seq for event in events] != list(range(len(events))):
        yield "its events are not numbered consecutively"
    if events and not isinstance(events[0].fact, RunSubmitted):
        yield "its first event is not run.submitted"
    ends = [event.seq for event in events if isinstance(event.fact, ENDS)]
    if ends != ([len(events) - 1] if row.status in TERMINAL else []):
        yield f"it is {row.status}, and terminal events are at {ends} of {len(events)}"


def _left_over(world: World, row: RunRow, state: RunState, entries: list[Entry]) -> Iterator[str]:
    """What an ended run has left behind."""
    alive = [view for view in token_views(entries) if not view.ended]
    if alive:
        yield "it has ended, and tokens have not: " + ", ".join(f"{view.id} at '{view.node}'" for view in alive)
    if state.head.status != row.status:
        yield f"its row says {row.status}, and its state {state.head.status}"
    if state.head.alive or state.tokens or state.slots or state.groups or state.progress or state.arrived:
        yield "it has ended, and its state still has tokens or groups"
    if row.wake is not None:
        yield "it has ended, and still has an alarm"
    if world.store.inbox(row.run):
        yield f"it has ended, and {len(world.store.inbox(row.run))} messages are in its inbox"
    for other in world.store.runs():
        below = world.store.row(other)
        if not other.startswith(f"{row.run}.") or (below is not None and below.status in TERMINAL):
            continue
        if not is_idle_conversation(world, other):
            yield f"it has ended, and run {other} that it called has not"


def is_idle_conversation(world: World, run: RunId) -> bool:
    """Whether it is a conversation in which nothing moves. Those that a run began stay: another may go on with them."""
    sections = world.store.sections(run)
    if agent_of(world.store.workflow(run)) is None or sections is None:
        return False
    state = load_run(sections).state
    return not state.tokens and not state.talk.active()


def _contradiction(end: EndRun) -> str:
    return "a decision contradicts the run's state" if end.error is None else end.error.message


def _whole(state: RunState) -> dict[str, bytes | None]:
    touched = Touched()
    touched.everything(state)
    return {name: body for name, body in encode_sections(state, touched).items() if body is not None}

"""The road of a batch: each message is planned, its decisions folded, and what follows from them planned in turn.

`advance` never raises for what a message says. If a decision contradicts the state, the message is taken back whole
and the run ends failed with the evidence, so that a poison message is a failed run and not a stuck actor.
"""

from collections.abc import Container, Sequence

import msgspec

from jeton.apply.batch import batch_creations
from jeton.apply.draft import Draft, Touched
from jeton.apply.fold import fold
from jeton.apply.record import count_events
from jeton.apply.timers import Timers
from jeton.model.cue import TokenReady
from jeton.model.decision import BeginRun, Decision, EndRun, SetStatus
from jeton.model.effect import Effect
from jeton.model.entry import Entry
from jeton.model.failure import BrokenInvariant, RunError
from jeton.model.ids import TokenId
from jeton.model.json import Json
from jeton.model.message import (
    AlarmRang,
    ContinueRun,
    CreditsGranted,
    Message,
    StartRun,
    TaskFinished,
    TaskNoted,
    TaskStarted,
    TriggerHeard,
    UnpauseRun,
)
from jeton.model.state.phase import Pending
from jeton.model.state.run import RunState
from jeton.planning.plan_run import plan_cue, plan_idle, plan_run, plan_started
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.node import Plan, plan_onward

MOVES_PER_BATCH = 10_000


class LiveRun:
    """A run in memory: its tables, and the timers that follow from them."""

    __slots__ = ("state", "timers")

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.timers = Timers(state)


class Commit(msgspec.Struct, frozen=True):
    """All or nothing: what a host stores at once, and lets out only afterwards."""

    entry: Entry | None  # None: nothing changed, and nothing need be stored
    touched: Touched
    effects: tuple[Effect, ...]
    wake: int | None  # the one time to be woken
    again: bool  # the bound was reached: the run has a message for itself
    ended: bool


def advance(program: Program, run: LiveRun, batch: Sequence[Message], moves: int = MOVES_PER_BATCH) -> Commit:
    """Handle everything that waits for the run as one batch."""
    state = run.state
    draft = Draft(state, run.timers)
    handling = _Handling(program, draft)
    done = _over_at_once(batch)
    for message in batch:
        if state.head.ended_at is not None:
            break
        if type(message) is TaskStarted and (message.token, message.attempt) in done:
            handling.made += plan_started(program, state, message)  # told, and over before anybody could look
            continue
        effects, made = draft.begin(message.at), len(handling.made)
        try:
            handling.handle(message, moves)
        except Exception as problem:  # our bug, whatever it is called: the run must not stay stuck with it
            draft.roll_back(effects)
            broken = EndRun(message.at, "failed", error=_evidence(problem, message), broken=True)
            fold(draft, broken)
            handling.made[made:] = [broken]
            break
    return _commit(run, draft, batch, handling.made, handling.again)


def _over_at_once(batch: Sequence[Message]) -> Container[tuple[TokenId, int]]:
    """Attempts that end in this batch, if nobody in it asks how far they are: an alarm would."""
    over: set[tuple[TokenId, int]] = set()
    for message in batch:
        if type(message) is TaskFinished:
            over.add((message.token, message.attempt))
        elif type(message) not in _RIDERS:
            return ()
    return over


_RIDERS = frozenset((TaskStarted, TaskNoted))


def suppose(program: Program, run: LiveRun, plan: Plan, now: int) -> tuple[Decision, ...]:
    """What would follow from decisions that no message led to: a question, and never an entry.

    `run` is a copy that nobody else holds; it is of no use afterwards."""
    draft = Draft(run.state, run.timers)
    draft.begin(now)
    handling = _Handling(program, draft)
    handling.suppose(plan, now)
    return tuple(handling.made)


def give_up(run: LiveRun, batch: Sequence[Message], problem: Exception) -> Commit:
    """End a run whose next commit cannot be stored: `run` is as it was before the batch that led there."""
    draft = Draft(run.state, run.timers)
    error = RunError("cannot_be_stored", f"what the run came to cannot be stored: {problem}")
    decisions: list[Decision] = [EndRun(batch[-1].at, "failed", error=error, broken=True)]
    if run.state.head.status == "submitted":
        decisions[:0] = [BeginRun(m.at, m.input, None, m.parent, m.trigger) for m in batch if isinstance(m, StartRun)][
            :1
        ]
    for decision in decisions:
        fold(draft, decision)
    return _commit(run, draft, batch, decisions, again=False)


_LETTING_GO = frozenset((ContinueRun, UnpauseRun, CreditsGranted))
_RINGING = frozenset((AlarmRang, UnpauseRun))


class _Handling:
    """Message after message, each with everything that follows from it inside the run."""

    __slots__ = ("_draft", "_moves", "_now", "_program", "again", "made")

    def __init__(self, program: Program, draft: Draft) -> None:
        self._program = program
        self._draft = draft
        self._now = 0
        self._moves = 0
        self.made: list[Decision] = []
        self.again = False  # some message left something behind

    def handle(self, message: Message, moves: int) -> None:
        self._now, self._moves = message.at, moves
        draft, state = self._draft, self._draft.state
        self._take(plan_run(self._program, state, message))
        kind = type(message)
        if kind is TaskStarted or kind is TriggerHeard:
            return  # nothing follows from it
        if kind in _LETTING_GO:
            draft.ready.extend(TokenReady(t.id) for t in state.tokens.values() if type(t.phase) is Pending)
        self._settle()
        if kind in _RINGING:
            while (timer := draft.timers.take_due(message.at)) is not None:
                self._take(plan_cue(self._program, state, timer, self._now))
                self._settle()

    def suppose(self, plan: Plan, now: int) -> None:
        self._now, self._moves = now, MOVES_PER_BATCH
        self._take(plan)
        self._settle()

    def _settle(self) -> None:
        """Go on until nothing moves by itself, or the bound is reached."""
        draft, state = self._draft, self._draft.state
        head = state.head
        while head.ended_at is None:
            if draft.urgent:
                self._take(plan_cue(self._program, state, draft.urgent.popleft(), self._now))
            elif draft.ready and head.paused:
                draft.ready.clear()  # they begin when the run goes on
            elif draft.ready and self._moves > 0:
                plan = plan_cue(self._program, state, draft.ready.popleft(), self._now)
                self._moves -= bool(plan.decisions)  # one that cannot begin must not keep the others from it
                self._take(plan)
            elif draft.ready:
                self.again = True
                draft.ready.clear()  # they are pending in the state, and found there
                return
            elif head.busy and head.purse is None:
                return  # somebody works for it
            elif over := plan_idle(self._program, state, self._now):
                self._take(Plan(over))
            else:
                return

    def _take(self, plan: Plan) -> None:
        """Make it true; a node that finished with it is left right away, before anything else moves."""
        decisions = batch_creations(plan.decisions)
        for decision in decisions:
            fold(self._draft, decision)
        self.made += decisions
        if plan.then is not None:
            self._take(Plan(plan_onward(self._program, self._draft.state, plan.then, self._now)))


def _commit(run: LiveRun, draft: Draft, batch: Sequence[Message], decisions: list[Decision], again: bool) -> Commit:
    head = run.state.head
    if not head.ended and decisions and head.status != "submitted":  # what overtakes the start does not begin the run
        status = "waiting" if head.busy == 0 and head.parked else "running"
        if status != head.status:
            change = SetStatus("waiting" if status == "waiting" else "running")
            fold(draft, change)
            decisions.append(change)
    entry = None
    if decisions:
        told = [_as_told(m) if type(m) is StartRun else m for m in batch if type(m) not in _RIDERS] or batch
        entry = Entry(head.entries, head.events, tuple(told), tuple(decisions))
        head.entries += 1
        head.events += count_events(decisions)
    return Commit(entry, draft.touched, tuple(draft.effects), run.timers.next_due(), again, head.ended)


def _as_told(start: StartRun) -> StartRun:
    """As the journal keeps it: without its input, which the first decision has."""
    return StartRun(start.at, None, start.workflow)


def _evidence(problem: Exception, message: Message) -> RunError:
    details: dict[str, Json] = {"message": type(message).__name__, "problem": str(problem)}
    if isinstance(problem, BrokenInvariant):
        details["evidence"] = dict(problem.evidence)
    else:
        details["raised"] = type(problem).__name__
    return RunError("broken_invariant", f"a decision contradicts the run's state: {problem}", details=details)

"""Handling a batch: each message is planned, its decisions are folded, and what follows from them is planned in turn.

`advance` never raises for what a message contains. If a decision contradicts the state, the whole message is rolled
back and the run ends failed with the evidence, so that a bad message fails its run instead of blocking it.
"""

from collections.abc import Container, Sequence

import msgspec

from jeton.apply.batch import batch_creations
from jeton.apply.draft import Draft, Touched
from jeton.apply.fold import fold, fold_all
from jeton.apply.record import count_events
from jeton.apply.timers import Timers
from jeton.model.cue import TokenReady, TurnMoved
from jeton.model.decision import AwaitCredits, BeginRun, Decision, EndRun, SetStatus
from jeton.model.effect import Effect, SendMessage
from jeton.model.entry import Entry
from jeton.model.failure import BrokenInvariant, RunError
from jeton.model.ids import TokenId
from jeton.model.json import Json
from jeton.model.message import (
    AlarmRang,
    BudgetAnswered,
    BudgetSettled,
    ChatSent,
    ContinueRun,
    CreditsGranted,
    Message,
    StartRun,
    TaskFinished,
    TaskNoted,
    TaskStarted,
    TriggerHeard,
    UnpauseRun,
    turned_away,
)
from jeton.model.state.day_budget import DAYS
from jeton.model.state.phase import Pending
from jeton.model.state.run import RunState
from jeton.model.state.talk import place_of
from jeton.planning.plan_run import plan_cue, plan_idle, plan_run, plan_started
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.node import Plan, plan_onward

MOVES_PER_BATCH = 10_000


class LiveRun:
    """A run in memory: its state, and the timers that follow from it."""

    __slots__ = ("state", "timers")

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.timers = Timers(state)


class Commit(msgspec.Struct, frozen=True):
    """The result of a batch: what a host stores in one transaction, and the effects it releases afterwards."""

    entry: Entry | None  # None: nothing changed
    touched: Touched
    effects: tuple[Effect, ...]
    wake: int | None  # the time of the run's alarm
    again: bool  # the limit of moves was reached: the run needs another batch
    ended: bool


def advance(program: Program, run: LiveRun, batch: Sequence[Message], moves: int = MOVES_PER_BATCH) -> Commit:
    """Handle messages as one batch."""
    state = run.state
    draft = Draft(state, run.timers)
    handling = _Handling(program, draft)
    finished = _finished_attempts(batch)
    for message in batch:
        if state.head.ended_at is not None:
            _turn_away(draft, message)
            continue
        if type(message) is TaskStarted and (message.token, message.attempt) in finished:
            handling.made += plan_started(program, state, message)  # only recorded: the attempt ends in this batch
            continue
        effects, made = draft.begin(message.at), len(handling.made)
        try:
            handling.handle(message, moves)
        except Exception as problem:  # a bug, which must not block the run
            draft.roll_back(effects)
            broken = EndRun(message.at, "failed", error=_evidence(problem, message), broken=True)
            fold(draft, broken)
            handling.made[made:] = [broken]
    return _commit(run, draft, batch, handling.made, handling.again)


def _turn_away(draft: Draft, message: Message) -> None:
    """After the end only chat messages of tokens are answered, because these would wait for ever.

    What was reserved of an agent's budget goes back."""
    run = draft.state.head.run
    if type(message) is BudgetAnswered and message.granted:
        back = BudgetSettled(message.at, message.agent, message.day, message.amount)
        draft.effects.append(SendMessage(DAYS, back))
    if type(message) is ChatSent:
        told = turned_away(message, run, "run_ended", f"the conversation {run} has ended", message.at)
        draft.effects += [] if told is None else [SendMessage(*told)]


def _finished_attempts(batch: Sequence[Message]) -> Container[tuple[TokenId, int]]:
    """Attempts that end in this batch; none if it has a message for which it matters that they were running."""
    if len(batch) == 1:
        return ()  # none of them starts in it
    finished: set[tuple[TokenId, int]] = set()
    for message in batch:
        if type(message) is TaskFinished:
            finished.add((message.token, message.attempt))
        elif type(message) not in _TASK_NOTICES:
            return ()
    return finished


_TASK_NOTICES = frozenset((TaskStarted, TaskNoted))


def suppose(program: Program, run: LiveRun, plan: Plan, now: int) -> tuple[Decision, ...]:
    """The decisions that would follow from a plan. Nothing is stored; `run` is a copy that is of no use afterwards."""
    draft = Draft(run.state, run.timers)
    draft.begin(now)
    handling = _Handling(program, draft)
    handling.suppose(plan, now)
    return tuple(handling.made)


def give_up(run: LiveRun, batch: Sequence[Message], problem: Exception) -> Commit:
    """End a run whose commit cannot be stored. `run` is as it was before the batch."""
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


_RESUMING = frozenset((ContinueRun, UnpauseRun, CreditsGranted))
_WAKING = frozenset((AlarmRang, UnpauseRun))


class _Handling:
    """Handles the messages of a batch, each with everything that follows from it inside the run."""

    __slots__ = ("_draft", "_moves", "_now", "_program", "again", "made")

    def __init__(self, program: Program, draft: Draft) -> None:
        self._program = program
        self._draft = draft
        self._now = 0
        self._moves = 0
        self.made: list[Decision] = []
        self.again = False  # the limit of moves was reached

    def handle(self, message: Message, moves: int) -> None:
        self._now, self._moves = message.at, moves
        draft, state = self._draft, self._draft.state
        self._fold(plan_run(self._program, state, message))
        kind = type(message)
        if kind is TaskStarted or kind is TriggerHeard:
            return  # nothing follows from these
        if kind in _RESUMING:
            draft.ready.extend(TokenReady(t.id) for t in state.tokens.values() if type(t.phase) is Pending)
            draft.urgent.extend(TurnMoved(turn.number) for turn in state.talk.active() if state.has_talk)
        self._run_cues()
        if kind in _WAKING:
            wall = _wall_time(message)
            while (timer := draft.timers.take_due(message.at, wall)) is not None:
                self._fold(plan_cue(self._program, state, timer, self._now))
                self._run_cues()

    def suppose(self, plan: Plan, now: int) -> None:
        self._now, self._moves = now, MOVES_PER_BATCH
        self._fold(plan)
        self._run_cues()

    def _run_cues(self) -> None:
        """Plan what follows until nothing moves by itself, or the limit of moves is reached."""
        draft, state = self._draft, self._draft.state
        head = state.head
        while head.ended_at is None:
            if draft.urgent:
                self._fold(plan_cue(self._program, state, draft.urgent.popleft(), self._now))
            elif draft.ready and head.paused:
                draft.ready.clear()  # these tokens begin when the run is unpaused
            elif draft.ready and self._moves > 0:
                plan = plan_cue(self._program, state, draft.ready.popleft(), self._now)
                self._moves -= _moved(plan.decisions)
                self._fold(plan)
            elif draft.ready:
                self.again = True
                draft.ready.clear()  # they are pending in the state, where the next batch finds them
                return
            elif head.busy and head.purse is None:
                return  # tasks are running
            elif over := plan_idle(self._program, state, self._now):
                self._fold(Plan(over))
            else:
                return

    def _fold(self, plan: Plan) -> None:
        """Fold decisions. A node that finished with them is routed at once, before anything else moves."""
        decisions = plan.decisions
        if len(decisions) > 1:
            decisions = batch_creations(decisions)
        fold_all(self._draft, decisions)
        self.made += decisions
        if plan.then is not None:
            self._fold(Plan(plan_onward(self._program, self._draft.state, plan.then, self._now)))


def _moved(decisions: Sequence[Decision]) -> bool:
    """Whether a token began. One that waits for credits is not counted: each batch would have it ask anew."""
    return bool(decisions) and type(decisions[0]) is not AwaitCredits


def _commit(run: LiveRun, draft: Draft, batch: Sequence[Message], decisions: list[Decision], again: bool) -> Commit:
    head = run.state.head
    if not head.ended and decisions and head.status != "submitted":  # a message before the start does not begin the run
        status = "waiting" if _is_waiting(run.state) else "running"
        if status != head.status:
            change = SetStatus("waiting" if status == "waiting" else "running")
            fold(draft, change)
            decisions.append(change)
    entry = None
    if decisions:
        kept = [_without_input(m) if type(m) is StartRun else m for m in batch if type(m) not in _TASK_NOTICES] or batch
        entry = Entry(head.entries, head.events, tuple(kept), tuple(decisions))
        head.entries += 1
        head.events += count_events(decisions)
    return Commit(entry, draft.touched, tuple(draft.effects), run.timers.next_due(), again, head.ended)


def _is_waiting(state: RunState) -> bool:
    """Whether nothing moves by itself. Of a conversation, async work is not a turn that moves."""
    if not state.has_talk:
        return state.head.busy == 0 and state.head.parked > 0
    moving = {turn.number for turn in state.talk.active() if turn.moving}
    return not any(token.phase.busy and place_of(token.path)[0] in moving for token in state.tokens.values())


def _wall_time(message: Message) -> int:
    """The system clock's time, as far as a message tells it."""
    if type(message) is not AlarmRang:
        return 0
    return message.at if message.wall is None else message.wall


def _without_input(start: StartRun) -> StartRun:
    """A start as the journal stores it, because the first decision has the input."""
    return StartRun(start.at, None, start.workflow, under=start.under)


def _evidence(problem: Exception, message: Message) -> RunError:
    details: dict[str, Json] = {"message": type(message).__name__, "problem": str(problem)}
    if isinstance(problem, BrokenInvariant):
        details["evidence"] = dict(problem.evidence)
    else:
        details["raised"] = type(problem).__name__
    return RunError("broken_invariant", f"a decision contradicts the run's state: {problem}", details=details)

"""The process of a simulated host: what it has in memory. A crash ends it, and the next one loads what is stored.

All rules are those of `jeton.actor`. Lost tasks are looked for when the process starts, and periodically.
"""

from collections.abc import Mapping
from functools import partial
from random import Random

import msgspec

from jeton.actor.advance import LiveRun
from jeton.actor.definitions import Bundles
from jeton.actor.journal import decode_entry
from jeton.actor.queries.snapshots import SnapshotPolicy, snapshot_policy
from jeton.actor.recovery import plan_recovery
from jeton.actor.starts import impossible_start, undeliverable
from jeton.actor.turn import Turn, take_turn
from jeton.actor.workers import task_of
from jeton.hosts.simulated.agenda import Act, Agenda
from jeton.hosts.simulated.alarms import Alarms
from jeton.hosts.simulated.calls import Calls
from jeton.hosts.simulated.clock import ManualClock
from jeton.hosts.simulated.faults import FaultKind, Faults
from jeton.hosts.simulated.firing import Firing
from jeton.hosts.simulated.memory.loading import load_stored
from jeton.hosts.simulated.memory.store import Store
from jeton.hosts.simulated.observer import Observer, Step
from jeton.hosts.simulated.script import Job, Script
from jeton.hosts.simulated.workers import Attempt, Workers
from jeton.model.definition.workflow import Library
from jeton.model.effect import SendMessage, StartTask, StopTask
from jeton.model.failure import Refused
from jeton.model.ids import RunId, TokenId
from jeton.model.message import (
    AlarmRang,
    ContinueRun,
    Message,
    StartRun,
    TaskFinished,
    TaskLost,
    TaskNoted,
    TaskStarted,
    UnpauseRun,
)
from jeton.model.note import Note
from jeton.model.state.run import TERMINAL
from jeton.planning.program.workflow import Program

LOOK_AFTER_MS = 25
OFTEN = 40
"""Looks at the same tasks before the time between two looks doubles: a task may take a day of virtual time."""
SELDOM_MS = 3_600_000


class Crashed(Exception):
    """Raised to end the process. Another one starts `down_ms` later."""

    def __init__(self, down_ms: int) -> None:
        self.down_ms = down_ms
        super().__init__(f"down for {down_ms} ms")


class Environment(msgspec.Struct, frozen=True):
    """What a process works with, and what outlives it."""

    clock: ManualClock
    agenda: Agenda
    pace: Random
    faults: Faults
    moves: int
    store: Store
    bundles: Bundles
    script: Script
    calls: Calls
    workers: Workers
    observer: Observer


class Process:
    """Runs under way, alarms, and effects that are not released yet."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self._clock = env.clock
        self._faults = env.faults
        self._store = env.store
        self._bundles = env.bundles
        self._workers = env.workers
        self._observer = env.observer
        self.alive = True
        self.firing = False
        self.triggers = Firing(env.store, env.bundles, env.clock)
        self.needs_app: dict[RunId, str] = {}
        self._live: dict[RunId, LiveRun] = {}
        self._alarms = Alarms(env.clock, self._put, self._ring)
        self._began_since: dict[RunId, list[TaskStarted | TaskNoted]] = {}
        self._scheduled: set[RunId] = set()
        self._looking = False
        self._looks = 0
        self._look_round = 0
        self._policies: dict[tuple[str, int], SnapshotPolicy] = {}

    def deliver(self, run: RunId, message: Message) -> int:
        """Store a message in the inbox of a run. Returns its number."""
        number = self._store.accept(run, message)
        self.schedule(run)
        return number

    def _ring(self, run: RunId) -> None:
        self.deliver(run, AlarmRang(self._clock.now(), self._clock.wall()))

    def load(self, run: RunId) -> LiveRun:
        """The run as it is stored."""
        workflow, version = self._store.version(run)
        return load_stored(run, workflow, version, self._store.sections(run), self._store.shared(run))

    # the path of a batch

    def schedule(self, run: RunId) -> None:
        """Schedule the next batch of a run. Messages that arrive before it are in the same batch."""
        if self.alive and run not in self._scheduled:
            self._scheduled.add(run)
            self._put(self._env.pace.choice((0, 0, 0, 1, 2)), lambda: self._advance(run))

    def _advance(self, run: RunId) -> None:
        self._scheduled.discard(run)
        waiting = self._store.inbox(run)
        if not waiting:
            return
        batch = (*self._began_since.pop(run, ()), *waiting.values())
        before = self._store.sections(run) if self._observer.looks_back else None
        live = self._live.get(run) or self.load(run)
        program, policy = self._program(run)[0], self._policy(run)
        before_hash, shared = self._store.last_hash(run), self._store.shared(run)
        taken = take_turn(
            program,
            live,
            batch,
            before_hash,
            partial(self.load, run),
            policy=policy,
            shared=shared,
            moves=self._env.moves,
        )
        turn, live = taken.turn, taken.run
        self._live[run] = live
        self._may_crash("crash_before_commit")
        self._may_crash("commit_fails")
        self._commit(turn, waiting)
        entry = None if turn.entry is None else decode_entry(turn.entry.body)
        self._env.calls.note(run, () if entry is None else entry.decisions)
        self._observer.committed(
            Step(run, program, batch, turn, entry, live, before, before_hash, shared, policy, self._env.moves)
        )
        self._may_crash("commit_unknown")
        self._may_crash("crash_after_commit")
        self._release(run, turn)
        if any(type(message) is UnpauseRun for message in batch):
            self._look_after_soon()  # tasks that were lost while the run was paused are started now

    def _commit(self, turn: Turn, waiting: Mapping[int, Message]) -> None:
        own = ContinueRun(self._clock.now()) if turn.again else None
        sent, started = list[SendMessage](), dict[RunId, tuple[str, int]]()
        for effect in turn.messages:
            if isinstance(effect.message, StartRun):
                try:
                    called = effect.message.workflow or ""
                    started[effect.run] = self._bundles.child(turn.head.workflow, turn.head.version, called)
                    self._bundles.program(*started[effect.run])
                except Refused as refused:
                    started.pop(effect.run, None)
                    told = impossible_start(effect.run, effect.message, refused, self._clock.now())
                    sent += [] if told is None else [SendMessage(*told)]
                    continue
            unheard = None
            if not self._store.has(effect.run) and effect.run not in started:
                unheard = undeliverable(effect.run, effect.message, self._clock.now())
            sent.append(effect if unheard is None else SendMessage(*unheard))
        self._store.commit(turn, tuple(waiting), own, sent, started)

    def _release(self, run: RunId, turn: Turn) -> None:
        """Release the effects of a turn that is committed."""
        for effect in turn.effects:
            match effect:
                case StartTask():
                    self._start_task(run, effect)
                case StopTask():
                    self._stop_task(run, effect)
                case SendMessage(to):
                    # it is in an inbox since the commit; an account's reply, or a refused start, in the run's own
                    self.schedule(to if self._store.has(to) else run)
            self._may_crash("crash_amid_effects")
        self._alarms.wake(run, self._live[run].timers)
        if turn.again:
            self.schedule(run)
        if turn.ended or self._faults.strikes("run_forgotten") is not None:
            self._live.pop(run, None)
        if turn.ended:
            self.needs_app.pop(run, None)
            self.fire_soon()
        self._disturb(run)

    def _disturb(self, run: RunId) -> None:
        """Faults that may come at any time."""
        stale = self._faults.strikes("alarm_stale")
        if stale is not None:
            self._put(stale.by_ms, lambda: self._ring(run))
        jump = self._faults.strikes("clock_jump")
        if jump is not None:
            self._clock.jump(jump.by_ms)
            self._alarms.clock_was_set()

    # effects

    def _start_task(self, run: RunId, effect: StartTask) -> None:
        self._observer.released(run, effect)
        if effect.token not in self._live[run].state.tokens:
            return  # it ended in the same batch
        task, bundle = task_of(*self._program(run), self._live[run].state, effect.token)
        missing = self._env.script.missing(task, bundle)
        if missing is not None:
            self.needs_app[run] = missing
            return
        call = self._env.calls.call(run, effect, self._store.workflow(run), self._clock.now())
        self._workers.start((run, effect.token, effect.attempt), Job(call, task, bundle))
        if self._looks > OFTEN:
            self._looking = False  # the next look may be far away
            self._look_round += 1
        self._looks = 0
        self._look_after_soon()

    def _stop_task(self, run: RunId, effect: StopTask) -> None:
        self._observer.released(run, effect)
        self._workers.stop((run, effect.token, effect.attempt))

    def _policy(self, run: RunId) -> SnapshotPolicy:
        version = self._store.version(run)
        if version not in self._policies:
            self._policies[version] = snapshot_policy(self._bundles.program(*version)[1].settings)
        return self._policies[version]

    def began(self, attempt: Attempt, notes: tuple[Note, ...]) -> None:
        """Keep the start of a task, and its notes, for the next batch. They are in memory only, and lost in a crash."""
        run, token, number = attempt
        riding = self._began_since.setdefault(run, [])
        riding.append(TaskStarted(self._clock.now(), token, number))
        riding += [TaskNoted(self._clock.now(), token, number, note) for note in notes]

    # recovery

    def _may_crash(self, kind: FaultKind) -> None:
        fault = self._faults.strikes(kind)
        if fault is not None:
            raise Crashed(fault.by_ms)

    def recover(self) -> None:
        """Schedule waiting messages, set the alarms, fire triggers that are due, and look for lost tasks."""
        self._store.stamp_waiting(self._clock.now())
        for run in self._store.runs():
            row = self._store.row(run)
            if row is not None and row.status not in TERMINAL:
                live = self._live[run] = self.load(run)
                self._alarms.wake(run, live.timers)
            if self._store.inbox(run):
                self.schedule(run)
        self.fire_soon()
        self._look_after()

    def _look_after(self) -> None:
        """Report tasks that no worker has as lost. Repeated while any task is under way."""
        self._looking = False
        self._looks += 1
        for run in sorted(self._store.busy, key=self._store.runs().index):
            live = self._live.get(run) or self.load(run)
            plan = plan_recovery(live, self._clock.now(), self._clock.wall(), partial(self._missing, run, live))
            if plan.needs_app is not None:
                self.needs_app[run] = plan.needs_app
            for message in plan.messages:
                if not isinstance(message, TaskLost):
                    continue  # alarms are set, and messages of a run to itself are in its inbox
                self._look_after_soon()
                attempt = run, message.token, message.attempt
                if not self._workers.have(attempt) and not self._is_reported(*attempt):
                    self.deliver(run, message)

    def _missing(self, run: RunId, live: LiveRun, token: TokenId) -> str | None:
        """The name of a function that the task of a token needs, and that is not here."""
        return self._env.script.missing(*task_of(*self._program(run), live.state, token))

    def _program(self, run: RunId) -> tuple[Program, Library]:
        """The program of a run; of a conversation, that of its agent's newest version."""
        program, bundle = self._bundles.program(*self._store.version(run))
        return (program, bundle) if program.talk is None else self._bundles.newest(*self._store.version(run))

    def _look_after_soon(self) -> None:
        if not self._looking:
            self._looking = True
            doubled, this = min(max(0, self._looks - OFTEN), 20), self._look_round
            later = min(LOOK_AFTER_MS << doubled, SELDOM_MS)
            self._put(later, lambda: self._look_after() if this == self._look_round else None)

    def _is_reported(self, run: RunId, token: TokenId, attempt: int) -> bool:
        return any(
            isinstance(message, TaskLost | TaskFinished) and (message.token, message.attempt) == (token, attempt)
            for message in self._store.inbox(run).values()
        )

    # triggers

    def fire_soon(self) -> None:
        if self.alive and not self.firing and self.triggers.is_due():
            self.firing = True
            self._put(self._env.pace.choice((0, 0, 1, 3)), self.fire)

    def fire(self) -> None:
        """Fire all triggers that are due, in one transaction."""
        self.firing = False
        due = self.triggers.take_due()
        self._may_crash("crash_before_commit")
        _, woken = self._store.settle(due.planned, due.seen, due.ended)
        self.triggers.reload()
        self._may_crash("crash_after_commit")
        for run in woken:
            self.schedule(run)

    def _put(self, after_ms: int, act: Act) -> None:
        """Put something on the agenda that a crash cancels."""

        def act_if_still_alive() -> None:
            if self.alive:
                act()

        self._env.agenda.put(self._clock.steady + after_ms, act_if_still_alive)

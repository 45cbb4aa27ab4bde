"""A whole host in one thread: virtual time, seeded order, faults as data.

What lives in memory is in a `Process`, which ends with a crash; what is in the store is all that the next one has.
"""

from random import Random

import msgspec

from jeton.actor.advance import LiveRun
from jeton.actor.journal import decode_entry
from jeton.actor.rows import FiringRow
from jeton.actor.starts import NewFork, PlannedFork, plan_fork, unknown_run
from jeton.actor.storable import storable
from jeton.executor.event_sink import ActionEvent
from jeton.hosts.simulated.agenda import Act, Agenda
from jeton.hosts.simulated.calls import Calls
from jeton.hosts.simulated.clock import ManualClock
from jeton.hosts.simulated.faults import FaultPlan, Faults
from jeton.hosts.simulated.memory.definitions import Definitions
from jeton.hosts.simulated.memory.store import Store
from jeton.hosts.simulated.observer import Nobody, Observer
from jeton.hosts.simulated.process import Crashed, Environment, Process
from jeton.hosts.simulated.script import Answer, Job, Script
from jeton.hosts.simulated.workers import Attempt, Workers
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import (
    AnswerGate,
    CancelRun,
    Message,
    PauseRun,
    SignalRun,
    StartRun,
    TaskAsked,
    TaskFinished,
    TaskSuspended,
    UnpauseRun,
)
from jeton.model.note import Note
from jeton.model.state.run import FiredBy
from jeton.planning.credits import balance_of
from jeton.planning.edits import check_edits
from jeton.planning.program.workflow import Program
from jeton.planning.triggers.firing import Planned

MOST_STEPS = 100_000


class World:
    """Runs, their workers and their users, on a virtual clock. Nothing happens until `run` or `step` is called."""

    def __init__(
        self,
        library: Library,
        *,
        seed: int = 0,
        plan: FaultPlan | None = None,
        script: Script | None = None,
        observer: Observer | None = None,
        definitions: Definitions | None = None,
    ) -> None:
        """`definitions` are those of the library, if worlds share them; it may be empty, to deploy to it later."""
        self.clock = ManualClock()
        self.definitions = Definitions(library) if definitions is None else definitions
        self.store = Store(self.definitions)
        self.plan = plan or FaultPlan()
        self.faults = Faults(self.plan, self.clock)
        self.crashes = 0
        self._bundles = self.definitions.bundles
        self._agenda = Agenda(Random(f"{seed}/ties"))
        self._calls = Calls()
        script, pace = script or Script(seed=seed), Random(f"{seed}/pace")
        self._workers = Workers(self._agenda, self.clock, self.faults, script, pace, self._began, self._answered)
        balance = balance_of(library.settings)
        if balance is not None:
            self.store.open_account(balance)
        self.store.triggers.deploy(library.triggers, self.clock.wall(), "", ())
        self._env = Environment(
            self.clock,
            self._agenda,
            pace,
            self.faults,
            self.plan.moves,
            self.store,
            self._bundles,
            script,
            self._calls,
            self._workers,
            observer or Nobody(),
        )
        self._process = Process(self._env)

    # starts and messages

    def start(
        self,
        workflow: str,
        input: Json,
        *,
        run: str | None = None,
        after_ms: int = 0,
        trigger: FiredBy | None = None,
        overrides: dict[str, JsonObject] | None = None,
        credits: int | None = None,
    ) -> RunId:
        """Submit a run. It begins when time passes."""
        found = self._bundles.find(workflow)
        if found is None:
            raise Refused("unknown_workflow", f"no workflow is called '{workflow}'", "name one of the library's")
        name = RunId(run) if run is not None else self.store.new_run_id(workflow)
        self.store.submit(name, workflow, found[1])
        given = StartRun(0, input, trigger=trigger, overrides=overrides or {}, credits=credits)
        self.tell(name, given, after_ms=after_ms)
        return name

    def cancel(self, run: RunId, reason: str = "", *, after_ms: int = 0) -> None:
        """Cancel a run."""
        self.tell(run, CancelRun(0, reason), after_ms=after_ms)

    def answer(self, run: RunId, answer: AnswerGate, *, after_ms: int = 0) -> None:
        """Answer a gate."""
        self.tell(run, answer, after_ms=after_ms)

    def signal(self, run: RunId, signal: SignalRun, *, after_ms: int = 0) -> None:
        """Send a run a signal."""
        self.tell(run, signal, after_ms=after_ms)

    def pause(self, run: RunId, *, after_ms: int = 0) -> None:
        """Pause a run: nothing new of it begins."""
        self.tell(run, PauseRun(0), after_ms=after_ms)

    def unpause(self, run: RunId, *, after_ms: int = 0) -> None:
        """Let a paused run go on."""
        self.tell(run, UnpauseRun(0), after_ms=after_ms)

    def tell(self, run: RunId, message: Message, *, after_ms: int = 0) -> None:
        """Send a run any message. It gets its time when it arrives, and is dropped if there is no such run by then."""

        def tell() -> None:
            if run in self.store.runs():
                self.deliver(run, msgspec.structs.replace(message, at=self.clock.now()))

        self.after(after_ms, tell)

    def after(self, after_ms: int, act: Act) -> None:
        """Do something when this much time has passed. A crash does not cancel it."""
        self._agenda.put(self.clock.steady + after_ms, act)

    def top_up(self, amount: int) -> None:
        """Add credits to the project's account, which is opened with them if there is none."""
        if not self.store.top_up(amount):
            self.store.open_account(amount)

    def fork(
        self,
        run: RunId,
        entry: int,
        *,
        writes: dict[str, Json] | None = None,
        again: bool = False,
        credits: int = 0,
    ) -> RunId:
        """Submit a run that shares a run's history up to an entry. It goes on when time passes.

        `again`: nodes that failed are run again, as in a retry."""
        return self.begin_fork(NewFork(run, entry, writes or {}, again, credits)).live.state.head.run

    def begin_fork(self, fork: NewFork) -> PlannedFork:
        """Submit a fork. It goes on when time passes."""
        row = self.store.row(fork.run)
        if row is None:
            raise unknown_run(fork.run)
        history = self.store.entries(fork.run)
        planned = plan_fork(fork, row, history, self.store.new_run_id(f"{fork.run}-fork"), self.clock.now())
        name, shared = planned.live.state.head.run, [decode_entry(each.body) for each in planned.shared]
        check_edits(self._bundles.program(row.workflow, row.version)[0], planned.live.state, fork.writes)
        self.store.submit_fork(name, row.workflow, row.version, planned.shared)
        self._calls.note(name, [decision for entry in shared for decision in entry.decisions])
        self.after(0, lambda: self.deliver(name, planned.message))
        return planned

    def fire(self, planned: Planned) -> FiringRow:
        """Settle a delivery that comes from outside."""
        (row,), woken = self.store.settle([planned], {})
        for run in woken:
            self._process.schedule(run)
        return row

    def triggers_changed(self) -> None:
        """Read the triggers again."""
        self._process.triggers.reload()
        self._process.fire_soon()

    # time

    def step(self) -> bool:
        """Do the next thing on the agenda. Returns False if the agenda is empty.

        Schedules are not on the agenda, which would never be empty: they fire when time passes for another reason."""
        at = self._agenda.next_at
        if at is None:
            return False
        scheduled = self._process.triggers.next_at if self._process.alive else None
        if scheduled is not None and scheduled <= at:
            self._act(scheduled, self._process.fire)
        elif (item := self._agenda.take()) is not None:
            self._act(*item)
        return True

    def run(self, most_steps: int = MOST_STEPS) -> bool:
        """Let time pass until the agenda is empty. Returns False if it is not after so many steps."""
        return any(not self.step() for _ in range(most_steps))

    @property
    def next_at(self) -> int | None:
        """The monotonic time of the next thing on the agenda."""
        return self._agenda.next_at

    @property
    def unanswered(self) -> list[Job]:
        """Tasks whose answers are needed before the next step, if the script leaves them open."""
        return self._workers.unanswered

    @property
    def idle(self) -> bool:
        """Whether every run has ended, or waits for a time, for people or for a Python function."""
        process, working = self._process, self.store.busy - self.needs_app.keys()
        return process.alive and not (working or process.firing or self.store.has_mail() or process.triggers.is_due())

    @property
    def needs_app(self) -> dict[RunId, str]:
        """Runs that are parked because a Python function of theirs is not here, and the function's name."""
        return self._process.needs_app

    def _act(self, at: int, act: Act) -> None:
        self.clock.pass_to(at)
        if at >= self.plan.storm_ms:
            self.faults.calm = True
        try:
            act()
        except Crashed as crash:
            self._go_down(crash.down_ms)

    def unfinished(self) -> list[RunId]:
        """The runs that have not ended. After `run` there should be none."""
        return [run for run in self.store.runs() if not self.store.has_ended(run)]

    def deliver(self, run: RunId, message: Message) -> int:
        """Store a message in the inbox of a run. Returns its number there."""
        return self._process.deliver(run, message)

    def load(self, run: RunId) -> LiveRun:
        """The run as it is stored."""
        return self._process.load(run)

    def program(self, run: RunId) -> Program:
        """The run's workflow, compiled."""
        return self._bundles.program(*self.store.version(run))[0]

    # results of tasks

    def _began(self, attempt: Attempt, notes: tuple[Note, ...]) -> None:
        self._process.began(attempt, notes)

    def _answered(self, attempt: Attempt, answer: Answer) -> None:
        run, token, number = attempt
        if answer.publishes or answer.measures:
            self._publish(attempt, answer)
        for sent in answer.signals:
            if self.store.has(sent.run):
                self.deliver(sent.run, SignalRun(self.clock.now(), sent.key, sent.name, sent.value, sent.key))
        delay = self.faults.strikes("delivery_delayed")
        if delay is not None:
            self._agenda.put(self.clock.steady + delay.by_ms, lambda: self._accept_answer(run, token, number, answer))
        else:
            self._accept_answer(run, token, number, answer)

    def _accept_answer(self, run: RunId, token: TokenId, attempt: int, answer: Answer) -> None:
        now = self.clock.now()
        if answer.suspended is not None:
            until, sleep, state = answer.suspended.until, answer.suspended.sleep, answer.suspended.state
            self.deliver(run, TaskSuspended(now, token, attempt, until, sleep, state))
            return
        if answer.asked is not None:
            asked = answer.asked
            question = asked.title, asked.schema, asked.state, asked.timeout_ms, answer.continued
            self.deliver(run, TaskAsked(now, token, attempt, *question))
            return
        result = None if answer.failure is not None else answer.result
        message = storable(TaskFinished(now, token, attempt, result, answer.failure))
        if message is not None:
            self.deliver(run, message)

    # crash and recovery

    def crash(self, down_ms: int = 0) -> None:
        """End the process now, with all that is only in memory. Another one starts `down_ms` later."""
        self._go_down(down_ms)

    def _go_down(self, down_ms: int) -> None:
        self.crashes += 1
        self._process.alive = False
        self._workers.lose_all()
        self.after(down_ms, self._come_up)

    def _come_up(self) -> None:
        self.clock.restart()
        self._process = Process(self._env)
        self._process.recover()

    # triggers

    def _publish(self, attempt: Attempt, answer: Answer) -> None:
        """Store what a task published and measured. It is durable by itself, and a repeated call adds nothing."""
        run, token, number = attempt
        node = self._calls.node(run, token)
        for place, (event, data) in enumerate(answer.publishes):
            self.publish(ActionEvent(f"{run}:{token}:{number}:{place}", event, data, run, node))
        for measured in answer.measures:
            self.store.triggers.measure(measured)

    def publish(self, emitted: ActionEvent) -> None:
        """Store an event, and fire the triggers that wait for it."""
        self.store.triggers.publish(emitted, self.clock.now())
        self._process.fire_soon()

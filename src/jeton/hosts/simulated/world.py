"""A whole host in one thread: virtual time, seeded order, faults as data.

Nothing is shared with the other hosts but the port, and no rule of the graph is here. What lives in memory (runs under
way, workers, alarms, effects not yet let out) is gone after a crash; what is in the store is all that recovery has.
Recovery is no one-time act: looking after tasks that nobody works on happens on opening, and again and again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from random import Random

import msgspec

from jeton.actor.advance import Commit, LiveRun, advance
from jeton.actor.fork import shared_history
from jeton.actor.journal import decode_entry, encode_entry
from jeton.actor.queries.snapshots import snapshot_policy
from jeton.actor.replay import replay
from jeton.actor.sections import encode_sections, load_run
from jeton.actor.turn import turn_of
from jeton.apply.draft import Touched
from jeton.executor.event_sink import ActionEvent
from jeton.hosts.simulated.agenda import Act, Agenda
from jeton.hosts.simulated.clock import ManualClock
from jeton.hosts.simulated.faults import FaultKind, FaultPlan, Faults
from jeton.hosts.simulated.observer import Nobody, Observer, Step
from jeton.hosts.simulated.script import Answer, Script, ScriptedCall
from jeton.hosts.simulated.store import Store
from jeton.hosts.simulated.triggers import Triggers
from jeton.hosts.simulated.workers import Attempt, Workers
from jeton.model.decision import CreateToken, CreateTokens, Decision
from jeton.model.definition.workflow import Library
from jeton.model.effect import SendMessage, StartTask, StopTask
from jeton.model.failure import Refused
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import (
    AlarmRang,
    AnswerGate,
    CancelRun,
    ContinueRun,
    CreditsAsked,
    CreditsClosed,
    ForkRun,
    Message,
    PauseRun,
    SignalRun,
    StartRun,
    TaskFinished,
    TaskLost,
    TaskStarted,
    TaskSuspended,
    UnpauseRun,
)
from jeton.model.state.credits import ACCOUNT
from jeton.model.state.phase import Dispatched, Executing
from jeton.model.state.run import TERMINAL, FiredBy, Head, RunState
from jeton.planning.credits import balance_of
from jeton.planning.program.compile import compile_definition
from jeton.planning.program.workflow import Program

LOOK_AFTER_MS = 25
MOST_STEPS = 100_000


class Crashed(Exception):
    """The host's process is gone, and will be opened again after a while."""

    def __init__(self, down_ms: int) -> None:
        self.down_ms = down_ms
        super().__init__(f"down for {down_ms} ms")


class World:
    """Many runs, their workers and their users."""

    def __init__(
        self,
        library: Library,
        *,
        seed: int = 0,
        plan: FaultPlan | None = None,
        script: Script | None = None,
        observer: Observer | None = None,
        programs: dict[str, Program] | None = None,
    ) -> None:
        """`programs` is filled as workflows are compiled: worlds of one library may share it."""
        self.clock = ManualClock()
        self.store = Store()
        self.plan = plan or FaultPlan()
        self.faults = Faults(self.plan, self.clock)
        self.crashes = 0
        self._library = library
        self._triggers = Triggers(library, self.store)
        self.store.balance = balance_of(library.settings) or 0
        self._policy = snapshot_policy(library.settings)
        self._programs: dict[str, Program] = {} if programs is None else programs
        self._observer: Observer = observer or Nobody()
        self._agenda = Agenda(Random(f"{seed}/ties"))
        self._pace = Random(f"{seed}/pace")
        self._workers = Workers(
            self._agenda, self.clock, self.faults, script or Script(seed=seed), self._pace, self._began, self._answered
        )
        self._visits: Counter[tuple[RunId, str, str]] = Counter()
        self._calls: dict[tuple[RunId, TokenId], tuple[str, str, int]] = {}  # each token's node, path and visit
        self._open = True
        self._forget_everything()

    # what people do

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
        if workflow not in self._library.workflows and workflow not in self._library.flows:
            raise Refused("unknown_workflow", f"no workflow is called '{workflow}'", "name one of the library's")
        name = RunId(run or f"{workflow}-{len(self.store.runs())}")
        self.store.submit(name, workflow)
        given = StartRun(0, input, trigger=trigger, overrides=overrides or {}, credits=credits)
        self.tell(name, given, after_ms=after_ms)
        return name

    def cancel(self, run: RunId, reason: str = "", *, after_ms: int = 0) -> None:
        """Ask a run to stop."""
        self.tell(run, CancelRun(0, reason), after_ms=after_ms)

    def answer(self, run: RunId, answer: AnswerGate, *, after_ms: int = 0) -> None:
        """Answer a gate; the time is stamped on it then."""
        self.tell(run, answer, after_ms=after_ms)

    def signal(self, run: RunId, signal: SignalRun, *, after_ms: int = 0) -> None:
        """Send a run a signal."""
        self.tell(run, signal, after_ms=after_ms)

    def pause(self, run: RunId, *, after_ms: int = 0) -> None:
        """Have a run begin nothing new."""
        self.tell(run, PauseRun(0), after_ms=after_ms)

    def unpause(self, run: RunId, *, after_ms: int = 0) -> None:
        """Have a run go on."""
        self.tell(run, UnpauseRun(0), after_ms=after_ms)

    def tell(self, run: RunId, message: Message, *, after_ms: int = 0) -> None:
        """Tell a run anything. It is stamped when it arrives; a run that is not there yet cannot be told anything."""

        def tell() -> None:
            if run in self.store.runs():
                self.deliver(run, msgspec.structs.replace(message, at=self.clock.now()))

        self._agenda.put(self.clock.steady + after_ms, tell)

    def top_up(self, amount: int) -> None:
        """Put credits into the project's account."""
        self.store.balance += amount

    def fork(
        self,
        run: RunId,
        entry: int,
        *,
        writes: dict[str, Json] | None = None,
        again: bool = False,
        credits: int = 0,
    ) -> RunId:
        """A new run that shares a run's history up to an entry. It goes on when time passes.

        `again`: what failed by then is done again, as a retry does at the end of a run."""
        history = shared_history([decode_entry(body) for body in self.store.journal(run)], entry)
        name = RunId(f"{run}-fork-{len(self.store.runs())}")
        begun = replay(Head(name, self.store.workflow(run)), history)
        everything = Touched()
        everything.everything(begun.state)
        sections = {name: body for name, body in encode_sections(begun.state, everything).items() if body is not None}
        self.store.share(name, run, [encode_entry(shared) for shared in history], sections)
        self._note_tokens(name, [decision for shared in history for decision in shared.decisions])
        fork = ForkRun(self.clock.now(), run, entry, history[-1].at, writes or {}, again, credits)
        self._agenda.put(self.clock.steady, lambda: self.deliver(name, fork))
        return name

    def run(self, most_steps: int = MOST_STEPS) -> bool:
        """Let time pass until nothing will happen any more; False after so many steps: something goes in circles."""
        for _ in range(most_steps):
            item = self._agenda.take()
            if item is None:
                return True
            at, act = item
            self.clock.pass_to(at)
            if at >= self.plan.storm_ms:
                self.faults.calm = True
            try:
                act()
            except Crashed as crash:
                self._go_down(crash.down_ms)
        return False

    def unfinished(self) -> list[RunId]:
        """The runs that have not ended. After `run` there should be none."""
        return [run for run in self.store.runs() if not self.store.has_ended(run)]

    # effects

    def start_task(self, run: RunId, effect: StartTask) -> None:
        self._observer.released(run, effect)
        _, path, visit = self._calls[run, effect.token]
        at = max(self.clock.now(), effect.at)
        call = ScriptedCall(run, effect.node, path, visit, effect.attempt, effect.input, self.store.workflow(run), at)
        self._workers.start((run, effect.token, effect.attempt), call)
        self._look_after_soon()

    def stop_task(self, run: RunId, effect: StopTask) -> None:
        self._observer.released(run, effect)
        self._workers.stop((run, effect.token, effect.attempt))

    def wake(self, run: RunId, at: int | None) -> None:
        if at is None:
            self._alarms.pop(run, None)
        elif self._alarms.get(run) != at:
            self._alarms[run] = at
            self._set_alarm(run, at)

    def deliver(self, run: RunId, message: Message) -> None:
        self.store.accept(run, message)
        self._stir(run)

    # the road of a batch

    def _stir(self, run: RunId) -> None:
        """Have the run take what waits for it, soon: what comes in until then is in the same batch."""
        if self._open and run not in self._stirred:
            self._stirred.add(run)
            self._put(self._pace.choice((0, 0, 0, 1, 2)), lambda: self._advance(run))

    def _advance(self, run: RunId) -> None:
        self._stirred.discard(run)
        waiting = self.store.inbox(run)
        if not waiting:
            return
        batch = (*self._began_since.pop(run, ()), *waiting.values())
        before = self.store.sections(run) if self._observer.looks_back or run not in self._live else None
        live = self._live.get(run) or self._loaded(run, before)
        program = self.program(run)
        commit = advance(program, live, batch, self.plan.moves)
        self._live[run] = live
        before_hash = self.store.last_hash(run)
        turn = turn_of(program, live, commit, before_hash, self._policy)
        self._may_crash("crash_before_commit")
        self._may_crash("commit_fails")
        own = ContinueRun(self.clock.now()) if commit.again else None
        self.store.commit(turn, tuple(waiting), own)
        self._note_tokens(run, commit.entry.decisions if commit.entry is not None else ())
        self._observer.committed(
            Step(run, program, self.plan.moves, before, before_hash, self._policy, batch, commit, turn, live)
        )
        self._may_crash("commit_unknown")
        self._may_crash("crash_after_commit")
        self._release(run, commit)

    def _release(self, run: RunId, commit: Commit) -> None:
        """Only now, after the commit, does anything leave."""
        for effect in commit.effects:
            match effect:
                case StartTask():
                    self.start_task(run, effect)
                case StopTask():
                    self.stop_task(run, effect)
                case SendMessage(to, CreditsAsked() | CreditsClosed()) if to == ACCOUNT:
                    self._stir(run)  # the account's answer is in the inbox since the commit
                case SendMessage():
                    self._stir(effect.run)  # it is in the inbox since the commit
            self._may_crash("crash_amid_effects")
        self.wake(run, commit.wake)
        if commit.again:
            self._stir(run)
        if commit.ended or self.faults.strikes("run_forgotten") is not None:
            self._live.pop(run, None)
        if commit.ended:
            self._fire_soon()
        self._disturb(run)

    def _disturb(self, run: RunId) -> None:
        """Troubles that may come at any time, and come here for want of a better moment."""
        stale = self.faults.strikes("alarm_stale")
        if stale is not None:
            self._put(stale.by_ms, lambda: self.deliver(run, AlarmRang(self.clock.now())))
        jump = self.faults.strikes("clock_jump")
        if jump is not None:
            self.clock.jump(jump.by_ms)
            for waiting, at in self._alarms.items():
                self._set_alarm(waiting, at)

    def _loaded(self, run: RunId, sections: Mapping[str, bytes] | None) -> LiveRun:
        if sections is None:
            return LiveRun(RunState(Head(run, self.store.workflow(run))))
        return load_run(sections)

    def program(self, run: RunId) -> Program:
        """The run's workflow, compiled."""
        name = self.store.workflow(run)
        if name not in self._programs:
            self._programs[name] = compile_definition(self._library, name)
        return self._programs[name]

    def _note_tokens(self, run: RunId, decisions: Iterable[Decision]) -> None:
        """Where each token stands, and how many stood there before it: what a script goes by."""
        for creation in _creations(decisions):
            place = (run, creation.node, creation.path)
            self._calls[run, creation.token] = (creation.node, creation.path, self._visits[place])
            self._visits[place] += 1

    # what comes back

    def _began(self, attempt: Attempt) -> None:
        """Rides on the next commit and causes none, so it is kept in memory only: a crash may forget it."""
        run, token, number = attempt
        self._began_since.setdefault(run, []).append(TaskStarted(self.clock.now(), token, number))

    def _answered(self, attempt: Attempt, answer: Answer) -> None:
        run, token, number = attempt
        if answer.publishes:
            self._publish(attempt, answer)
        delay = self.faults.strikes("delivery_delayed")
        if delay is not None:
            self._agenda.put(self.clock.steady + delay.by_ms, lambda: self._accept_answer(run, token, number, answer))
        else:
            self._accept_answer(run, token, number, answer)

    def _accept_answer(self, run: RunId, token: TokenId, attempt: int, answer: Answer) -> None:
        now = self.clock.now()
        if answer.suspended is not None:
            self.deliver(run, TaskSuspended(now, token, attempt, answer.suspended.until, answer.suspended.sleep))
        elif answer.failure is None:
            self.deliver(run, TaskFinished(now, token, attempt, answer.result))
        else:
            self.deliver(run, TaskFinished(now, token, attempt, failure=answer.failure))

    def _set_alarm(self, run: RunId, at: int) -> None:
        self._put(self.clock.steady_when(at) - self.clock.steady, lambda: self._ring(run, at))

    def _ring(self, run: RunId, at: int) -> None:
        """Never early, whatever was done to the clock; one that was set anew in the meantime is not this one."""
        if self._alarms.get(run) == at and self.clock.now() >= at:
            del self._alarms[run]
            self.deliver(run, AlarmRang(self.clock.now()))

    # crash and recovery

    def _may_crash(self, kind: FaultKind) -> None:
        fault = self.faults.strikes(kind)
        if fault is not None:
            raise Crashed(fault.by_ms)

    def _go_down(self, down_ms: int) -> None:
        self.crashes += 1
        self._open = False
        self._workers.lose_all()
        self._forget_everything()
        self._agenda.put(self.clock.steady + down_ms, self._come_up)

    def _forget_everything(self) -> None:
        self._life = object()
        self._live: dict[RunId, LiveRun] = {}
        self._alarms: dict[RunId, int] = {}
        self._began_since: dict[RunId, list[TaskStarted]] = {}
        self._stirred: set[RunId] = set()
        self._looking = False
        self._firing = False

    def _come_up(self) -> None:
        """The ordinary path: deliver what waits, set the alarms, ask after the tasks."""
        self._open = True
        for run in self.store.runs():
            row = self.store.row(run)
            if row is not None and row.status not in TERMINAL:
                self.wake(run, row.wake)
            if self.store.inbox(run):
                self._stir(run)
        self._fire_soon()
        self._look_after()

    def _look_after(self) -> None:
        """Whatever is dispatched without a live worker is dispatched again: now, and as long as there is any work."""
        self._looking = False
        for run in self.store.runs():
            for attempt in self._dispatched(run):
                self._look_after_soon()
                _, token, number = attempt
                if not self._workers.have(attempt) and not self._is_reported(run, token, number):
                    self.deliver(run, TaskLost(self.clock.now(), token, number))

    def _look_after_soon(self) -> None:
        if not self._looking:
            self._looking = True
            self._put(LOOK_AFTER_MS, self._look_after)

    def _dispatched(self, run: RunId) -> list[Attempt]:
        if self.store.row(run) is None or self.store.has_ended(run):
            return []
        live = self._live.get(run) or self._loaded(run, self.store.sections(run))
        return [
            (run, t.id, t.attempt) for t in live.state.tokens.values() if isinstance(t.phase, Dispatched | Executing)
        ]

    def _is_reported(self, run: RunId, token: TokenId, attempt: int) -> bool:
        return any(
            isinstance(message, TaskLost | TaskFinished) and (message.token, message.attempt) == (token, attempt)
            for message in self.store.inbox(run).values()
        )

    # triggers

    def _publish(self, attempt: Attempt, answer: Answer) -> None:
        """Durable by itself, whatever becomes of the answer; a call that is made again publishes nothing new."""
        run, token, number = attempt
        node = self._calls[run, token][0]
        for place, (event, data) in enumerate(answer.publishes):
            self.store.publish(ActionEvent(f"{run}:{token}:{number}:{place}", event, data, run, node))
        self._fire_soon()

    def _fire_soon(self) -> None:
        if self._open and not self._firing and self._triggers.are_due():
            self._firing = True
            self._put(self._pace.choice((0, 0, 1, 3)), self._fire)

    def _fire(self) -> None:
        """One transaction: what is fired, what the runs that caused it are told, and how far that was."""
        self._firing = False
        due = self._triggers.due(self.clock.now())
        self._may_crash("crash_before_commit")
        told = self.store.see_to(due.planned, due.heard, due.ended)
        self._may_crash("crash_after_commit")
        for run in told:
            self._stir(run)

    def _put(self, after_ms: int, act: Act) -> None:
        """On the agenda of this life: after a crash nobody remembers it."""
        life = self._life

        def act_if_still_alive() -> None:
            if self._life is life:
                act()

        self._agenda.put(self.clock.steady + after_ms, act_if_still_alive)


def _creations(decisions: Iterable[Decision]) -> list[CreateToken]:
    found: list[CreateToken] = []
    for decision in decisions:
        if isinstance(decision, CreateToken):
            found.append(decision)
        elif isinstance(decision, CreateTokens):
            found += decision.tokens
    return found

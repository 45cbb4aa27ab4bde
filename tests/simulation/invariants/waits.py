"""Every parked token has a reason and a waker, and nothing waits for somebody who is not there.

Looks at the whole state after every commit, and at what is stored of other runs: for small runs.
"""

from collections.abc import Iterable

from jeton.apply.timers import Timers
from jeton.hosts.simulated.observer import Step
from jeton.hosts.simulated.world import World
from jeton.model import decision as d
from jeton.model.definition.workflow import GateTarget
from jeton.model.effect import SendMessage
from jeton.model.ids import RunId
from jeton.model.message import CancelRun, ChildEnded, Message, StartRun
from jeton.model.state.credits import ACCOUNT
from jeton.model.state.phase import (
    Asking,
    Dispatched,
    Executing,
    WaitingForGate,
    WaitingForRetry,
    WaitingForSignal,
    WaitingForSubworkflow,
    WaitingForTimer,
)
from jeton.model.state.run import TERMINAL, RunState, Token
from tests.simulation.invariants.seen import broken
from tests.simulation.stories.naps import sleeps_until


class Waits:
    """One world, all its runs."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._paused: dict[RunId, bool] = {}
        self._sent: dict[RunId, list[Message]] = {}

    def committed(self, step: Step) -> None:
        """To be called when a commit is durable and nothing of it has left yet."""
        self._timers(step)
        self._nothing_begins_while_paused(step)
        self._messages_are_stored(step)
        state = step.live.state
        for token in state.tokens.values():
            self._has_waker(step, token)
        _waiters_are_listed(state)
        if state.head.ended:
            self._leaves_nothing_behind(step)

    def over(self) -> None:
        """To be called when nothing will happen any more."""
        for run in self._world.store.runs():
            row = self._world.store.row(run)
            if row is None or row.status not in TERMINAL:
                broken(f"run {run} has not ended: {row}")
            if row.wake is not None:
                broken(f"run {run} has ended and wants to be woken at {row.wake}")
            if self._world.store.inbox(run):
                broken(f"run {run} has messages nobody took: {self._world.store.inbox(run)}")

    def _timers(self, step: Step) -> None:
        """The alarm is the soonest of all deadlines in the state, and none of them is missing from the heap."""
        state = step.live.state
        wanted = [] if state.head.ended else list(_deadlines(state))
        if step.turn.wake != min(wanted, default=None):
            broken(f"the alarm is at {step.turn.wake}, and deadlines are at {sorted(wanted)}")
        if step.turn.entry is not None and step.turn.row.wake != step.turn.wake:
            broken(f"the alarm is at {step.turn.wake}, and the row says {step.turn.row.wake}")
        kept = _heap(step.live.timers)
        missing = [due for due in wanted if due not in kept]
        if missing:
            broken(f"deadlines {missing} are in the state, and no timer is set for them")

    def _nothing_begins_while_paused(self, step: Step) -> None:
        paused = self._paused.get(step.run, False)
        for decision in step.entry.decisions if step.entry is not None else ():
            match decision:
                case d.SetPaused(paused=paused):
                    pass
                case (
                    d.DispatchToken()
                    | d.WakeToken()
                    | d.CallWorkflow()
                    | d.OpenGate()
                    | d.WaitForSignal()
                    | d.WaitForTimer()
                    | d.ContinueTask(paused=False)
                ):
                    if paused:
                        broken(f"a paused run begins something: {decision}")
                case _:
                    pass
        self._paused[step.run] = step.live.state.head.paused

    def _messages_are_stored(self, step: Step) -> None:
        for effect in step.turn.effects:
            if not isinstance(effect, SendMessage) or effect.run == ACCOUNT:
                continue  # an account answers at once, and keeps no inbox
            if effect.message not in self._inbox(effect.run):
                broken(f"a commit says something to run {effect.run} that is not in its inbox: {effect.message}")

    def _inbox(self, run: RunId) -> list[Message]:
        return list(self._world.store.inbox(run).values())

    def _has_waker(self, step: Step, token: Token) -> None:
        state = step.live.state
        match token.phase:
            case WaitingForSubworkflow(child=child):
                if child not in self._world.store.runs():
                    broken(f"token {token.id} waits for run {child}, which nobody started")
                row = self._world.store.row(child)
                if row is None and not any(isinstance(m, StartRun) for m in self._inbox(child)):
                    broken(f"token {token.id} waits for run {child}, which will not begin")
                ended = row is not None and row.status in TERMINAL
                if ended and not any(isinstance(m, ChildEnded) and m.child == child for m in self._inbox(step.run)):
                    broken(f"token {token.id} waits for run {child}, which has ended without a word")
            case Asking(answers=answers):
                if answers or token.continuation is None or token.abandoned:
                    broken(f"token {token.id} asks what is answered, without a task to tell it, or for nobody")
            case WaitingForGate(answers=answers):
                target = step.program.nodes[token.node].definition.target
                if not isinstance(target, GateTarget) or len(answers) >= target.approvals:
                    broken(f"token {token.id} waits at a gate that has its answers: {answers}")
                if token.abandoned:
                    broken(f"token {token.id} is abandoned, and a gate is no work")
            case WaitingForSignal(name=name, names=names):
                if token.abandoned:
                    broken(f"token {token.id} is abandoned, and a wait for a signal is no work")
                for each in names or (name,):
                    if state.signals.get(each):
                        broken(f"token {token.id} waits for '{each}', and {state.signals[each]} are kept")
            case _:
                pass

    def _leaves_nothing_behind(self, step: Step) -> None:
        """Children end with their parents: each has ended, or has been told to."""
        for run in self._world.store.runs():
            row = self._world.store.row(run)
            if not run.startswith(f"{step.run}.") or (row is not None and row.status in TERMINAL):
                continue
            parent = RunId(run.rpartition(".")[0])
            told = any(isinstance(m, CancelRun) for m in self._inbox(run))
            if parent == step.run and not told:
                broken(f"run {step.run} has ended, and its child {run} was not told")
        state = step.live.state
        if any(state.signals.values()) or state.early or state.heard or any(state.waiters.values()):
            broken(f"run {step.run} has ended and keeps what nobody will take")


def _waiters_are_listed(state: RunState) -> None:
    waiting: dict[str, list[tuple[int, int]]] = {}
    for token in state.tokens.values():
        if isinstance(token.phase, WaitingForSignal) and not token.abandoned:
            for name in token.phase.names or (token.phase.name,):
                waiting.setdefault(name, []).append((token.phase.turn, token.id))
    listed = {name: list(waiters) for name, waiters in state.waiters.items() if waiters}
    if listed != {name: [token for _, token in sorted(found)] for name, found in waiting.items()}:
        broken(f"{waiting} wait for signals, and {listed} are listed")


def _deadlines(state: RunState) -> Iterable[int]:
    """Read off the state, without looking at how the engine does it."""
    if state.head.deadline is not None:
        yield state.head.deadline
    for token in state.tokens.values():
        if (due := sleeps_until(token)) is not None:
            if not state.head.paused:
                yield due
            continue
        match token.phase:
            case Executing(deadline=due) | WaitingForTimer(due=due):
                yield due
            case WaitingForRetry(due=due) | Dispatched(deadline=due):
                if not state.head.paused:
                    yield due
            case WaitingForGate(deadline=int() as due) | WaitingForSignal(deadline=int() as due):
                yield due
            case WaitingForSubworkflow(deadline=int() as due):
                yield due
            case _:
                pass
    for progress in state.progress.values():
        yield from (fan_in.deadline for fan_in in progress.fan_ins.values() if fan_in.deadline is not None)


def _heap(timers: Timers) -> set[int]:
    return {entry[0] for entry in timers._heap}  # pyright: ignore[reportPrivateUsage]  # the index is what is checked

"""What must hold after every commit of every run, on every host.

A host shows what it stored, the entry read back from it, and the run in memory. Each check looks only at what the
commit changed, so a run of a hundred thousand tokens is watched as cheaply, per commit, as one of ten.
"""

from jeton.apply.record import count_events, facts_of
from jeton.model.decision import (
    ContinueTask,
    CreateToken,
    CreateTokens,
    Decision,
    DispatchToken,
    EndRun,
    RedeliverToken,
    WakeToken,
)
from jeton.model.effect import Effect, SendMessage, StartTask, StopTask
from jeton.model.event import Fact, RunCancelled, RunCompleted, RunExhausted, RunFailed, RunTimedOut
from jeton.model.ids import TokenId
from tests.simulation.invariants.fan_ins import FanIns
from tests.simulation.invariants.seen import Seen, broken, named_in
from tests.simulation.invariants.stops import Stops
from tests.simulation.invariants.tokens import Tokens
from tests.simulation.invariants.wakers import Wakers

LARGEST_SECTION = 1_000_000
TERMINAL = (RunCompleted, RunFailed, RunCancelled, RunTimedOut, RunExhausted)


class RunInvariants:
    """All of them, for one run."""

    def __init__(self) -> None:
        self._entries = 0
        self._events = 0
        self._ended = False
        self._dispatched: dict[TokenId, tuple[int, int]] = {}
        self._tokens = Tokens()
        self._fan_ins = FanIns()
        self._wakers = Wakers()
        self._stops = Stops()

    def committed(self, seen: Seen) -> None:
        """To be called once a commit is durable and before anything of it leaves."""
        if self._ended:
            broken("terminal is for ever, and there was another commit")
        facts = [fact for decision in seen.entry.decisions for fact in facts_of(decision)]
        self._in_sequence(seen, facts)
        self._one_end(seen, facts)
        self._within_limits(seen)
        self._tokens.committed(seen)
        self._fan_ins.committed(seen)
        self._wakers.committed(seen)
        if seen.effects is not None:
            self._stops.committed(seen, seen.effects)
        for decision in seen.entry.decisions:
            if type(decision) in self._followed:
                self._dispatch(decision)

    def _dispatch(self, decision: Decision) -> None:
        match decision:
            case DispatchToken(token, attempt=attempt):
                self._dispatched[token] = (attempt, 1)
            case WakeToken(token, attempt=attempt) | ContinueTask(token, attempt=attempt, paused=False):
                self._dispatched[token] = (attempt, 1)
            case RedeliverToken(token, attempt=attempt, deliveries=deliveries):
                self._dispatched[token] = (attempt, deliveries)
            case _:
                pass

    def released(self, effect: Effect) -> None:
        """To be called as an effect leaves: its commit must be durable by then."""
        if isinstance(effect, SendMessage):
            return
        known = self._dispatched.get(effect.token, (0, 0))
        match effect:
            case StartTask(attempt=attempt, delivery=delivery):
                if (attempt, delivery) > known:
                    broken(f"token {effect.token} is given to a worker and no commit says so")
            case StopTask(attempt=attempt):
                if attempt > known[0]:
                    broken(f"token {effect.token} is stopped and no commit ever started it")

    def _in_sequence(self, seen: Seen, facts: list[Fact]) -> None:
        entry, head = seen.entry, seen.run.state.head
        if entry.number != self._entries or seen.turn.entry is None or seen.turn.entry.number != entry.number:
            broken(f"entry {entry.number} comes after {self._entries} others")
        if entry.first_event != self._events:
            broken(f"events begin at {entry.first_event}, and {self._events} were before them")
        if count_events(entry.decisions) != len(facts):
            broken(f"{count_events(entry.decisions)} events were counted and {len(facts)} are there")
        self._entries += 1
        self._events += len(facts)
        if (head.entries, head.events) != (self._entries, self._events):
            broken(f"the head counts {head.entries} entries and {head.events} events")

    def _one_end(self, seen: Seen, facts: list[Fact]) -> None:
        head, decisions = seen.run.state.head, seen.entry.decisions
        ends = [number for number, fact in enumerate(facts) if isinstance(fact, TERMINAL)]
        if ends and ends != [len(facts) - 1]:
            broken("the one terminal event is the last event")
        if bool(ends) != head.ended or seen.turn.row.status != head.status:
            broken(f"the run is {head.status}, its row {seen.turn.row.status}, with {len(ends)} terminal events")
        last = decisions[-1]
        if isinstance(last, EndRun) and last.broken:
            broken(f"a decision contradicted the state: {last.error}")
        self._ended = head.ended

    def _within_limits(self, seen: Seen) -> None:
        workflow, head = seen.program.workflow, seen.run.state.head
        if head.executions > workflow.limits.max_node_executions:
            broken(f"{head.executions} node executions, past the limit")
        if head.busy + head.parked > workflow.limits.max_tokens:
            broken(f"{head.busy + head.parked} tokens at once, past the limit")
        purse = head.purse
        if purse is not None and min(purse.free, purse.used, purse.shortfall, purse.asked) < 0:
            broken(f"credits are never negative: {purse}")
        for name, body in seen.turn.sections.items():
            if body is not None and len(body) > LARGEST_SECTION:
                broken(f"section {name} has {len(body)} bytes")
        for decision in seen.entry.decisions:
            match decision:
                case CreateToken():
                    self._loops_within_limits(seen, decision)
                case CreateTokens():
                    for creation in decision.tokens:
                        self._loops_within_limits(seen, creation)
                case _:
                    pass

    def _loops_within_limits(self, seen: Seen, creation: CreateToken) -> None:
        for transition, count in creation.loops.items():
            most = seen.program.transitions[transition].max_iterations
            if most is None or count > most:
                broken(f"token {creation.token} followed transition {transition} {count} times of {most}")

    _followed = named_in(_dispatch)

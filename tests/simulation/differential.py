"""The engine and the oracle side by side: every message a commit of the engine answered is told to the oracle too.

Late and doubled answers are told as well, since both have to ignore them. Two things the oracle knows nothing of are
worked out here: deliveries (tasks-and-actions.md#deliveries: the fifth without an answer is a failure) and the deadline
of a task once it has begun.
"""

from collections import Counter
from copy import deepcopy
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET

from jeton.hosts.simulated.observer import Step
from jeton.model import message as m
from jeton.model.failure import TaskFailed
from jeton.model.ids import TokenId
from jeton.model.json import Json
from jeton.model.state.phase import Dispatched, Executing, WaitingForRetry, WaitingForTimer
from jeton.model.state.run import RunState
from tests.simulation.oracle.settled import SettledOracle
from tests.simulation.token_view import TokenView

MOST_DELIVERIES = 5
Attempt: TypeAlias = tuple[TokenId, int]
Open: TypeAlias = tuple[str, str, int, bytes]
"""A call as both sides see it: node, path, attempt, input."""


class Disagreement(AssertionError):
    """Engine and oracle read the same messages differently."""


class Twin:
    """The oracle of one run, and what it takes to tell it what the engine was told."""

    def __init__(self, workflow: dict[str, Any], tasks: dict[str, Any]) -> None:
        limits = {k: v for k, v in workflow.get("limits", {}).items() if k != "max_tokens"}
        self.oracles = [SettledOracle({**workflow, "limits": limits}, tasks)]  # more than one: either may be right
        self._tasks_timeout = {name: int(task["timeout_ms"]) for name, task in tasks.items()}
        self._workflow = workflow
        self._tokens = TokenView()
        self._keys: dict[Attempt, int] = {}
        self._work: dict[Attempt, Dispatched | Executing] = {}
        self._nodes: dict[TokenId, str] = {}

    def committed(self, step: Step) -> None:
        """Tell the oracle the batch, and compare."""
        error = step.live.state.head.error
        if error is not None and error.message.startswith("max_tokens"):
            return  # token-graphs.md#limits: the two count differently, so the oracle is not told of this limit
        if step.entry is not None:
            self._tokens.take(step.entry.decisions)
        if self._tokens.mixed:
            return  # token-graphs.md#nested-slots: from here on the two may hold different outputs
        for message in step.batch:
            self._tell(message)
        self._keep_those_that_agree(step)
        if not step.turn.ended:
            self._meet_new_calls(step.live.state)

    # telling

    def _tell(self, message: m.Message) -> None:
        match message:
            case m.StartRun(at, given):
                for oracle in self.oracles:
                    oracle.start(deepcopy(given) if isinstance(given, dict) else {}, at)
            case m.TaskFinished():
                self._tell_answer(message)
            case m.TaskStarted(at, token, attempt):
                self._begin(at, (token, attempt))
            case m.TaskLost(at, token, attempt):
                self._lose(at, (token, attempt))
            case m.AlarmRang(at, wall):
                self._ring(at, at if wall is None else wall)
            case m.CancelRun(at, reason):
                for oracle in self.oracles:
                    oracle.cancel(reason, at)
            case _:
                raise NotImplementedError(f"{message} is not told to the oracle")

    def _tell_answer(self, message: m.TaskFinished) -> None:
        attempt = (message.token, message.attempt)
        self._work.pop(attempt, None)
        if attempt not in self._keys:
            return  # begun and withdrawn within one batch: neither side ever showed it
        if message.failure is not None:
            self._fail(attempt, message.failure, message.at)
            return
        for oracle in self.oracles:
            oracle.finish(self._keys[attempt], None if message.result is UNSET else message.result, message.at)

    def _fail(self, attempt: Attempt, failure: TaskFailed, at: int) -> None:
        for oracle in self.oracles:
            oracle.fail(self._keys[attempt], _told(failure), at)

    def _timeout(self, token: TokenId) -> int:
        return self._tasks_timeout[self._workflow["nodes"][self._nodes[token]]["task"]]

    def _begin(self, at: int, attempt: Attempt) -> None:
        phase = self._work.get(attempt)
        if isinstance(phase, Dispatched):
            self._work[attempt] = Executing(at, at + self._timeout(attempt[0]), phase.deliveries)

    def _lose(self, at: int, attempt: Attempt) -> None:
        phase = self._work.get(attempt)
        if phase is None:
            return
        if phase.deliveries < MOST_DELIVERIES:
            self._work[attempt] = Dispatched(at, at + self._timeout(attempt[0]), phase.deliveries + 1)
        else:
            del self._work[attempt]
            self._fail(attempt, TaskFailed("worker_lost", "nobody answered"), at)

    def _ring(self, now: int, wall: int) -> None:
        """Task deadlines and the oracle's own timers, in the order they were due; in either order if on the same ms."""
        due = sorted((phase.deadline, attempt) for attempt, phase in self._work.items() if phase.deadline <= now)
        late = [(deadline, attempt) for deadline, attempt in due if isinstance(self._work[attempt], Executing)]
        tied = {oracle.next_due() for oracle in self.oracles} & {deadline for deadline, _ in late}
        if tied:
            self.oracles += deepcopy(self.oracles)
        for number, oracle in enumerate(self.oracles):
            task_first = not tied or number < len(self.oracles) // 2
            for deadline, attempt in late:
                oracle.ring_until(now, deadline - task_first, wall)
                oracle.fail(self._keys[attempt], _told(TaskFailed("timed_out", "it took too long")), now)
            oracle.alarm(now, wall)
        for _, attempt in late:
            del self._work[attempt]

    # comparing

    def _keep_those_that_agree(self, step: Step) -> None:
        objections: list[Disagreement] = []
        for oracle in self.oracles[:]:
            try:
                self._compare(oracle, step.live.state)
            except Disagreement as objection:
                objections.append(objection)
                self.oracles.remove(oracle)
        if not self.oracles:
            raise objections[0]
        del self.oracles[1:]

    def _compare(self, oracle: SettledOracle, state: RunState) -> None:
        head = state.head
        self._same("status", head.status, oracle.status)
        self._same("open calls", sorted(self._open_calls(state).elements()), _calls(oracle))
        self._same("state", state.state, oracle.state)
        self._same("output section", state.output, oracle.out)
        if head.ended:
            error = None if oracle.error is None else oracle.error["type"]
            self._same("error", None if head.error is None else head.error.type, error)
            self._same("output", None if head.result is UNSET else head.result, oracle.output)
            shown = Counter((token.node, token.path, token.status) for token in oracle.tokens)
            self._same("tokens", _listed(self._tokens.ended), _listed(shown))
        else:
            self._same("next timer", _next_timer(state), oracle.next_due())

    def _same(self, what: str, engine: Any, oracle: Any) -> None:
        if _plain(engine) != _plain(oracle):
            raise Disagreement(f"{what}:\n  engine {_plain(engine).decode()}\n  oracle {_plain(oracle).decode()}")

    def _open_calls(self, state: RunState) -> Counter[Open]:
        return Counter(self._signature(state, attempt) for attempt in _working(state))

    def _signature(self, state: RunState, attempt: Attempt) -> Open:
        token = state.tokens[attempt[0]]
        return token.node, token.path, token.attempt, _plain(state.input if token.input is UNSET else token.input)

    def _meet_new_calls(self, state: RunState) -> None:
        """Which of the oracle's calls each new one of the engine's is: by what it looks like, the older first."""
        known = set(self._keys.values())
        unmet: dict[Open, list[int]] = {}
        for call in self.oracles[0].calls():
            if call.key not in known:
                unmet.setdefault((call.node, call.path, call.attempt, _plain(call.input)), []).append(call.key)
        self._work = _working(state)
        for attempt in sorted(self._work):
            if attempt not in self._keys:
                self._keys[attempt] = unmet[self._signature(state, attempt)].pop(0)
                self._nodes[attempt[0]] = state.tokens[attempt[0]].node


def _working(state: RunState) -> dict[Attempt, Dispatched | Executing]:
    return {
        (token.id, token.attempt): token.phase
        for token in state.tokens.values()
        if isinstance(token.phase, Dispatched | Executing)
    }


def _next_timer(state: RunState) -> int | None:
    """The soonest that is not a task's deadline, which the oracle does not keep."""
    due = [t.phase.due for t in state.tokens.values() if isinstance(t.phase, WaitingForTimer | WaitingForRetry)]
    due += [f.deadline for p in state.progress.values() for f in p.fan_ins.values() if f.deadline is not None]
    due += [] if state.head.deadline is None else [state.head.deadline]
    return min(due, default=None)


def _calls(oracle: SettledOracle) -> list[Open]:
    return sorted((call.node, call.path, call.attempt, _plain(call.input)) for call in oracle.calls())


def _told(failure: TaskFailed) -> dict[str, Any]:
    return {"step": failure.step, "type": failure.type, "message": failure.message, "retry": failure.retry}


def _listed(tokens: Counter[tuple[str, str, str]]) -> list[str]:
    return sorted(f"{node}@{path} {status}" for node, path, status in tokens.elements())


def _plain(value: Json) -> bytes:
    return msgspec.json.encode(value, order="deterministic")

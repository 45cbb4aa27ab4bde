"""The engine and the oracle side by side: every message a commit of the engine answered is told to the oracle too.

Late and doubled answers are told as well, since both have to ignore them.
"""

from collections import Counter
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET

from jeton.hosts.simulated.observer import Step
from jeton.model import message as m
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.state.phase import Dispatched, Executing
from jeton.model.state.run import RunState
from tests.simulation.oracle.settled import SettledOracle
from tests.simulation.token_view import TokenView

Attempt: TypeAlias = tuple[TokenId, int]
Open: TypeAlias = tuple[str, str, int, bytes]
"""A call as both sides see it: node, path, attempt, input."""


class Disagreement(AssertionError):
    """Engine and oracle read the same messages differently."""


class Twin:
    """The oracle of one run, and what it takes to tell it what the engine was told."""

    def __init__(self, run: RunId, workflow: dict[str, Any], tasks: dict[str, Any]) -> None:
        limits = {k: v for k, v in workflow.get("limits", {}).items() if k != "max_tokens"}
        self.oracle = SettledOracle({**workflow, "limits": limits}, tasks)
        self._run = run
        self._tokens = TokenView()
        self._keys: dict[Attempt, int] = {}

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
        self._compare(step.live.state)
        if not step.turn.ended:
            self._meet_new_calls(step.live.state)

    # telling

    def _tell(self, message: m.Message) -> None:
        oracle = self.oracle
        match message:
            case m.StartRun(at, given):
                oracle.start(deepcopy(given) if isinstance(given, dict) else {}, at, facts_of(self._run, at))
            case m.TaskFinished(at, token, attempt, result, failure):
                key = self._keys.get((token, attempt))
                if key is None:
                    return  # begun and withdrawn within one batch: neither side ever showed it
                if failure is None:
                    oracle.finish(key, None if result is UNSET else result, at)
                else:
                    oracle.fail(key, _told(failure), at)
            case m.TaskStarted(at, token, attempt):
                if (token, attempt) in self._keys:
                    oracle.begin(self._keys[token, attempt], at)
            case m.TaskLost(at, token, attempt):
                if (token, attempt) in self._keys:
                    oracle.lose(self._keys[token, attempt], at)
            case m.AlarmRang(at, wall):
                oracle.alarm(at, at if wall is None else wall)
            case m.CancelRun(at, reason):
                oracle.cancel(reason, at)
            case _:
                raise NotImplementedError(f"{message} is not told to the oracle")

    # comparing

    def _compare(self, state: RunState) -> None:
        head, oracle = state.head, self.oracle
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
        for call in self.oracle.calls():
            if call.key not in known:
                unmet.setdefault((call.node, call.path, call.attempt, _plain(call.input)), []).append(call.key)
        for attempt in sorted(_working(state)):
            if attempt not in self._keys:
                self._keys[attempt] = unmet[self._signature(state, attempt)].pop(0)


def facts_of(run: RunId, started_at: int) -> dict[str, Any]:
    """expressions.md#run: of a run that nobody gave a key, started by hand from the first version."""
    moment = datetime.fromtimestamp(started_at / 1000, UTC).isoformat(timespec="milliseconds")
    shown = moment.replace("+00:00", "Z")
    facts = {"id": run, "root_id": run, "workflow": "w", "version": 1, "key": None}
    return {**facts, "started_at": shown, "trigger": None}


def _working(state: RunState) -> list[Attempt]:
    tokens = state.tokens.values()
    return [(token.id, token.attempt) for token in tokens if isinstance(token.phase, Dispatched | Executing)]


def _next_timer(state: RunState) -> int | None:
    due = [token.phase.wakes_at for token in state.tokens.values() if token.phase.wakes_at is not None]
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

"""An independent oracle: a slow, obvious interpreter of token graphs to check the engine against.

It follows docs/semantics alone, and cites its files and headings. It is a step machine: whoever drives it answers the
calls, moves the clock and cancels, in any order, so that every schedule and every fault can be replayed into it.
Everything is found by scanning; nothing is counted ahead.

    oracle_model       the records           oracle_scope    what expressions see, where mappings write
    oracle_expression  `tiny_evaluate`       oracle_routing  finished and failed nodes, routing, fan-out
    oracle_graph       the definition        oracle_slots    slots, fan-ins, lost branches
    oracle_merge       the merge strategies  (here)          beginning nodes, timers, the life of the run"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from tests.simulation.oracle.expression import tiny_evaluate
from tests.simulation.oracle.graph import node_of
from tests.simulation.oracle.model import (
    Call,
    Evaluate,
    ExpressionFault,
    FanIn,
    MissingKey,
    NodeFailed,
    Object,
    Run,
    RunFailed,
    Token,
    abandoned,
    chain,
    limit_error,
    make_token,
)
from tests.simulation.oracle.routing import fail_node, finish_node, target_of
from tests.simulation.oracle.scope import count_in, mapped, node_input, scope_of, value_of
from tests.simulation.oracle.slots import fan_in_timed_out, one_consequence

__all__ = ["Call", "ExpressionFault", "MissingKey", "Oracle", "Timer", "Token", "is_point", "tiny_evaluate"]

Timer: TypeAlias = tuple[int, int, Callable[[], None], bool]
"""When it is due, the order of creation, what it does, and whether it is a point in time."""

DEFAULT_TASK_TIMEOUT_MS = 600_000  # tasks-and-actions.md#four-timeouts: 10 minutes by default


class Oracle:
    def __init__(self, workflow: Object, tasks: Object, evaluate: Evaluate = tiny_evaluate) -> None:
        self.run = Run(workflow=deepcopy(workflow), tasks=deepcopy(tasks), evaluate=evaluate)

    # ---- what can be told ----

    def start(self, input: Object, now: int, facts: Object | None = None) -> None:
        run = self.run
        run.status, run.input, run.facts = "running", deepcopy(input), deepcopy(facts or {})
        timeout_ms = run.workflow.get("timeout_ms")
        if timeout_ms is not None:
            # token-graphs.md#numbers-from-data: of a workflow at the start, reading `input` and `run`.
            try:
                allowed_ms = count_in(run, "timeout_ms", timeout_ms, {"input": run.input, "run": run.facts})
            except NodeFailed as failed:
                self._end("failed", failed.failure)
                return
            run.due = now + allowed_ms
        first = run.workflow["initial_node"]
        self._step(
            now, lambda: make_token(run, node=first, path="root", parent=None, slot=None, loops={}, last_error=None)
        )

    def finish(self, key: int, result: Any, now: int) -> None:
        token = self._token_called(key)
        if token is not None:
            self._step(now, lambda: finish_node(self.run, token, deepcopy(result)))

    def fail(self, key: int, failure: Object, now: int) -> None:
        token = self._token_called(key)
        if token is not None:
            self._step(now, lambda: self._attempt_failed(token, deepcopy(failure)))

    def alarm(self, now: int, wall: int | None = None) -> None:
        """Fire everything due, one timer and all that follows from it after the other.

        durability.md#clocks: points in time follow the system clock, which shows `wall`."""
        shown = now if wall is None else wall
        while self._alive():
            due = sorted(
                (one for one in self._timers() if one[0] <= (shown if one[3] else now)), key=lambda one: one[:2]
            )
            if not due:
                return
            self._step(now, due[0][2])

    def cancel(self, reason: str, now: int) -> None:
        if self._alive():
            self.run.now = now
            self._end("cancelled", {"type": "cancelled", "message": reason})

    # ---- what can be asked ----

    def calls(self) -> list[Call]:
        return sorted((token.call for token in self._dispatched() if token.call is not None), key=lambda call: call.key)

    def next_due(self) -> int | None:
        return min((due for due, *_ in self._timers()), default=None)

    @property
    def status(self) -> str:
        run = self.run
        if run.status != "running":
            return run.status
        # token-graphs.md#run-status: `waiting`: no token is pending, dispatched or executing, and at least one is
        # parked (retry backoff counts).
        return "running" if any(token.status in ("pending", "dispatched") for token in run.tokens) else "waiting"

    @property
    def output(self) -> Object | None:
        return deepcopy(self.run.output)

    @property
    def error(self) -> Object | None:
        return deepcopy(self.run.error)

    @property
    def state(self) -> Object:
        return deepcopy(self.run.state)

    @property
    def out(self) -> Object:
        return deepcopy(self.run.out)

    @property
    def tokens(self) -> list[Token]:
        return list(self.run.tokens)

    # ---- one step, and all that moves by itself after it ----

    def _step(self, now: int, action: Callable[[], Any]) -> None:
        self.run.now = now
        try:
            action()
            self._settle()
        except RunFailed as failed:
            self._end("failed", failed.error)

    def _settle(self) -> None:
        """Consequences first, then the oldest token that can begin, until nothing moves."""
        run = self.run
        while self._alive():
            while one_consequence(run):
                pass
            # token-graphs.md#routing: The last active token ending completes the run; an abandoned slot does not hold
            # the run open.
            if all(token.ended or abandoned(token.slot) for token in run.tokens):
                self._complete()
                return
            ready = [token for token in run.tokens if token.status == "pending"]
            if not ready:
                return
            self._begin(ready[0])

    def _begin(self, token: Token) -> None:
        run = self.run
        # token-graphs.md#limits: node executions in all; past one the run fails, naming it.
        limit = run.workflow.get("limits", {}).get("max_node_executions", 1_000_000)
        run.begun.append(token.node)
        if len(run.begun) > limit:
            raise RunFailed(limit_error("max_node_executions", limit, token.node))
        node = node_of(run.workflow, token.node)
        try:
            token.input = node_input(run, token, node)
            due = self._wait_until(token, node["wait"]) if target_of(node) == "wait" else None
        except NodeFailed as failed:
            fail_node(run, token, failed.failure, "failed")
            return
        match target_of(node):
            case None:
                # expressions.md#defaults-of-mappings: A node without a target has the mapped input as its `result`.
                finish_node(run, token, deepcopy(token.input))
            case "task" | "action":
                self._dispatch(token)
            case "wait":
                token.status, token.due, token.timer = "waiting_for_timer", due, run.next_timer()
            case "end":
                self._end_by(token, node["end"])
            case other:
                raise NotImplementedError(f"node target {other!r}")

    def _end_by(self, token: Token, end: Any) -> None:
        """token-graphs.md#ends: the run ends so at once, whatever else is under way is cancelled."""
        if end == "completed":
            token.status = "completed"
            self._complete()
            return
        try:
            message = rendered(self.run, end["failed"].get("message", ""), scope_of(self.run, token))
        except NodeFailed as failed:
            fail_node(self.run, token, failed.failure, "failed")
            return
        # "A failed end is no failure to be routed, and no branch is lost by it."
        token.status = "failed"
        raise RunFailed({"type": end["failed"]["type"], "message": message, "node": token.node})

    def _wait_until(self, token: Token, wait: Object) -> int:
        run = self.run
        scope = scope_of(run, token)
        if "seconds" in wait:
            seconds = value_of(run, wait["seconds"], scope)
            if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not math.isfinite(seconds):
                raise NodeFailed("bad_wait", f"seconds is {seconds!r}, which is not a number")
            if seconds < 0:
                raise NodeFailed("bad_wait", f"seconds is {seconds!r}, which is less than nothing")
            return run.now + round(seconds * 1000)
        until = value_of(run, wait["until"], scope)
        try:
            moment = datetime.fromisoformat(str(until))
            return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
        except (TypeError, ValueError) as wrong:
            raise NodeFailed("bad_wait", f"until is {until!r}, which is not a time with a zone") from wrong

    def _dispatch(self, token: Token) -> None:
        # token-graphs.md#numbers-from-data: of a task when an attempt begins, reading the task's `input`, and `run`.
        written = self._task(token).get("timeout_ms", DEFAULT_TASK_TIMEOUT_MS)
        scope: Object = {"input": token.input, "run": self.run.facts}
        try:
            token.allowed_ms = count_in(self.run, "timeout_ms", written, scope)
        except NodeFailed as failed:
            fail_node(self.run, token, failed.failure, "failed")
            return
        key = self.run.next_key()
        token.call = Call(key, token.node, token.path, token.attempt, deepcopy(token.input))
        token.status, token.due = "dispatched", None
        token.since, token.begun, token.deliveries = self.run.now, False, 1

    def _dispatched(self) -> list[Token]:
        return [token for token in self.run.tokens if token.status == "dispatched"] if self._alive() else []

    def _token_called(self, key: int) -> Token | None:
        """token-graphs.md#run-status: Terminal is for ever: later results, errors and cancels change nothing."""
        return next((token for token in self._dispatched() if token.call is not None and token.call.key == key), None)

    def _task(self, token: Token) -> Object:
        task = node_of(self.run.workflow, token.node).get("task")
        if isinstance(task, str):
            return dict(self.run.tasks.get(task.split("@")[0]) or {})
        return dict(task or {})  # inline, or an action, which has no retry here

    def _attempt_failed(self, token: Token, failure: Object) -> None:
        run = self.run
        if failure.get("type") == "timed_out" or failure.get("timed_out"):
            # tasks-and-actions.md#four-timeouts: the token ends `timed_out`, no business retry;
            # token-graphs.md#failures: A task timeout can be handled through `_last_error` like any failure.
            fail_node(run, token, {**failure, "type": "timed_out"}, "timed_out")
            return
        policy = self._task(token).get("retry")
        again = policy is not None and bool(failure.get("retry")) and token.attempt < policy.get("max_attempts", 1)
        # token-graphs.md#abandoned-slots: what arrives late, result or error, is ignored: an abandoned task is not
        # tried again.
        if again and policy is not None and not abandoned(token.slot):
            # tasks-and-actions.md#two-kinds-of-retry: the delay is an alarm, so no worker waits.
            token.status, token.timer = "waiting_for_retry", run.next_timer()
            token.due = run.now + retry_delay_ms(policy, token.attempt)
            return
        fail_node(run, token, failure, "failed")

    # ---- timers ----

    def _timers(self) -> list[Timer]:
        """Everything that rings."""
        run = self.run
        if not self._alive():
            return []
        timers: list[Timer] = []
        if run.due is not None:
            timers.append((run.due, 0, self._run_timed_out, False))
        for token in run.tokens:
            if token.due is not None and token.status in ("waiting_for_timer", "waiting_for_retry"):
                timers.append((token.due, token.timer, self._ring(token), is_point(run, token)))
        for group in run.groups:
            if any(slot.state != "live" for slot in chain(group.outer)):
                continue
            for fan_in in group.fan_ins:
                if fan_in.closed is None and fan_in.due is not None and fan_in.first_arrival is not None:
                    timers.append((fan_in.due, fan_in.first_arrival, self._ring_fan_in(fan_in), False))
        return timers

    def _ring(self, token: Token) -> Callable[[], None]:
        def ring() -> None:
            token.due = None
            if token.status == "waiting_for_retry":
                token.attempt += 1
                self._dispatch(token)
            else:
                finish_node(self.run, token, None)  # token-graphs.md#waits: A timed wait's `result` is null.

        return ring

    def _ring_fan_in(self, fan_in: FanIn) -> Callable[[], None]:
        return lambda: fan_in_timed_out(self.run, fan_in)

    # ---- the end ----

    def _alive(self) -> bool:
        return self.run.status == "running"

    def _run_timed_out(self) -> None:
        # token-graphs.md#limits: `timeout_ms` ends the run `timed_out`.
        message = f"the run took longer than {self.run.workflow['timeout_ms']} ms"
        self._end("timed_out", {"type": "timed_out", "message": message})

    def _complete(self) -> None:
        run = self.run
        mapping = run.workflow.get("output_mapping")
        # expressions.md#defaults-of-mappings: a workflow's `output_mapping` returns the `output` section when it is
        # left out.
        if mapping is None:
            output = deepcopy(run.out)
        else:
            try:
                seen = {"input": run.input, "state": run.state, "output": run.out, "run": run.facts}
                output = mapped(run, mapping, deepcopy(seen))
            except NodeFailed as failed:
                raise RunFailed(failed.failure) from failed
        run.output = output
        self._end("completed", None)

    def _end(self, status: str, error: Object | None) -> None:
        run = self.run
        run.status, run.error = status, error
        # token-graphs.md#run-status: When the run ends, every token is terminal; token-graphs.md#abandoned-slots: what
        # of an abandoned slot is unfinished at the end is `cancelled`.
        for token in run.tokens:
            if not token.ended:
                token.status = "cancelled"


def rendered(run: Run, template: str, scope: Object) -> str:
    """A template with nothing in it but paths. expressions.md#templates: an undefined name is an error."""

    def value(found: re.Match[str]) -> str:
        try:
            return str(run.evaluate(found.group(1), scope))
        except (MissingKey, ExpressionFault) as wrong:
            raise NodeFailed("template_error", str(wrong)) from wrong

    return re.sub(r"{{ (.*?) }}", value, template)


def retry_delay_ms(policy: Object, attempt: int) -> int:
    """The delay after the attempt that failed, without jitter."""
    initial = int(policy.get("initial_delay_ms", 0))
    factor: int = {"none": 1, "linear": attempt, "exponential": 2 ** (attempt - 1)}[policy.get("backoff", "none")]
    return min(initial * factor, int(policy.get("max_delay_ms", initial * factor)))


def is_point(run: Run, token: Token) -> bool:
    """durability.md#clocks: `until` is a point in time; all else is a length of time."""
    return token.status == "waiting_for_timer" and "until" in node_of(run.workflow, token.node)["wait"]

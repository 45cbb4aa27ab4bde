"""Tasks: steps, the two kinds of retry, timeouts, and what a dispatch is."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from tests.conformance.case import Case, Data, Outcome, to, workflow


def step(action: Data, ref: str = "x", **rest: Any) -> Data:
    return {"ref": ref, "action": action, **rest}


def setting(**values: Any) -> Data:
    return {"kind": "context", "implementation": {"set": values}}


def failing(times: int, *, transient: bool = False, output: Any = None, **action: Any) -> Data:
    """A mock whose first calls fail."""
    fail = {"times": times, "message": "again", "transient": transient}
    return {"kind": "mock", "implementation": {"output": output or {"ok": 1}, "fail": fail}, **action}


def tried(attempts: int, backoff: str = "none", delay_ms: int = 1, **rest: int) -> Data:
    return {"max_attempts": attempts, "backoff": backoff, "initial_delay_ms": delay_ms, **rest}


def one_task(id: str, *steps: Data, **rest: Any) -> Case:
    """A run of one node, whose output is what its task gave."""
    of_task: Data = {key: rest.pop(key) for key in ("retry", "output_schema") if key in rest}
    task: Data = {"steps": list(steps), **of_task}
    graph = workflow({"a": {"task": "t", "output_mapping": {"output.all": "result"}}})
    return Case(id, graph, tasks={"t": task}, **rest)


def attempts(number: int) -> Callable[[Outcome], None]:
    """The task was dispatched so often, each time as the next business attempt."""

    def check(seen: Outcome) -> None:
        dispatched = [event["attempt"] for event in seen.events if event["type"] == "task.dispatched"]
        assert dispatched == list(range(1, number + 1))
        retries = [event for event in seen.events if event["type"] == "task.retrying"]
        assert len([event for event in retries if "call" not in event]) == number - 1

    return check


def repeated_calls(*numbers: int) -> Callable[[Outcome], None]:
    """The calls that a step repeated within one attempt."""

    def check(seen: Outcome) -> None:
        retries = [event for event in seen.events if event["type"] == "task.retrying"]
        assert [event["call"] for event in retries] == list(numbers)

    return check


def both(*checks: Callable[[Outcome], None]) -> Callable[[Outcome], None]:
    def check(seen: Outcome) -> None:
        for each in checks:
            each(seen)

    return check


def three_dispatches(seen: Outcome) -> None:
    assert seen.types().count("task.dispatched") == 3


def waited(*bounds: tuple[int, int]) -> Callable[[Outcome], None]:
    """The delays between attempts: the policy's, and up to a tenth more."""

    def check(seen: Outcome) -> None:
        delays = [
            (datetime.fromisoformat(event["due"]) - datetime.fromisoformat(event["at"])).total_seconds() * 1000
            for event in seen.events
            if event["type"] == "task.retrying"
        ]
        assert len(delays) == len(bounds)
        for delay, (least, most) in zip(delays, bounds, strict=True):
            assert least <= round(delay) <= most, delays
        assert seen.took_ms >= sum(least for least, _ in bounds), "nobody began early"

    return check


def executing_once(seen: Outcome) -> None:
    assert seen.types().count("token.executing") == 1
    order = [kind for kind in seen.types() if kind in ("token.dispatched", "token.executing", "token.completed")]
    assert order == ["token.dispatched", "token.executing", "token.completed"]


def the_error(**fields: Any) -> Callable[[Outcome], None]:
    def check(seen: Outcome) -> None:
        (failed,) = (event for event in seen.events if event["type"] == "task.failed")
        assert {key: failed["error"].get(key) for key in fields} == fields

    return check


def after_one_attempt(**fields: Any) -> Callable[[Outcome], None]:
    def check(seen: Outcome) -> None:
        attempts(1)(seen)
        the_error(**fields)(seen)

    return check


RETRIED = {"retry_policy": {"max_attempts": 3}}
ONCE = {**setting(n="input.n"), "idempotency": {"key": "input.key"}}

CASES = [
    one_task(
        "T01 steps run in list order, and later ones see earlier state",
        step(setting(n="1"), "one", output_mapping={"state.n": "result.n"}),
        step(setting(n="state.n + 1"), "two", output_mapping={"state.n": "result.n"}),
        step(setting(n="state.n * 10"), "three"),
        output={"all": {"n": 20}},
    ),
    one_task(
        "T02 abort: the task fails without a retry, even if it has attempts left",
        step(failing(1), "x", on_failure="abort"),
        step(setting(n="1"), "never"),
        retry=tried(3),
        status="failed",
        error="mock_failure",
        also=after_one_attempt(step="x"),
    ),
    one_task(
        "T03 continue: the error is listed in the task's state, the next step runs, and the task succeeds",
        step(failing(9), "x", on_failure="continue"),
        step(setting(errors="state._errors"), "y"),
        output={"all": {"errors": [{"step": "x", "type": "mock_failure", "message": "again"}]}},
        also=attempts(1),
    ),
    one_task(
        "T04 retry: all steps run three times in a fresh context, and the third result is used",
        step(
            setting(before="has(state.seen)"),
            "first",
            output_mapping={"state.seen": True, "output.before": "result.before"},
        ),
        step(failing(2, output={"n": 3}), "x", on_failure="retry", output_mapping={"output.n": "result.n"}),
        retry=tried(3),
        output={"all": {"before": False, "n": 3}},
        also=attempts(3),
    ),
    one_task(
        "T06 retry without a policy of the task: it fails after one attempt",
        step(failing(1), "x", on_failure="retry"),
        status="failed",
        error="mock_failure",
        also=after_one_attempt(step="x", message="again"),
    ),
    one_task(
        "T07 the budget is spent: the token fails, and the error keeps step and message",
        step(setting(n="1"), "fine"),
        step(failing(9), "x", on_failure="retry"),
        retry=tried(3),
        status="failed",
        error="mock_failure",
        also=the_error(step="x", message="again", attempts=3),
    ),
    one_task(
        "T08 transient twice, then success: the step ran once, as the task sees it",
        step(failing(2, transient=True, execution=RETRIED)),
        output={"all": {"ok": 1}},
        also=both(attempts(1), repeated_calls(2, 3)),
    ),
    one_task(
        "T09 what is not transient is not tried again by the action's policy",
        step(failing(1, execution=RETRIED)),
        status="failed",
        error="mock_failure",
        also=attempts(1),
    ),
    one_task(
        "T10 no policy: a transient failure fails at once",
        step(failing(1, transient=True)),
        status="failed",
        error="mock_failure",
        also=attempts(1),
    ),
    one_task(
        "T11 an action's timeout ends the attempt and is a failure",
        step({"kind": "mock", "implementation": {"delay_ms": 5000}, "execution": {"timeout_ms": 20}}),
        status="failed",
        error="action_timed_out",
        also=the_error(message="did not finish within 20 ms"),
    ),
    one_task(
        "T15 output that violates its schema is a business failure, and the task's retry applies",
        step(setting(n="'one'")),
        output_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
        retry=tried(2),
        status="failed",
        error="output_invalid",
        also=attempts(2),
    ),
    one_task("T16 one step is one dispatch", step(setting(a="1")), output={"all": {"a": 1}}, also=attempts(1)),
    one_task(
        "T16 and so is one of three",
        *(step(setting(**{name: "1"}), name) for name in "abc"),
        output={"all": {"a": 1, "b": 1, "c": 1}},
        also=attempts(1),
    ),
    Case(
        "T16 while three nodes are three",
        workflow(
            {name: {"action": setting(**{name: "1"}), "output_mapping": {f"output.{name}": 1}} for name in "abc"},
            to("a", "b"),
            to("b", "c"),
        ),
        output={"a": 1, "b": 1, "c": 1},
        also=three_dispatches,
    ),
    one_task(
        "T17 exponential backoff doubles, and is capped",
        step(failing(4), on_failure="retry"),
        retry=tried(5, "exponential", 20, max_delay_ms=60),
        output={"all": {"ok": 1}},
        also=waited((20, 22), (40, 44), (60, 60), (60, 60)),
    ),
    one_task(
        "T17 linear backoff grows linearly",
        step(failing(3), on_failure="retry"),
        retry=tried(4, "linear", 20),
        output={"all": {"ok": 1}},
        also=waited((20, 22), (40, 44), (60, 66)),
    ),
    one_task(
        "T20 a dispatched token executes once its worker began",
        step(setting(a="1")),
        output={"all": {"a": 1}},
        also=executing_once,
    ),
    Case(
        "T21 the same idempotency key runs the action once, whoever asks",
        workflow(
            {
                name: {
                    "task": "t",
                    "input_mapping": {"n": number, "key": key},
                    "output_mapping": {f"output.{name}": "result.n"},
                }
                for name, number, key in (("a", 1, "'k'"), ("b", 2, "'k'"), ("c", 3, "'other'"))
            },
            to("a", "b"),
            to("b", "c"),
        ),
        tasks={"t": {"steps": [step(ONCE)]}},
        output={"a": 1, "b": 1, "c": 3},
    ),
]

ROWS = [pytest.param(case, id=case.id) for case in CASES]

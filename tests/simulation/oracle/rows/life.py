"""Rows for token-graphs.md#run-status, token-graphs.md#limits and token-graphs.md#waits."""

from __future__ import annotations

from tests.simulation.oracle.script import (
    WORK,
    alarm,
    cancel,
    each,
    flow,
    go,
    into,
    join,
    late_answers,
    later,
    ok,
    row,
    then,
)

TWO = {"items": [7, 8]}


def wait(**how: object) -> dict[str, object]:
    return {"wait": how}


LIFE = [
    row(
        "an end completes the run at once, and cancels what is under way",
        flow(
            {"p": {}, "a": WORK, "b": WORK, "stop": {"end": "completed"}},
            go("p", "a"),
            go("p", "b"),
            go("b", "stop"),
            output_mapping={"n": "input.n"},
        ),
        ok("b"),
        then(
            status="completed",
            output={"n": 3},
            tokens="p@root completed, a@root.a.0 cancelled, b@root.b.1 completed, stop@root.b.1 completed",
        ),
        input={"n": 3},
    ),
    row(
        "a failed end is no failure to be routed, and loses no branch",
        flow(
            {
                "p": {},
                "a": WORK,
                "stop": {"end": {"failed": {"type": "dear", "message": "{{ input.n }} is much"}}},
                "z": {},
            },
            each("p", "a", "[1, 2]"),
            go("a", "stop", condition="_branch.index == 0"),
            join("a", "z", on_branch_failure="continue") | {"priority": 2},
            go("stop", "z", condition="has(state._last_error)"),
        ),
        ok("root.a.0"),
        then(
            status="failed",
            error="dear",
            error_has={"message": "3 is much"},
        ),
        input={"n": 3},
    ),
    row(
        "a cancelled run cancels its tokens, and keeps the reason",
        flow({"p": {}, "a": WORK}, each("p", "a")),
        cancel("no need"),
        then(
            status="cancelled",
            error_has={"message": "no need"},
            tokens="p@root completed, a@root.a.0 cancelled, a@root.a.1 cancelled",
        ),
        input=TWO,
    ),
    row(
        "terminal is for ever: whichever is first wins",
        flow({"a": WORK}, timeout_ms=10),
        ok("a"),
        cancel(),
        alarm(10),
        then(status="completed", error=None),
    ),
    row(
        "the run's timeout ends it timed_out",
        flow({"a": WORK}, timeout_ms=1000),
        then(due=1000),
        alarm(999),
        then(status="running"),
        alarm(1000),
        then(status="timed_out", error="timed_out", tokens="a@root cancelled"),
    ),
    row(
        "a run is waiting when every token is parked",
        flow(
            {"p": {}, "a": WORK, "w": wait(seconds=5), "z": WORK},
            go("p", "a"),
            go("p", "w"),
            join("a", "z"),
            join("w", "z"),
        ),
        then(status="running"),
        ok("a"),
        then(status="waiting", calls=""),
        alarm(5000),
        then(status="running", calls="z@root"),
    ),
    row(
        "a late answer for a call that is no longer open is ignored",
        flow({"a": WORK, "b": WORK}, go("a", "b")),
        ok("a", {"x": 1}),
        late_answers(),
        then(calls="b@root", status="running"),
    ),
    row(
        "tokens begin in the order they were made",
        flow({"p": {}, "a": {}, "b": WORK, "c": WORK}, go("p", "a"), go("p", "b"), go("a", "c")),
        then(
            calls="b@root.b.1 c@root.a.0",
            tokens="p@root completed, a@root.a.0 completed, b@root.b.1 dispatched, c@root.a.0 dispatched",
        ),
    ),
    row(
        "consequences come before the next token begins: the fan-in opens and the other never starts",
        flow({"p": {}, "a": {}, "z": WORK}, each("p", "a"), join("a", "z", strategy="any")),
        then(
            calls="z@root",
            tokens="p@root completed, a@root.a.0 completed, a@root.a.1 cancelled, "
            "z@root.a.0 completed, z@root dispatched",
        ),
        input=TWO,
    ),
]

N3 = {"n": 3}
WAITS = [
    row(
        "seconds may be an integer, and the result is null",
        flow({"a": {**wait(seconds="input.n"), "output_mapping": {"state.r": "result"}}}),
        then(status="waiting", due=2000, tokens="a@root waiting_for_timer"),
        alarm(1999),
        then(status="waiting"),
        alarm(2000),
        then(status="completed", state={"r": None}),
        input={"n": 2},
    ),
    row("seconds may be a double", flow({"a": wait(seconds="0.25")}), then(due=250)),
    row("until is a time with a zone", flow({"a": wait(until="'1970-01-01T01:00:01.500+01:00'")}), then(due=1500)),
    row(
        "seconds that are no number fail the node",
        flow({"a": wait(seconds="'x'")}),
        then(status="failed", error="bad_wait"),
    ),
    row(
        "an expression error in a wait fails the node",
        flow({"a": wait(seconds="[].first()")}),
        then(status="failed", error="expression_error"),
    ),
    row(
        "a missing number of seconds fails the node",
        flow({"a": wait(seconds="input.gone")}),
        then(status="failed", error="bad_wait"),
    ),
    row("a run's timeout may come from its input", flow({"a": WORK}, timeout_ms="input.n * 2"), then(due=6), input=N3),
    row(
        "a run whose timeout is no count fails before anything begins",
        flow({"a": WORK}, timeout_ms="input.n - 3"),
        then(status="failed", error="not_a_count", tokens=""),
        input=N3,
    ),
    row(
        "a task whose timeout is no count fails its node, and is not called",
        flow({"a": WORK}),
        then(status="failed", error="not_a_count", tokens="a@root failed"),
        work={"timeout_ms": "input.gone"},
    ),
    row(
        "a wait in a branch without output_mapping leaves null at _branch.output.result",
        flow({"p": {}, "a": wait(seconds=1), "z": {}}, each("p", "a"), join("a", "z", merge=into("state.all"))),
        alarm(1000),
        then(status="completed", state={"all": [{"result": None}, {"result": None}]}),
        input=TWO,
    ),
    row(
        "timers of one alarm ring by due time, then by creation",
        flow({"p": {}, "a": wait(seconds="item"), "b": WORK}, each("p", "a"), go("a", "b")),
        alarm(9000),
        then(calls="b@root.a.1 b@root.a.2 b@root.a.0"),
        input={"items": [3, 1, 1]},
    ),
    row(
        "the run's timeout comes before a wait due at the same time, being older",
        flow({"a": wait(seconds=1)}, timeout_ms=1000),
        alarm(1000),
        then(status="timed_out"),
    ),
    row(
        "a completion at the alarm comes before a later timeout",
        flow({"a": wait(seconds=1)}, timeout_ms=1001),
        alarm(5000),
        then(status="completed"),
    ),
    row(
        "a fan-in's timeout and a wait ring in order",
        flow(
            {"p": {}, "a": wait(seconds="item"), "z": WORK},
            each("p", "a"),
            join("a", "z", timeout_ms=500, on_timeout="proceed_with_available", merge=into("state.n")),
        ),
        alarm(1000),
        then(due=1500),
        alarm(3000),
        then(calls="z@root", state={"n": [{"result": None}]}),
        input={"items": [2, 1]},
    ),
]

LIMITS = [
    row(
        "past max_tokens the run fails, naming it",
        flow({"p": {}, "a": WORK}, each("p", "a"), limits={"max_tokens": 1}),
        then(status="failed", error="limit_exceeded", error_has={"limit": "max_tokens"}),
        input=TWO,
    ),
    row(
        "max_tokens counts tokens alive at once",
        flow({"p": {}, "a": WORK}, each("p", "a", max_parallel=1), limits={"max_tokens": 1}),
        ok("a"),
        ok("a"),
        then(status="completed"),
        input=TWO,
    ),
    row(
        "past max_node_executions the run fails, naming it",
        flow({"a": {}}, go("a", "a"), limits={"max_node_executions": 5}),
        then(status="failed", error="limit_exceeded", error_has={"limit": "max_node_executions"}),
    ),
    row(
        "a limit always fails the run, also inside a branch that may be lost",
        flow(
            {"p": {}, "a": {}, "z": {}},
            each("p", "a"),
            join("a", "z", on_branch_failure="continue"),
            limits={"max_node_executions": 2},
        ),
        then(status="failed", error="limit_exceeded"),
        input=TWO,
    ),
    row(
        "reaching a limit is not passing it",
        flow({"a": {}, "b": {}}, go("a", "b"), limits={"max_node_executions": 2, "max_tokens": 1}),
        later(1),
        then(status="completed"),
    ),
]

"""Rows for token-graphs.md#routing and token-graphs.md#failures, and expressions.md#scopes on a single path."""

from __future__ import annotations

from tests.simulation.oracle.script import WORK, alarm, each, flow, go, into, join, late_answers, no, ok, row, then

A_B_C = {"a": WORK, "b": WORK, "c": WORK}
ON_ERROR = "state._last_error.type == 'boom'"
RESCUED = flow(
    {"a": WORK, "h": {**WORK, "input_mapping": {"e": "state._last_error"}}}, go("a", "h", condition=ON_ERROR)
)
LAST_ERROR = {"node": "a", "step": "s", "type": "boom", "message": "it broke", "attempts": 1}

ROUTING = [
    row(
        "a node without a target passes straight through, and its result is the mapped input",
        flow({"a": {"input_mapping": {"x": "input.n"}, "output_mapping": {"state.y": "result.x"}}}),
        then(status="completed", state={"y": 3}, tokens="a@root completed"),
        input={"n": 3},
    ),
    row(
        "without input_mapping a node passes the workflow's input",
        flow({"a": WORK}),
        then(inputs=[{"n": 3}], calls="a@root", status="running"),
        ok("a"),
        then(status="completed"),
        input={"n": 3},
    ),
    row(
        "without output_mapping a node outside a branch writes nothing",
        flow({"a": WORK}),
        ok("a", {"x": 1}),
        then(state={}, out={}, output={}),
    ),
    row(
        "the lowest priority number with a match wins alone",
        flow(A_B_C, go("a", "b", priority=2), go("a", "c", priority=1)),
        ok("a"),
        then(calls="c@root"),
    ),
    row(
        "a tier without a match gives way to the next",
        flow(A_B_C, go("a", "b", condition="result.x == 1"), go("a", "c", priority=2)),
        ok("a", {"x": 2}),
        then(calls="c@root"),
    ),
    row(
        "all matches of the winning tier are followed",
        flow(A_B_C, go("a", "b"), go("a", "c", condition="result.x == 1")),
        ok("a", {"x": 1}),
        then(calls="b@root.b.0 c@root.c.1"),
    ),
    row(
        "fan_out first_match follows only the first declared, and makes no slot",
        flow({**A_B_C, "a": {**WORK, "fan_out": "first_match"}}, go("a", "c"), go("a", "b")),
        ok("a"),
        then(calls="c@root"),
    ),
    row(
        "a used up loop is out, and its condition is not evaluated",
        flow(
            {"a": WORK, "z": {}},
            go("a", "a", condition="result.go", loop_config={"max_iterations": 1}),
            go("a", "z", priority=2),
        ),
        ok("a", {"go": True}),
        ok("a", {"go": "not a boolean"}),
        then(status="completed", tokens="a@root completed, a@root completed, z@root completed"),
    ),
    row(
        "loops are counted per lineage: each branch has its own iterations",
        flow(
            {"p": {}, "a": WORK, "z": {}},
            each("p", "a"),
            go("a", "a", loop_config={"max_iterations": 1}),
            go("a", "z", priority=2),
        ),
        ok("root.a.0"),
        ok("root.a.0"),
        then(calls="a@root.a.1"),
        ok("root.a.1"),
        then(calls="a@root.a.1"),
        ok("root.a.1"),
        then(status="completed"),
        input={"items": [1, 2]},
    ),
    row(
        "several terminal nodes are fine: the last active token ending completes the run",
        flow(A_B_C, go("a", "b"), go("a", "c")),
        ok("a"),
        ok("c"),
        then(status="running"),
        ok("b"),
        then(status="completed"),
    ),
    row(
        "transitions but no match fail the run, naming node, token and reasons",
        flow(A_B_C, go("a", "b", condition="result.x == 1"), go("a", "c", condition="result.y == 1")),
        ok("a", {"x": 2}),
        then(
            status="failed",
            error="no_matching_transition",
            error_has={
                "node": "a",
                "token": "root",
                "rejected": [
                    {"to": "b", "condition": "result.x == 1", "reason": "false"},
                    {"to": "c", "condition": "result.y == 1", "reason": "missing: result.y"},
                ],
            },
            tokens="a@root failed",
        ),
    ),
    row(
        "on_no_match complete ends the token instead",
        flow(A_B_C, go("a", "b", condition="result.x == 1"), on_no_match="complete"),
        ok("a", {"x": 2}),
        then(status="completed", tokens="a@root completed"),
    ),
    row(
        "no_matching_transition fails the run from inside a branch that may be lost, too",
        flow(
            {"p": {}, "a": WORK, "z": {}},
            each("p", "a"),
            go("a", "z", condition="result.go", synchronization={"on_branch_failure": "continue"}),
        ),
        ok("root.a.0", {"go": False}),
        then(
            status="failed",
            error="no_matching_transition",
            tokens="p@root completed, a@root.a.0 failed, a@root.a.1 cancelled",
        ),
        input={"items": [1, 2]},
    ),
    row(
        "an expression error in a condition fails the run, handlers or not",
        flow(
            {"a": WORK, "h": {}},
            go("a", "h", condition="result.x + 1 == 2"),
            go("a", "h", condition="has(state._last_error)"),
        ),
        ok("a", {"x": "text"}),
        then(status="failed", error="expression_error"),
    ),
    row(
        "a missing key in a mapping is null, and is written",
        flow({"a": {"output_mapping": {"state.x": "input.gone"}}}, output_mapping={"y": "state.gone"}),
        then(state={"x": None}, output={"y": None}),
    ),
    row(
        "without output_mapping the workflow returns the output section",
        flow({"a": {"output_mapping": {"output.x.y": "1", "state.z": "2"}}}),
        then(output={"x": {"y": 1}}, state={"z": 2}),
    ),
    row(
        "an expression error in the workflow's output_mapping fails the run",
        flow({"a": {}}, output_mapping={"x": "1 + 'a'"}),
        then(status="failed", error="expression_error", output=None),
    ),
]

FAILURES = [
    row(
        "a failure at a terminal node fails the run with the task's type",
        flow({"a": WORK}),
        no("a"),
        then(status="failed", error="boom", error_has={"node": "a", "attempts": 1}, tokens="a@root failed"),
    ),
    row(
        "an unconditional transition never swallows a failure",
        flow(A_B_C, go("a", "b"), go("a", "c", condition="true")),
        no("a"),
        then(status="failed", error="boom"),
    ),
    row(
        "a matching transition handles the failure",
        RESCUED,
        no("a"),
        then(inputs=[{"e": LAST_ERROR}], tokens="a@root failed, h@root dispatched"),
        ok("h"),
        then(status="completed"),
    ),
    row(
        "a transition that does not match leaves it unhandled",
        RESCUED,
        no("a", "bang"),
        then(status="failed", error="bang"),
    ),
    row(
        "after a failure result is absent",
        flow({"a": WORK, "h": {}}, go("a", "h", condition=f"{ON_ERROR} && result == 1")),
        no("a"),
        then(status="failed", error="boom"),
    ),
    row(
        "priorities and loops count after a failure as well",
        flow(
            A_B_C,
            go("a", "a", condition=ON_ERROR, loop_config={"max_iterations": 1}),
            go("a", "b", condition=ON_ERROR, priority=2),
        ),
        no("a"),
        then(calls="a@root"),
        no("a"),
        then(calls="b@root"),
    ),
    row(
        "the next success clears it after its output mapping, before routing",
        flow(
            {"a": WORK, "h": {"output_mapping": {"state.seen": "state._last_error.type"}}, "bad": {}, "good": {}},
            go("a", "h", condition=ON_ERROR),
            go("h", "bad", condition="has(state._last_error)"),
            go("h", "good", priority=2),
        ),
        no("a"),
        then(status="completed", state={"seen": "boom"}, tokens="a@root failed, h@root completed, good@root completed"),
    ),
    row(
        "children inherit it",
        flow(
            {"a": WORK, "h": {**WORK, "input_mapping": {"t": "state._last_error.type"}}},
            each("a", "h", condition=ON_ERROR),
        ),
        no("a"),
        then(inputs=[{"t": "boom"}, {"t": "boom"}]),
        input={"items": [1, 2]},
    ),
    row(
        "joins drop it",
        flow(
            {"p": {}, "a": WORK, "z": {**WORK, "input_mapping": {"t": "state._last_error.type"}}},
            each("p", "a"),
            {**join("a", "z"), "condition": ON_ERROR},
        ),
        no("a"),
        then(
            calls="z@root",
            inputs=[{"t": None}],
            tokens="p@root completed, a@root.a.0 failed, z@root.a.0 completed, z@root dispatched",
        ),
        input={"items": [1]},
    ),
    row(
        "joins drop that of the token that fanned out as well",
        flow(
            {"a": WORK, "h": WORK, "z": {**WORK, "input_mapping": {"t": "state._last_error.type"}}},
            each("a", "h", condition=ON_ERROR),
            join("h", "z"),
        ),
        no("a"),
        ok("h"),
        then(calls="z@root", inputs=[{"t": None}]),
        input={"items": [1]},
    ),
    row(
        "an expression error in an input mapping fails the node, and can be handled",
        flow(
            {"a": {"input_mapping": {"x": "1 + 'a'"}}, "h": {"output_mapping": {"state.e": "state._last_error"}}},
            go("a", "h", condition="has(state._last_error.type)"),
        ),
        then(status="completed", tokens="a@root failed, h@root completed"),
    ),
    row(
        "an expression error in an output mapping fails the node, and nothing is written",
        flow({"a": {**WORK, "output_mapping": {"state.x": "1", "state.y": "result.n + 'a'"}}}),
        ok("a", {"n": 1}),
        then(status="failed", error="expression_error", state={}),
    ),
    row(
        "a list index out of range is an expression_error, not a missing key",
        flow({"a": {"input_mapping": {"x": "input.items[3]"}}}),
        then(status="failed", error="expression_error"),
        input={"items": []},
    ),
    row(
        "foreach over something that is not a list fails the node, and can be handled",
        flow(A_B_C, each("a", "b"), go("a", "c", condition="state._last_error.type == 'not_a_list'")),
        ok("a"),
        then(calls="c@root", tokens="a@root failed, c@root dispatched"),
        input={"items": "text"},
    ),
    row(
        "foreach over a missing key is not a list either",
        flow(A_B_C, each("a", "b")),
        ok("a"),
        then(status="failed", error="not_a_list"),
    ),
    row(
        "an expression error in spawn_count fails the node",
        flow(A_B_C, go("a", "b", spawn_count="1 + 'a'")),
        ok("a"),
        then(status="failed", error="expression_error"),
    ),
    row(
        "if failure routing itself hits such a problem, the run fails",
        flow(
            A_B_C,
            each("a", "b", condition=ON_ERROR),
            go("a", "c", condition="state._last_error.type == 'not_a_list'", priority=2),
        ),
        no("a"),
        then(status="failed", error="not_a_list"),
    ),
    row(
        "a condition with an error fails the run in failure routing as well",
        flow(A_B_C, go("a", "b", condition="state._last_error.type + 1 == 2")),
        no("a"),
        then(status="failed", error="expression_error"),
    ),
]

EXPONENTIAL = {"retry": {"max_attempts": 4, "backoff": "exponential", "initial_delay_ms": 100, "max_delay_ms": 300}}
LINEAR = {"retry": {"max_attempts": 3, "backoff": "linear", "initial_delay_ms": 100}}
NONE = {"retry": {"max_attempts": 2, "backoff": "none"}}

RETRIES = [
    row(
        "a business retry waits and makes a new call, exponentially and capped",
        flow({"a": WORK}),
        no("a", retry=True),
        then(status="waiting", calls="", due=100),
        alarm(100),
        then(status="running", calls="a@root", attempts=[2], tokens="a@root dispatched"),
        no("a", retry=True),
        then(due=300),
        alarm(300),
        no("a", retry=True),
        then(due=600),
        alarm(600),
        no("a", retry=True),
        then(status="failed", error="boom", error_has={"attempts": 4}),
        work=EXPONENTIAL,
    ),
    row(
        "linear backoff",
        flow({"a": WORK}),
        no("a", retry=True),
        alarm(100),
        no("a", retry=True),
        then(due=300),
        work=LINEAR,
    ),
    row(
        "backoff none without a delay is due at once",
        flow({"a": WORK}),
        no("a", retry=True),
        then(status="waiting", due=0),
        alarm(0),
        then(attempts=[2]),
        work=NONE,
    ),
    row("a failure that asks for no retry gets none", flow({"a": WORK}), no("a"), then(status="failed"), work=LINEAR),
    row("no policy: fail at once", flow({"a": WORK}), no("a", retry=True), then(status="failed")),
    row(
        "an inline action is a call without retry",
        flow({"a": {"action": {"kind": "mock"}}}),
        no("a", retry=True),
        then(status="failed"),
    ),
    row(
        "a task timeout ends the token timed_out, without business retry, and can be handled",
        flow({"a": WORK, "h": WORK}, go("a", "h", condition="state._last_error.type == 'timed_out'")),
        no("a", "timed_out", retry=True),
        then(calls="h@root", tokens="a@root timed_out, h@root dispatched"),
        work=LINEAR,
    ),
    row(
        "attempts in _last_error are the business attempts, and late answers of earlier ones are ignored",
        flow(
            {"a": WORK, "h": {"output_mapping": {"state.n": "state._last_error.attempts"}}},
            go("a", "h", condition=ON_ERROR),
        ),
        no("a", retry=True),
        alarm(100),
        late_answers(),
        no("a"),
        then(status="completed", state={"n": 2}),
        work=LINEAR,
    ),
    row(
        "a retry in a branch keeps the branch live",
        flow({"p": {}, "a": WORK, "z": WORK}, each("p", "a"), join("a", "z", merge=into("state.all"))),
        no("root.a.0", retry=True),
        ok("root.a.1", {"x": 1}),
        then(calls="", status="waiting"),
        alarm(100),
        ok("root.a.0", {"x": 0}),
        then(calls="z@root", state={"all": [{"x": 0}, {"x": 1}]}),
        input={"items": [0, 1]},
        work=LINEAR,
    ),
]

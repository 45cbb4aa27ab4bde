"""One signal wakes one waiter, the oldest that it fits; before anyone waits it is kept."""

import pytest

from jeton.model import decision as d
from jeton.model.failure import RunError
from jeton.model.ids import TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import SignalRun
from jeton.planning.tokens.node import NodeFinished, Plan
from jeton.planning.waits.signal import plan_signal, plan_signal_timeout, plan_signal_wait
from tests.planning.given import Given, at, done, given, started, token_at, workflow

NOW = 9
ZERO, ONE = TokenId(0), TokenId(1)

WAIT = workflow("{nodes: {a: {wait: {signal: go, timeout_ms: 30, label: l}}, b: {}}, transitions: [{from: a, to: b}]}")
PATIENT = workflow("nodes: {a: {wait: {signal: go}}}")
LATER = workflow("""
nodes: {w: {task: work}, a: {wait: {signal: go, schema: {type: integer}}}}
transitions: [{from: w, to: a}]
""")
TWO = workflow("""
nodes: {s: {}, a: {wait: {signal: go, schema: {type: integer}}}, b: {wait: {signal: go, schema: {type: string}}}}
transitions: [{from: s, to: a}, {from: s, to: b}]
""")
SAME = workflow("{nodes: {s: {}, a: {wait: {signal: go}}}, transitions: [{from: s, to: a, spawn_count: 2}]}")
HANDLED = workflow("""
nodes: {a: {wait: {signal: go, timeout_ms: 30}}, b: {task: work}}
transitions: [{from: a, to: b, condition: "state._last_error.type == 'timed_out'"}]
""")


SILENT = workflow("nodes: {a: {task: work}}")
SEVERAL = "{signals: {go: {schema: {type: integer}}, stop: }, timeout_ms: 30}"
FIRST = workflow(f"nodes: {{a: {{wait: {SEVERAL}}}}}")
FIRST_LATER = workflow(f"{{nodes: {{w: {{task: work}}, a: {{wait: {SEVERAL}}}}}, transitions: [{{from: w, to: a}}]}}")
TWO_NAMES = workflow("""
nodes: {w: {task: work}, a: {wait: {signal: go}}, b: {wait: {signal: other}}}
transitions: [{from: w, to: a}, {from: a, to: b}]
""")
BOTH = workflow(f"""
nodes: {{s: {{}}, first: {{wait: {SEVERAL}}}, second: {{wait: {{signal: go}}}}}}
transitions: [{{from: s, to: first}}, {{from: s, to: second}}]
""")
DEFAULT = workflow("nodes: {a: {wait: {signal: go, timeout_ms: 30, on_timeout: {n: 1}}}}")
FIRST_DEFAULT = workflow("nodes: {a: {wait: {signals: {go: {}, stop: {}}, timeout_ms: 30, on_timeout: nobody}}}")


def signal(value: Json = 1, key: str | None = None, name: str = "go", id: str = "m") -> SignalRun:
    return SignalRun(5, id, name, value, key)


def kept(number: int, value: int | str = 1, key: str | None = None) -> d.KeepSignal:
    return d.KeepSignal(number, "go", 5, value, key)


@pytest.mark.parametrize(
    ("run", "message", "then"),
    [
        pytest.param(
            given(PATIENT, started()),
            signal(),
            Plan(
                [kept(0), d.TakeSignal(ZERO, "go", 0), d.ReplyTo("m", accepted=True), d.FinishNode(ZERO, "a")],
                NodeFinished(ZERO, 1),
            ),
            id="it wakes who waits for it, and its value is the result",
        ),
        pytest.param(
            given(SAME, started()),
            signal(),
            Plan(
                [
                    kept(0),
                    d.TakeSignal(ONE, "go", 0),
                    d.ReplyTo("m", accepted=True),
                    d.FinishNode(ONE, "a", None, {"_branch.output": 1}),
                ],
                NodeFinished(ONE, 1),
            ),
            id="of several who wait the oldest",
        ),
        pytest.param(
            given(TWO, started()),
            signal("x"),
            Plan(
                [
                    kept(0, "x"),
                    d.TakeSignal(TokenId(2), "go", 0),
                    d.ReplyTo("m", accepted=True),
                    d.FinishNode(TokenId(2), "b", None, {"_branch.output": "x"}),
                ],
                NodeFinished(TokenId(2), "x"),
            ),
            id="that it fits",
        ),
        pytest.param(
            given(TWO, started()),
            signal(None),
            Plan([d.ReplyTo("m", accepted=False, why='signal: null is not of type "integer"')]),
            id="what fits nobody who waits is refused, with the reason",
        ),
        pytest.param(
            given(LATER, started()),
            signal(),
            Plan([kept(0), d.ReplyTo("m", accepted=True, why="kept until somebody waits for it")]),
            id="before anyone waits it is kept",
        ),
        pytest.param(
            given(LATER, started(), signal()),
            signal(2, id="n"),
            Plan([kept(1, 2), d.ReplyTo("n", accepted=True, why="kept until somebody waits for it")]),
            id="a second one beside it",
        ),
        pytest.param(
            given(LATER, started()),
            signal("x"),
            Plan([d.ReplyTo("m", accepted=False, why='signal: "x" is not of type "integer"')]),
            id="unless no wait of the workflow would take it",
        ),
        pytest.param(
            given(LATER, started(), signal(key="k")),
            signal(7, key="k"),
            Plan([d.ReplyTo("m", accepted=True, why="the key 'k' was received before")]),
            id="the same key a second time changes nothing",
        ),
        pytest.param(
            given(LATER, started(), signal(key="k")),
            signal(7, key="other"),
            Plan([kept(1, 7, "other"), d.ReplyTo("m", accepted=True, why="kept until somebody waits for it")]),
            id="another key is another signal",
        ),
        pytest.param(
            given(PATIENT, started()),
            signal(name="goo"),
            Plan(
                [
                    d.ReplyTo(
                        "m",
                        accepted=False,
                        why="no node of 'w' waits for a signal 'goo'",
                        code="unknown_signal",
                        remedy="write 'go'",
                    )
                ]
            ),
            id="a signal that no node waits for is refused, with the nearest name",
        ),
        pytest.param(
            given(SILENT, started()),
            signal(),
            Plan(
                [
                    d.ReplyTo(
                        "m",
                        accepted=False,
                        why="'w' waits for no signals, and 'go' would never be taken",
                        code="unknown_signal",
                        remedy="check the run, or answer its gate",
                    )
                ]
            ),
            id="and so is any, if the workflow waits for none",
        ),
        pytest.param(
            given(FIRST, started()),
            signal("much", name="stop"),
            Plan(
                [
                    d.KeepSignal(0, "stop", 5, "much"),
                    d.TakeSignal(ZERO, "stop", 0),
                    d.ReplyTo("m", accepted=True),
                    d.FinishNode(ZERO, "a"),
                ],
                NodeFinished(ZERO, {"signal": "stop", "value": "much"}),
            ),
            id="who waits for one of several is woken by any, and is told which",
        ),
        pytest.param(
            given(FIRST, started()),
            signal("much"),
            Plan([d.ReplyTo("m", accepted=False, why='signal: "much" is not of type "integer"')]),
            id="each of several signals has its own schema",
        ),
        pytest.param(
            given(BOTH, started()),
            signal(),
            Plan(
                [
                    kept(0),
                    d.TakeSignal(ONE, "go", 0),
                    d.ReplyTo("m", accepted=True),
                    d.FinishNode(ONE, "first", writes={"_branch.output": {"signal": "go", "value": 1}}),
                ],
                NodeFinished(ONE, {"signal": "go", "value": 1}),
            ),
            id="the oldest waiter takes it, whether it waits for one signal or for several",
        ),
    ],
)
def test_a_signal(run: Given, message: SignalRun, then: Plan) -> None:
    assert plan_signal(run.program, run.state(), message) == then


AGAIN = workflow("""
nodes: {w: {task: work}, a: {wait: {signal: go}}, v: {task: work}}
transitions: [{from: w, to: a}, {from: a, to: v}]
""")


def test_a_key_is_known_also_after_its_signal_was_taken() -> None:
    state = given(AGAIN, started(), signal(key="k"), done(0)).state()
    assert state.signals.get("go", {}) == {}
    assert plan_signal(AGAIN, state, signal(7, key="k")).decisions == [
        d.ReplyTo("m", accepted=True, why="the key 'k' was received before")
    ]


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            at("a", WAIT, started()),
            Plan([d.WaitForSignal(ZERO, "a", NOW, "go", NOW + 30, "l", ("input.x",))]),
            id="who comes first waits, as long as it may",
        ),
        pytest.param(
            at("a", PATIENT, started()),
            Plan([d.WaitForSignal(ZERO, "a", NOW, "go", missing=("input.x",))]),
            id="or for ever",
        ),
        pytest.param(
            at("a", LATER, started(), signal(3), signal(4, id="n"), done(0)),
            Plan(
                [d.TakeSignal(ONE, "go", 0), d.FinishNode(ONE, "a", missing=("input.x",))],
                NodeFinished(ONE, 3),
            ),
            id="the oldest signal that is kept is taken at once",
        ),
        pytest.param(
            at("a", TWO_NAMES, started(), signal(3, name="other"), done(0)),
            Plan([d.WaitForSignal(ONE, "a", NOW, "go", missing=("input.x",))]),
            id="one of another name is not",
        ),
        pytest.param(
            at("a", FIRST, started()),
            Plan([d.WaitForSignal(ZERO, "a", NOW, "", NOW + 30, None, ("input.x",), ("go", "stop"))]),
            id="or for the first of several",
        ),
        pytest.param(
            at("a", FIRST_LATER, started(), signal("x", name="stop"), signal(4, id="n"), done(0)),
            Plan(
                [d.TakeSignal(ONE, "stop", 0), d.FinishNode(ONE, "a", missing=("input.x",))],
                NodeFinished(ONE, {"signal": "stop", "value": "x"}),
            ),
            id="of several names the oldest signal that is kept",
        ),
    ],
)
def test_a_wait_for_a_signal(run: Given, then: Plan) -> None:
    state = run.state()
    assert plan_signal_wait(run.program, state, token_at(state, "a"), ("input.x",), NOW) == then


MIXED = workflow("""
nodes:
  w: {task: work}
  a: {wait: {signal: go, schema: {type: string}}}
  b: {wait: {signal: go, schema: {type: integer}}}
transitions: [{from: w, to: a}, {from: a, to: b}]
""")


def test_a_kept_signal_that_does_not_fit_is_left_for_another() -> None:
    state = at("a", MIXED, started(), signal(3), signal("x", id="n"), done(0)).state()
    plan = plan_signal_wait(MIXED, state, token_at(state, "a"), (), NOW)
    assert plan.decisions == [d.TakeSignal(ONE, "go", 1), d.FinishNode(ONE, "a")]


LATE = "no signal 'go' came within 30 ms"
ERROR: JsonObject = {"node": "a", "step": None, "type": "timed_out", "message": LATE, "attempts": 1}


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            given(WAIT, started()),
            [
                d.FailNode(ZERO, "a", ERROR),
                d.RouteToken(ZERO, "a", "timed_out"),
                d.EndRun(NOW, "failed", error=RunError("timed_out", LATE, "a", 0, attempts=1)),
            ],
            id="the node fails, and its token ends timed out",
        ),
        pytest.param(
            given(HANDLED, started()),
            [
                d.FailNode(ZERO, "a", ERROR),
                d.RouteToken(ZERO, "a", "timed_out", (d.Considered(0, "matched"),)),
                d.CreateToken(ONE, "b", "root", ZERO, error=ERROR),
            ],
            id="which can be handled as any other failure",
        ),
    ],
)
def test_a_signal_that_did_not_come_in_time(run: Given, then: list[d.Decision]) -> None:
    state = run.state()
    assert plan_signal_timeout(run.program, state, token_at(state, "a"), NOW) == Plan(then)


@pytest.mark.parametrize(
    ("run", "result"),
    [
        pytest.param(given(DEFAULT, started()), {"n": 1}, id="of a wait for a signal"),
        pytest.param(given(FIRST_DEFAULT, started()), "nobody", id="of a wait for one of several"),
    ],
)
def test_the_default_is_the_result_when_the_time_is_over(run: Given, result: Json) -> None:
    state = run.state()
    plan = plan_signal_timeout(run.program, state, token_at(state, "a"), NOW)
    assert plan == Plan([d.FinishNode(ZERO, "a")], NodeFinished(ZERO, result))


def test_a_wait_for_one_of_several_that_times_out_names_them_all() -> None:
    state = given(FIRST, started()).state()
    failed = plan_signal_timeout(FIRST, state, token_at(state, "a"), NOW).decisions[0]
    assert isinstance(failed, d.FailNode)
    assert failed.error["message"] == "no signal of go, stop came within 30 ms"

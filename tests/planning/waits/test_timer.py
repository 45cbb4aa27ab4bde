"""How long a timed wait holds its token."""

import pytest

from jeton.model import decision as d
from jeton.model.ids import TokenId
from jeton.model.json import Json
from jeton.planning.flow.control_keys import LONGEST_WAIT_S
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.node import Plan
from jeton.planning.waits.timer import plan_wait
from tests.planning.given import at, started, token_at, workflow

NOW = 1_800_000_000_000  # 2027-01-15T08:00:00Z
SECONDS = workflow("nodes: {a: {wait: {seconds: input.n, label: nap}}}")
UNTIL = workflow("nodes: {a: {wait: {until: input.n}}}")
FIXED = workflow("nodes: {a: {wait: {seconds: 2}}}")
HANDLED = workflow("""
nodes: {a: {wait: {seconds: input.n}}, b: {task: work}, c: {}}
transitions:
- {from: a, to: c}
- {from: a, to: b, condition: "state._last_error.type == 'bad_wait'"}
""")


def waited(program: Program, n: Json) -> Plan:
    state = at("a", program, started({"n": n})).state()
    return plan_wait(program, state, token_at(state, "a"), program.nodes["a"], ("input.x",), NOW)


@pytest.mark.parametrize(
    ("program", "n", "due", "label"),
    [
        pytest.param(FIXED, None, NOW + 2000, None, id="so many seconds"),
        pytest.param(SECONDS, 2, NOW + 2000, "nap", id="as many as an expression gives, under a label"),
        pytest.param(SECONDS, 0.5, NOW + 500, "nap", id="a part of one"),
        pytest.param(SECONDS, 0, NOW, "nap", id="none at all"),
        pytest.param(SECONDS, LONGEST_WAIT_S, NOW + LONGEST_WAIT_S * 1000, "nap", id="a hundred years"),
        pytest.param(UNTIL, "2027-01-15T08:00:01Z", NOW + 1000, None, id="until a time"),
        pytest.param(UNTIL, "2027-01-15T09:00:01+01:00", NOW + 1000, None, id="by the clocks of a zone"),
        pytest.param(UNTIL, "2001-01-01T00:00:00Z", 978_307_200_000, None, id="also one that has passed"),
    ],
)
def test_a_timed_wait(program: Program, n: Json, due: int, label: str | None) -> None:
    waits = d.WaitForTimer(TokenId(0), "a", NOW, due, label, ("input.x",), wall=program is UNTIL)
    assert waited(program, n) == Plan([waits])


@pytest.mark.parametrize(
    ("program", "n", "type", "says"),
    [
        pytest.param(SECONDS, -1, "bad_wait", "from 0 to a hundred years: it is -1", id="less than none"),
        pytest.param(SECONDS, LONGEST_WAIT_S + 1, "bad_wait", "from 0 to a hundred years", id="a second too many"),
        pytest.param(SECONDS, "2", "bad_wait", "it is '2'", id="seconds as a text"),
        pytest.param(SECONDS, True, "bad_wait", "it is True", id="true is no number"),
        pytest.param(SECONDS, None, "bad_wait", "it is None", id="nor is nothing"),
        pytest.param(UNTIL, "2027-01-15T08:00:01", "bad_wait", "time with a zone", id="a time without a zone"),
        pytest.param(UNTIL, "tomorrow", "bad_wait", "time with a zone", id="a time in words"),
        pytest.param(UNTIL, 5, "bad_wait", "time with a zone", id="a time as a number"),
    ],
)
def test_a_wait_that_is_none_fails_its_node(program: Program, n: Json, type: str, says: str) -> None:
    failed, routed, end = waited(program, n).decisions
    assert isinstance(failed, d.FailNode)
    assert isinstance(end, d.EndRun)
    assert failed.error["type"] == type
    assert says in str(failed.error["message"])
    assert routed == d.RouteToken(TokenId(0), "a", "failed")


@pytest.mark.parametrize(
    ("source", "says"),
    [
        pytest.param("seconds: 1 / input.n", "wait.seconds at ", id="of seconds"),
        pytest.param('until: "string(1 / input.n)"', "wait.until at ", id="of a time"),
    ],
)
def test_an_expression_that_fails_is_named(source: str, says: str) -> None:
    failed, *_ = waited(workflow(f"nodes: {{a: {{wait: {{{source}}}}}}}"), 0).decisions
    assert isinstance(failed, d.FailNode)
    assert failed.error["type"] == "expression_error"
    assert str(failed.error["message"]).startswith(says)


def test_seconds_that_are_missing_are_named() -> None:
    state = at("a", SECONDS, started({})).state()
    failed, *_ = plan_wait(SECONDS, state, token_at(state, "a"), SECONDS.nodes["a"], (), NOW).decisions
    assert isinstance(failed, d.FailNode)
    assert str(failed.error["message"]).endswith("nothing is at input.n")


def test_a_wait_that_is_none_can_be_handled() -> None:
    _, _, created = waited(HANDLED, -1).decisions
    assert isinstance(created, d.CreateToken)
    assert created.node == "b"

"""Evaluation never raises, never takes long, and may be shared."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jeton.expression import ExpressionInvalid, Failed, Json, Missing, compile_expression
from jeton.expression.bounds import BUDGET
from tests.expression.given import evaluate, expression, over
from tests.expression.grammar import ANYTHING, FOREIGN, VALUES, VARIABLES, WELL_TYPED

WORDS = ("state", ".a", ".?b", "[0]", "(", ")", "+", "&&", "? 1 : 2", "==", "'x'", "1u", "null", ".map(i, i)", "{1: ")
SOUP = st.lists(st.sampled_from(WORDS), max_size=8).map("".join)


@settings(max_examples=300)
@given(source=st.one_of(ANYTHING, WELL_TYPED, FOREIGN, SOUP, st.text(max_size=20)), data=VALUES)
def test_evaluation_never_raises_and_gives_json(source: str, data: Json) -> None:
    try:
        fuzzed = compile_expression(source, VARIABLES)
    except ExpressionInvalid:
        return
    for scope in ({"state": data, "input": data, "n": data}, {}):
        outcome = fuzzed.evaluate(scope)
        assert isinstance(outcome, Missing | Failed) or json.dumps(outcome, allow_nan=False)
        assert isinstance(fuzzed.holds(scope), bool | Missing | Failed)
        assert json.dumps(fuzzed.values(scope)) is not None


def nested(depth: int) -> Json:
    value: Json = 1
    for _ in range(depth):
        value = [value]
    return value


def doubled(template: str, times: int) -> str:
    """`cel.bind(v1, v0 + v0, cel.bind(v2, v1 + v1, …))`."""
    body = f"v{times}"
    for n in reversed(range(times)):
        body = f"cel.bind(v{n + 1}, {template.replace('v', f'v{n}')}, {body})"
    return f"cel.bind(v0, state.x, {body})"


@pytest.mark.parametrize(
    ("source", "data", "says"),
    [
        pytest.param("state.x.all(a, state.x.all(b, state.x.all(c, a + b + c >= 0)))", [*range(300)], "steps",
                     id="loops in loops in loops"),
        pytest.param("state.x.filter(i, i % 2 == 0)", [*range(300_000)], "steps", id="a loop over too long a list"),
        pytest.param("state.x.filter(i, i in state.x)", [*range(5_000)], "steps", id="a search in every round"),
        pytest.param("state.x.filter(i, state.x == [i])", [[*range(999)]] * 999, "steps", id="a large comparison"),
        pytest.param("state.x.map(i, state.x + state.x)", [*range(5_000)], "steps", id="a large list in every round"),
        pytest.param("state.x.map(i, i + i)", ["a" * 400_000] * 20, "steps", id="a large text in every round"),
        pytest.param("state.x.map(i, i.replace('a', i))", ["a" * 900] * 500, "steps", id="a large replacement"),
        pytest.param("state.x.map(i, i.contains('ab'))", ["a" * 900_000] * 20, "steps", id="a search of large texts"),
        pytest.param("state.x.map(i, i.matches('(a+)+$'))", ["a" * 9_000] * 2_000, "steps", id="many matches"),
        pytest.param(" && ".join(["state.x.all(i, i >= 0)"] * 100), [*range(50_000)], "steps", id="loops side by side"),
        pytest.param("state.x + state.x", "a" * 600_000, "larger than", id="too large a text"),
        pytest.param("state.x.replace('a', state.x)", "a" * 2_000, "larger than", id="too large a replacement"),
        pytest.param("[state.x, state.x].join(state.x)", "a" * 400_000, "larger than", id="too large a join"),
        pytest.param("state.x.replace([b'', 'x'][1], [b'', state.x][1]).size()", "x" * 20_000, "too much text",
                     id="a replacement with values that JSON does not have"),
        pytest.param("size(" + "[b'', state.x][1] + " * 20 + "'')", "x" * 90_000, "too much text",
                     id="a sum of values that JSON does not have"),
        pytest.param("state.x.map(i, i.split('')).size()", ["x" * 20_000] * 100, "steps", id="a split in every round"),
        pytest.param("'%s'.format([" + ", ".join(["state.x"] * 200) + "])", "x" * 900_000, "hands more than",
                     id="data for the library many times over"),
        pytest.param("[state.x]" + ".map(a, a + a)" * 25, "0123456789", "larger than", id="a text doubled"),
        pytest.param("[state.x]" + ".map(a, [a, a])" * 25, 1, "more than 1,000,000 values", id="a list doubled"),
        pytest.param(doubled("[v, v, v, v]", 12), 1, "more than 1,000,000 values", id="names doubled 12 times"),
        pytest.param("state.x.map(i, state.x)", [*range(2_000)], "more than 1,000,000 values", id="data in data"),
        pytest.param("state.x.map(i, timestamp(i)).size()", ["2026-01-01T00:00:00Z"] * 2_000, "too much data",
                     id="many values that JSON does not have"),
        pytest.param("state.x.matches('((a{99}){99}){99}')", "a", "regular expression", id="a regular expression bomb"),
        pytest.param("state.x == [state.x]", nested(5_000), "nested", id="a comparison of deep data"),
        pytest.param("'%s'.format([state.x])", nested(5_000), "nested", id="deep data for the library"),
        pytest.param("[state.x, 1.0 / 2.0]", nested(5_000), "nested", id="deep data in a result"),
    ],
)  # fmt: skip
def test_a_bomb_fails_by_a_count_and_not_by_the_clock(source: str, data: Json, says: str) -> None:
    outcome = evaluate(source, over(data))
    assert isinstance(outcome, Failed)
    assert says in outcome.problem


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(doubled("v + v", 12), id="names for text doubled 12 times are still small"),
        pytest.param("state.x.matches('(a+)+$')", id="a pattern that would take other engines for ever"),
        pytest.param("!" * 9_000 + "has(state.x)", id="nine thousand times not"),
        pytest.param(" && ".join(["has(state.x)"] * 500), id="five hundred times and"),
        pytest.param("['a', 'b'].join([b'', state.x, 'y'][1])", id="a join with one of several texts"),
        pytest.param("cel.bind(x, [b'', state.x][1], x.replace('x', x))", id="a small replacement by a foreign value"),
        pytest.param(
            "['2026-01-01T00:00:00Z'].map(x, timestamp(x)).map(t, string(t).replace('2', state.x))",
            id="a replacement in every round",
        ),
        pytest.param("string(" * 30 + "state.x" + ")" * 30, id="thirty conversions in each other"),
    ],
)
def test_what_looks_like_a_bomb_and_is_none(source: str) -> None:
    assert not isinstance(evaluate(source, over("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")), Missing | Failed)


def test_no_or_makes_up_for_a_spent_budget() -> None:
    too_much = "state.x.all(i, state.x.all(j, state.x.all(k, true)))"
    outcome = evaluate(f"{too_much} || true", over([*range(BUDGET // 1_000)]))
    assert isinstance(outcome, Failed)


def test_a_loop_of_foreign_values_must_be_small() -> None:
    with pytest.raises(ExpressionInvalid, match="in a way that is too complex"):
        expression("[b'a']" + ".map(t, t + t + t + t + t + t + t + t)" * 6 + ".size()")


def test_names_for_foreign_values_must_be_few() -> None:
    doubling = "".join(f"cel.bind(b{n + 1}, b{n} + b{n}, " for n in range(12))
    with pytest.raises(ExpressionInvalid, match="too complex"):
        expression(f"cel.bind(b0, b'a', {doubling}size(b12))" + ")" * 12)


def test_an_expression_can_be_shared_between_threads() -> None:
    shared = [
        expression("state.n + 1"),
        expression("state.items.filter(i, i > state.n).map(i, string(i)).join(',')"),
        expression(
            "cel.bind(t, timestamp(state.n), t + duration('1s') > t) && 'a1'.matches('[a-z]' + string(state.n))"
        ),
    ]

    def round_trip(n: int) -> list[object]:
        return [each.evaluate({"state": {"n": n, "items": [*range(20)]}}) for each in shared]

    numbers = [*range(10)] * 400
    expected = {n: round_trip(n) for n in range(10)}
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(round_trip, numbers)) == [expected[n] for n in numbers]

"""What expressions give for plain data: values, missing keys, failures."""

import pytest

from jeton.expression import Failed, Json, Missing, literal
from tests.expression.given import evaluate, expression, over

SCOPE: dict[str, Json] = {
    "state": {
        "n": 5,
        "price": 2.5,
        "name": "ada",
        "ok": True,
        "none": None,
        "votes": {"yes": 3, "no": 1},
        "items": [{"id": 1, "at": "2026-01-02T00:00:00Z"}, {"id": 2, "at": "2026-03-04T00:00:00Z", "tag": "x"}],
        "order lines": 7,
        "max-size": 8,
    },
    "input": {"limit": 3, "key": "yes"},
    "output": {},
}


@pytest.mark.parametrize(
    ("source", "then"),
    [
        pytest.param("state.n", 5, id="a path gives what is there"),
        pytest.param("state.none", None, id="a null that is there is a value"),
        pytest.param('state["order lines"]', 7, id="an index with text is a field"),
        pytest.param("state.`max-size`", 8, id="a field that is no plain word may stand in backticks"),
        pytest.param("'text'", "text", id="text in quotes is text"),
        pytest.param("[1, 'a', {'b': null}]", [1, "a", {"b": None}], id="lists and maps are written as in JSON"),
        pytest.param("-7 / 2", -3, id="division of ints goes towards zero"),
        pytest.param("-7 % 2", -1, id="the remainder has the sign of the dividend"),
        pytest.param("state.n * 1.5", 7.5, id="beside a double an int becomes one"),
        pytest.param("2.0 * state.n", 10.0, id="on either side"),
        pytest.param("state.n + 0.5 - 1", 4.5, id="in sums"),
        pytest.param("state.n / 2.0", 2.5, id="and quotients"),
        pytest.param("state.n / 2", 2, id="integers stay integers"),
        pytest.param("size('abc') * 1.2 > 3", True, id="where the int is known before"),
        pytest.param("[1, 2].map(i, i * 0.5)", [0.5, 1.0], id="in a loop"),
        pytest.param(
            "['2026-01-01T00:00:05Z'].map(x, timestamp(x)).map(t, t.getSeconds() * 1.5)",
            [7.5],
            id="beside values that JSON does not have",
        ),
        pytest.param("[[b'', 3][1] * 1.5, [b'', 1.5][1] * 2]", [4.5, 3.0], id="taken from among such values"),
        pytest.param("9007199254740993 == 9007199254740992.0", False, id="an int and a double compare exactly"),
        pytest.param("dyn(9007199254740993) > 9007199254740992.0", True, id="in order too"),
        pytest.param("state.n > 4.5", True, id="an int and a double compare"),
        pytest.param("state.n == 5.0", True, id="an int and a double may be the same number"),
        pytest.param("state.ok == 1", False, id="a bool is no number"),
        pytest.param("[state.ok] == [1]", False, id="a bool in a list is no number"),
        pytest.param("state.none == 0", False, id="null equals nothing but null"),
        pytest.param("[1, 2] + [3]", [1, 2, 3], id="lists are joined with plus"),
        pytest.param("'a' + state.name", "aada", id="so is text"),
        pytest.param("has(state.votes.maybe)", False, id="has is false for a key that is not there"),
        pytest.param("has(state.none)", True, id="has is true for a null"),
        pytest.param("state.gone == 1 || state.ok", True, id="or does without a side that is missing"),
        pytest.param("state.gone == 1 && state.n == 4", False, id="so does and"),
        pytest.param("has(state.gone) ? state.gone : 'no'", "no", id="the side that is not chosen is not evaluated"),
        pytest.param("'yes' in state.votes", True, id="in looks at the keys of a map"),
        pytest.param("2 in [1, 2.0]", True, id="in looks at the items of a list"),
        pytest.param("state.votes[input.key]", 3, id="an index may be computed"),
        pytest.param("size(state.items) + state.name.size()", 5, id="size is a function and a method"),
        pytest.param("double(state.n) * 0.5", 2.5, id="double makes an int fit for arithmetic with doubles"),
        pytest.param("string(state.n) + string(state.price)", "52.5", id="string writes numbers"),
        pytest.param("int('12') + int(2.9)", 14, id="int reads text and cuts doubles"),
        pytest.param("string((state.n + 0.5) + 0.25)", "5.75", id="numbers mix in what is made text"),
        pytest.param("string(0.25 + (0.5 + state.price))", "3.25", id="and doubles stay what they are in it"),
    ],
)
def test_values(source: str, then: Json) -> None:
    outcome = evaluate(source, SCOPE)
    assert (outcome, type(outcome)) == (then, type(then))


@pytest.mark.parametrize(
    ("source", "then"),
    [
        pytest.param("state.items.exists(i, i.id == 2)", True, id="exists: one item is enough"),
        pytest.param("state.items.exists(i, i.tag == 'x')", True, id="exists: items without the key do not matter"),
        pytest.param("state.items.all(i, i.id > 0)", True, id="all: every item"),
        pytest.param("state.items.exists_one(i, i.id > 1)", True, id="exists_one: exactly one"),
        pytest.param("state.items.map(i, i.id * 2)", [2, 4], id="map: one value for each item"),
        pytest.param("state.items.map(i, i.id > 1, i.id)", [2], id="map: with a condition"),
        pytest.param("state.items.filter(i, has(i.tag)).map(i, i.id)", [2], id="filter: the items that fit"),
        pytest.param("state.votes.map(k, k + '!')", ["no!", "yes!"], id="a map is its keys, in order"),
        pytest.param("[1, 2].map(i, [3].map(j, i + j))", [[4], [5]], id="loops nest"),
        pytest.param("[1].map(state, state + 1)", [2], id="a loop's variable hides one of the same name"),
        pytest.param("cel.bind(v, state.votes, v.yes + v.no)", 4, id="bind: a name for a value"),
        pytest.param("cel.bind(v, state.gone, 1)", 1, id="bind: a missing value that nobody reads"),
        pytest.param("state.?votes.?maybe.orValue(0)", 0, id="optional: a value for what is missing"),
        pytest.param("state.?votes.yes.orValue(0)", 3, id="optional: what is there"),
        pytest.param("state.items[?5].hasValue()", False, id="optional: an index out of range"),
        pytest.param("state.?a.or(state.?n).value()", 5, id="optional: the first that is there"),
        pytest.param("state.?n.optMap(n, n + 1).orValue(0)", 6, id="optional: with a function applied"),
    ],
)
def test_macros(source: str, then: Json) -> None:
    assert evaluate(source, SCOPE) == then


@pytest.mark.parametrize(
    ("source", "then"),
    [
        pytest.param("state.name.matches('^a.a$')", True, id="matches"),
        pytest.param("state.name.contains('d') && state.name.startsWith('a')", True, id="contains and startsWith"),
        pytest.param("'a,b'.split(',')", ["a", "b"], id="split"),
        pytest.param("state.items.map(i, string(i.id)).join('-')", "1-2", id="join"),
        pytest.param("'ada'.replace('a', 'o')", "odo", id="replace"),
        pytest.param("'Ada'.lowerAscii() + 'x'.upperAscii()", "adaX", id="case"),
        pytest.param("'%s has %d'.format([state.name, state.n])", "ada has 5", id="format"),
        pytest.param("math.greatest(state.n, input.limit)", 5, id="math"),
        pytest.param("math.least([2, 1])", 1, id="math of a list"),
        pytest.param("state.items.filter(i, timestamp(i.at) > timestamp('2026-02-01T00:00:00Z')).size()", 1, id="time"),
        pytest.param("timestamp('2026-01-01T00:00:00Z') + duration('90m')", "2026-01-01T01:30:00Z", id="time as text"),
        pytest.param("duration('90s')", "90s", id="a duration as text"),
        pytest.param("timestamp(state.items[0].at).getFullYear()", 2026, id="a part of a time"),
        pytest.param("type(state.n) == int", True, id="types compare"),
        pytest.param("{1: 'one', true: 'yes'}[state.n - 4]", "one", id="a map with other keys can be looked up"),
        pytest.param("{1: 'one'}", {"1": "one"}, id="and becomes one with keys of text"),
        pytest.param("cel.bind(t, timestamp(state.items[0].at), state.items.exists(i, timestamp(i.at) > t))", True,
                     id="a time may have a name"),
        pytest.param("state.items.exists(i, i.id == 1) && cel.bind(t, timestamp('2026-01-01T00:00:00Z'), t == t)", True,
                     id="even after a loop that ended early"),
        pytest.param("cel.bind(t, duration('1s'), cel.bind(u, t + t, string(u + t)))", "3s", id="so may one of two"),
        pytest.param("cel.bind(t, duration('1s'), cel.bind(t, t + t, string(t)))", "2s", id="even with the same name"),
        pytest.param("[?state.?n, ?state.?gone]", [5], id="optional items"),
        pytest.param("1u + 1u", 2, id="unsigned numbers come out as ints"),
        pytest.param("b'a\\xff' == b'\\x61' + b'\\377'", True, id="bytes"),
        pytest.param("'%s'.format([[timestamp(0)].map(t, {'a': 1})])", "[{a: 1}]", id="data made of times"),
        pytest.param("[timestamp(0)].map(_0, string(_0) + state.name)", ["1970-01-01T00:00:00Zada"],
                     id="a loop variable may have any name"),
        pytest.param("timestamp((-5) * -1).getSeconds() - -5", 10, id="negative numbers"),
        pytest.param("string(timestamp(0) > timestamp(1) ? -1e999 : 1e999)", "inf", id="numbers beyond all others"),
    ],
)  # fmt: skip
def test_functions_and_values_of_the_library(source: str, then: Json) -> None:
    assert evaluate(source, SCOPE) == then


@pytest.mark.parametrize(
    ("source", "path"),
    [
        pytest.param("state.gone", "state.gone", id="a field"),
        pytest.param("state.votes.maybe.more", "state.votes.maybe", id="the first key that is not there"),
        pytest.param("result.ok", "result", id="a variable that is declared but absent"),
        pytest.param("_branch", "_branch", id="a variable alone"),
        pytest.param("has(result.ok)", "result", id="has looks at one key only"),
        pytest.param('state["no such"]', 'state["no such"]', id="a key that is no plain word"),
        pytest.param("state.votes[input.key + '!']", 'state.votes["yes!"]', id="a computed key"),
        pytest.param("state.votes[1]", "state.votes[1]", id="a key that JSON cannot have"),
        pytest.param("state.items[0].tag", "state.items[0].tag", id="a field of an item"),
        pytest.param("state.items.map(i, i.tag)", "state.items[].tag", id="a field of the items of a loop"),
        pytest.param("state.n + state.gone", "state.gone", id="an operand"),
        pytest.param("state.gone.matches('x')", "state.gone", id="an argument of the library"),
        pytest.param("timestamp(state.gone) > timestamp(state.none)", "state.gone", id="the first of two problems"),
        pytest.param("state.ok && state.gone", "state.gone", id="a side that and needs"),
        pytest.param("state.ok && state.n == 5 && state.gone", "state.gone", id="one of three"),
        pytest.param("cel.bind(v, state.gone, v + 1)", "state.gone", id="what a name stands for"),
    ],
)
def test_missing_keys(source: str, path: str) -> None:
    assert evaluate(source, SCOPE) == Missing(path)


@pytest.mark.parametrize(
    ("source", "position", "says"),
    [
        pytest.param("state.n % dyn(2.0)", "1:9", "no % for int and double", id="a remainder takes integers only"),
        pytest.param("1e300 * 1e300", "1:7", "inf", id="a double that overflows"),
        pytest.param("1e300 * 1e300 > 1.0", "1:7", "inf", id="even if it is only compared"),
        pytest.param("double('NaN') > 1.0", "1:7", "nan", id="not-a-number from a text"),
        pytest.param("state.n / 0", "1:9", "divides by zero", id="division by zero"),
        pytest.param("state.n % 0", "1:9", "divides by zero", id="remainder by zero"),
        pytest.param("9223372036854775807 + state.n", "1:21", "64 bits", id="overflow"),
        pytest.param("state.items[7]", "1:12", "index 7 is out of range", id="an index out of range is no missing key"),
        pytest.param("state.items['a']", "1:12", "list, which has no field 'a'", id="a list with a key"),
        pytest.param("state.n.more", "1:8", "int, which has no field 'more'", id="a field of a number"),
        pytest.param("state.none.more", "1:11", "null, which has no field", id="a field of null"),
        pytest.param("state.n && true", "1:9", "no && for int and bool", id="and with a number"),
        pytest.param("!state.n", "1:1", "no ! for int", id="not of a number"),
        pytest.param("state.n ? 1 : 2", "1:9", "condition before ? is int", id="a condition that is no bool"),
        pytest.param("state.items.filter(i, i.id)", "1:19", "condition of the loop gives int", id="a filter by number"),
        pytest.param("state.n.map(i, i)", "1:12", "int has no items", id="a loop over a number"),
        pytest.param("size(state.n)", "1:5", "no size for int", id="the size of a number"),
        pytest.param("state.n.matches('x')", "1:16", "(int).matches(string)", id="text functions of a number"),
        pytest.param("1 +\n  state.n / 0", "2:11", "divides by zero", id="the position counts lines"),
        pytest.param("'é😀' + state.n", "1:6", "no + for string and int", id="the position counts characters"),
        pytest.param("timestamp('soon')", "1:10", "imestamp", id="text that is no time"),
        pytest.param("int('many')", "1:4", "cannot convert string to int", id="text that is no number"),
        pytest.param("b'abc'", "1:1", "bytes", id="bytes are no JSON"),
        pytest.param("[1.0 / 0.0]", "1:6", "divides by zero", id="a double divided by zero"),
        pytest.param("0.0 / 0", "1:5", "divides by zero", id="zero divided by zero"),
        pytest.param("18446744073709551615u", "1:1", "64 bits", id="nor are unsigned numbers above 64 bits"),
        pytest.param("{input.limit: 1}", "1:1", "key of a map is int", id="a computed key must be text"),
        pytest.param("{'a': 1, 'a': 2}", "1:1", "twice", id="a key twice"),
        pytest.param("state.?gone", "1:6", "orValue", id="an optional that nobody opened"),
        pytest.param("[{'a': state.?n}]", "1:1", "orValue", id="or that is inside a map"),
    ],
)
def test_failures(source: str, position: str, says: str) -> None:
    outcome = evaluate(source, SCOPE)
    assert isinstance(outcome, Failed)
    assert says in outcome.problem
    assert outcome.position == position


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("state.x", id="as a whole"),
        pytest.param("state.x + 1", id="in arithmetic"),
        pytest.param("string(state.x)", id="in the library"),
        pytest.param("[state.x].size()", id="in a list"),
    ],
)
@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1, 10**400])
def test_an_integer_beyond_64_bits_in_the_data_fails(source: str, number: int) -> None:
    outcome = evaluate(source, over(number))
    assert isinstance(outcome, Failed)
    assert "64 bits" in outcome.problem


def test_a_failure_shows_the_values_it_read_shortened() -> None:
    outcome = evaluate("state.list[9] + state.gone + input", {"state": {"list": [*range(9)]}, "input": "y" * 1000})
    assert isinstance(outcome, Failed)
    assert outcome.values == {"state.list": [*range(9)], "input": "y" * 200 + "… (1000 characters)"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param([*range(12)], [*range(10), "… 2 more"], id="the first items of a list"),
        pytest.param(
            {f"k{n}": n for n in range(11)}, {**{f"k{n}": n for n in range(10)}, "…": "1 more"}, id="of a map"
        ),
        pytest.param([[[[[1, 2]]]]], [[[["[2 items]"]]]], id="the outer levels"),
        pytest.param([[[[{"a": 1}]]]], [[[["{1 keys}"]]]], id="of maps too"),
    ],
)
def test_values_are_shortened(value: Json, shown: Json) -> None:
    assert expression("state.x").values(over(value)) == {"state.x": shown}


def test_values_leave_out_what_is_missing() -> None:
    assert expression("state.a.b == state.c || has(state.d)").values({"state": {"c": 1, "d": None}}) == {
        "state.c": 1,
        "state.d": None,
    }


@pytest.mark.parametrize(
    ("source", "then"),
    [
        pytest.param("state.x == 1", True, id="true"),
        pytest.param("state.x != 1", False, id="false"),
        pytest.param("state.gone", Missing("state.gone"), id="missing"),
        pytest.param(
            "state.x", Failed("the condition gives int, not bool", "1:1", {"state.x": 1}), id="no bool is a failure"
        ),
    ],
)
def test_conditions(source: str, then: bool | Missing | Failed) -> None:
    assert expression(source).holds(over(1)) == then


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "state.x", [1, [2]], {"a": {"b": "${state.x}"}}, {}, []])
def test_a_literal_is_always_its_value(value: Json) -> None:
    constant = literal(value)
    assert constant.evaluate({}) == value
    assert constant.reads == ()


def test_a_literal_integer_beyond_64_bits_fails() -> None:
    outcome = literal([2**63]).evaluate({})
    assert isinstance(outcome, Failed)
    assert "64 bits" in outcome.problem


def test_data_is_never_evaluated_again() -> None:
    assert evaluate("state.x", over("${1 + 1} {{ 2 }} state.y")) == "${1 + 1} {{ 2 }} state.y"

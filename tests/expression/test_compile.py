"""What is refused before it ever runs, and what to write instead."""

import pytest

from jeton.expression import ExpressionInvalid, ExpressionProblem, compile_expression
from tests.expression.given import VARIABLES, expression


def problems(source: str) -> tuple[ExpressionProblem, ...]:
    with pytest.raises(ExpressionInvalid) as refused:
        expression(source)
    return refused.value.problems


@pytest.mark.parametrize(
    ("source", "position", "problem", "remedy"),
    [
        pytest.param("sate.n < 1", "1:5", "no variable 'sate'", "did you mean 'state'?", id="a variable misspelt"),
        pytest.param("hello", "1:1", "no variable 'hello'", "a text is written 'hello'", id="text without quotes"),
        pytest.param("state.n.siz()", "1:12", "no function 'siz'", "did you mean 'size'?", id="a function misspelt"),
        pytest.param("len(state.n)", "1:4", "no function 'len'", "write size", id="a function of another language"),
        pytest.param("size(1, 2, 3)", "1:5", "no function 'size'", "number of arguments", id="too many arguments"),
        pytest.param("state.n = 1", "1:9", "'=' does not belong here", "write ==", id="one equals sign"),
        pytest.param("state.a and state.b", "1:9", "'and' does not belong", "write &&", id="and as a word"),
        pytest.param("state.n +", "1:10", "ends unexpectedly", "complete it", id="half an expression"),
        pytest.param("'text", "1:1", "string without a closing quote", "close it with '", id="half a text"),
        pytest.param("state.in", "1:7", "no field name", 'state["name"]', id="a field with a word of CEL for its name"),
        pytest.param("", "1:1", "is empty", "an empty text is ''", id="nothing"),
        pytest.param("'\ud800'", "1:2", "not valid Unicode", "remove", id="half a character"),
        pytest.param("99999999999999999999", "1:1", "invalid int literal", "64 bit", id="too large a number"),
        pytest.param("5 % 0.9", "1:3", "no % for int and double", "use integers", id="a remainder of a double"),
        pytest.param("5 * 0.9 + 'a'", "1:9", "no + for double and string", "string(", id="beside mixed numbers"),
        pytest.param("5 * 0.9 + foo(1)", "1:14", "no function 'foo'", "CEL", id="no word of mixed numbers"),
        pytest.param("'n' + 1", "1:5", "no + for string and int", 'write "n" + string(1)', id="text and number"),
        pytest.param("size(1)", "1:5", "what size takes", "list or map or string", id="the size of a number"),
        pytest.param(
            "true ? 1 : 'x'", "1:6", "two sides of ? : are int and string", "dyn(…)", id="two types of answer"
        ),
        pytest.param("google.protobuf.Struct{}", "1:1", "no plain data", "write a map", id="a protobuf message"),
        pytest.param("[1].map(state, .state)", "1:17", "past a variable", "another name", id="a variable out of reach"),
        pytest.param("cel.bind(t, timestamp(item.x), [1].map(item, t))", "1:9", "the name 'item' twice", "another name",
                     id="a name that would change its meaning"),
        pytest.param("1 +\n  sate.n", "2:7", "no variable 'sate'", "did you mean 'state'?", id="on the second line"),
        pytest.param("(" * 40 + "1" + ")" * 40, "1:1", "nested too deeply", "split it", id="too many brackets"),
        pytest.param("1" + " + 1" * 100, "1:1", "nested too deeply", "split it", id="too long a sum"),
        pytest.param("state.x" + " " * 10_000, "1:1", "10,007 characters", "split it", id="too long a source"),
    ],
)  # fmt: skip
def test_a_problem_says_where_and_what_to_write(source: str, position: str, problem: str, remedy: str) -> None:
    (found,) = problems(source)
    assert problem in found.problem
    assert remedy in found.remedy
    assert found.position == position


def test_all_unknown_names_are_reported_at_once() -> None:
    assert [(each.position, each.problem) for each in problems("sate.a + foo(inptu) + state.b.bar()")] == [
        ("1:5", "there is no variable 'sate' here"),
        ("1:13", "there is no function 'foo'"),
        ("1:14", "there is no variable 'inptu' here"),
        ("1:34", "there is no function 'bar'"),
    ]


def test_a_variable_cannot_have_the_name_of_a_type() -> None:
    with pytest.raises(ExpressionInvalid) as refused:
        compile_expression("list", {"state", "list"})
    assert refused.value.problems[0].problem == "the variable 'list' has the name of a CEL type"


def test_the_exception_reads_as_a_sentence() -> None:
    with pytest.raises(
        ExpressionInvalid, match="1:1: there is no variable 'a' here; 1:5: there is no variable 'b' here"
    ):
        compile_expression("a + b", VARIABLES)

"""YAML 1.2, core schema, and nothing that is more than plain data."""

import pytest

from jeton.definitions.report import Report
from jeton.definitions.text.plain import MAX_ALIASES, MAX_DEPTH
from jeton.definitions.text.yaml import read_yaml
from jeton.model.failure import Problem
from jeton.model.json import Json


def value_of(text: str) -> Json:
    report = Report()
    document = read_yaml(text, "library.yaml", report)
    assert report.problems == ()
    assert document is not None
    return document.value


def problems_of(text: str) -> tuple[Problem, ...]:
    report = Report()
    read_yaml(text, "library.yaml", report)
    return report.problems


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("[yes, no, on, off, y, N]", ["yes", "no", "on", "off", "y", "N"], id="yes and no are text"),
        pytest.param("[true, True, TRUE, false]", [True, True, True, False], id="true and false are not"),
        pytest.param("[null, ~, Null, ]", [None, None, None], id="null has three spellings"),
        pytest.param("{a: }", {"a": None}, id="nothing is null"),
        pytest.param("[1, -2, +3, 017]", [1, -2, 3, 17], id="integers are decimal, also behind a zero"),
        pytest.param("[0x1F, 0o17]", [31, 15], id="0x is hexadecimal, 0o octal"),
        pytest.param("[1.5, .5, 2., 1e3, -1.2E-3]", [1.5, 0.5, 2.0, 1000.0, -0.0012], id="floats, exponents included"),
        pytest.param("[12:30, 1_000, 0b11]", ["12:30", "1_000", "0b11"], id="the numbers of YAML 1.1 are text"),
        pytest.param("[2026-01-02, 2026-01-02T03:04:05Z]", ["2026-01-02", "2026-01-02T03:04:05Z"], id="times are text"),
        pytest.param("['1', \"true\", 'no']", ["1", "true", "no"], id="what is quoted is text"),
        pytest.param("a: |\n  1\n", {"a": "1\n"}, id="a block is text"),
        pytest.param("", None, id="an empty file is null"),
        pytest.param("# nothing\n", None, id="a comment is nothing"),
        pytest.param("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}, id="an alias stands for its anchor"),
        pytest.param('"\\u00e9 \\U0001F600"', "é 😀", id="escapes make characters"),
        pytest.param("9223372036854775807", 2**63 - 1, id="the largest integer of 64 bits"),
    ],
)
def test_what_yaml_means(text: str, value: Json) -> None:
    assert value_of(text) == value


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, MAX_DEPTH + 5))


@pytest.mark.parametrize(
    ("text", "code", "line", "path"),
    [
        pytest.param("a: 1\nb: 2\na: 3", "duplicate_key", 3, "a", id="one key twice"),
        pytest.param("a: !!int 3", "tag_refused", 1, "a", id="a tag of YAML's own"),
        pytest.param("a:\n  - !!python/object:os.system x", "tag_refused", 2, "a[0]", id="a tag that would run code"),
        pytest.param("a: !mine {b: 1}", "tag_refused", 1, "a", id="a tag on an object"),
        pytest.param("a: {1: x}", "key_not_text", 1, "a", id="a number as key"),
        pytest.param("a:\n  true: x", "key_not_text", 2, "a", id="a boolean as key"),
        pytest.param("? [1, 2]\n: x", "key_not_text", 1, "", id="a list as key"),
        pytest.param("a: {b: 1}\n<<: {c: 2}", "merge_key", 2, "", id="a merge key"),
        pytest.param("a: .nan", "number_not_finite", 1, "a", id="not a number"),
        pytest.param("a: [1, -.inf]", "number_not_finite", 1, "a[1]", id="infinity"),
        pytest.param("a: 1e999", "number_not_finite", 1, "a", id="a float that is too large"),
        pytest.param("a: 9223372036854775808", "number_too_large", 1, "a", id="an integer of 65 bits"),
        pytest.param("a: " + "9" * 5000, "number_too_large", 1, "a", id="an integer of 5000 digits"),
        pytest.param("a: 0x" + "f" * 5000, "number_too_large", 1, "a", id="a hexadecimal integer of 5000 digits"),
        pytest.param('a: "x\\0y"', "text_refused", 1, "a", id="a NUL"),
        pytest.param('"a\\0b": 1', "text_refused", 1, "", id="a NUL in a key"),
        pytest.param("a: *b", "bad_alias", 1, "a", id="an alias without an anchor"),
        pytest.param("a: &x [*x]", "bad_alias", 1, "a[0]", id="an alias inside itself"),
        pytest.param("--- a\n--- b", "several_documents", 2, "", id="two documents"),
        pytest.param("a: b: c", "syntax", 1, "", id="two colons"),
        pytest.param("a:\n  - b\n c: d", "syntax", 3, "", id="wrong indentation"),
        pytest.param("a: [1, 2", "syntax", 2, "", id="a list that is not closed"),
        pytest.param("a: x\ny: \x07", "syntax", 2, "", id="a control character"),
        pytest.param('"\\ud800"', "syntax", 1, "", id="half of a surrogate pair"),
        pytest.param("[" * 200, "too_deep", 1, "[0]" * 10, id="two hundred lists in each other"),
        pytest.param(CHAIN, "too_deep", MAX_DEPTH, "a99[0]", id="depth through aliases"),
        pytest.param(BOMB, "too_many_values", 6, "a5[3]", id="aliases of aliases of aliases"),
        pytest.param(
            "a: &a 1\nb:\n" + "  - *a\n" * (MAX_ALIASES + 1), "too_many_aliases", 1003, "b[1000]", id="many aliases"
        ),
    ],
)
def test_what_yaml_may_not_hold(text: str, code: str, line: int, path: str) -> None:
    first, *_ = problems_of(text)
    assert (first.code, first.line, first.path) == (code, line, path)
    assert first.severity == "error"
    assert first.remedy


def test_everything_refused_in_one_file_is_reported_at_once() -> None:
    text = "a: !x 1\nb: 2\nb: 3\n4: x\nc: .inf\n"
    assert [(p.code, p.line) for p in problems_of(text)] == [
        ("tag_refused", 1),
        ("duplicate_key", 3),
        ("key_not_text", 4),
        ("number_not_finite", 5),
    ]


def test_of_two_equal_keys_the_first_counts() -> None:
    document = read_yaml("a: 1\na: 2", "library.yaml", Report())
    assert document is not None
    assert document.value == {"a": 1}

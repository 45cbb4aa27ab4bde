"""JSON as JSON: no more than the standard says, and with lines."""

import pytest

from jeton.definitions.report import Report
from jeton.definitions.text.json import read_json
from jeton.model.json import Json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param('{"a":1,\t"b":[true,false,null]}', {"a": 1, "b": [True, False, None]}, id="objects and lists"),
        pytest.param("[-0.5, 1e3, 12, 0]", [-0.5, 1000.0, 12, 0], id="numbers"),
        pytest.param('["\\ud83d\\ude00", "\\n\\/"]', ["😀", "\n/"], id="surrogate pairs and escapes"),
        pytest.param(" {} \r\n", {}, id="space around it"),
        pytest.param("[]", [], id="nothing inside"),
        pytest.param('["yes", "no"]', ["yes", "no"], id="text is text"),
    ],
)
def test_what_json_means(text: str, value: Json) -> None:
    report = Report()
    document = read_json(text, "library.json", report)
    assert report.problems == ()
    assert document is not None
    assert document.value == value


@pytest.mark.parametrize(
    ("text", "code", "line", "path"),
    [
        pytest.param('{"a": 1,\n "a": 2}', "duplicate_key", 2, "a", id="one key twice"),
        pytest.param('{"a": NaN}', "number_not_finite", 1, "a", id="NaN"),
        pytest.param('{"a": -Infinity}', "number_not_finite", 1, "a", id="infinity"),
        pytest.param('{"a": 1e999}', "number_not_finite", 1, "a", id="a float that is too large"),
        pytest.param('{"a": 9223372036854775808}', "number_too_large", 1, "a", id="an integer of 65 bits"),
        pytest.param("[" + "9" * 5000 + "]", "number_too_large", 1, "[0]", id="an integer of 5000 digits"),
        pytest.param('{"a":\n["\\ud800"]}', "text_refused", 2, "a[0]", id="half of a surrogate pair"),
        pytest.param('{"a": "\\u0000"}', "text_refused", 1, "a", id="a NUL"),
        pytest.param("[" * 200, "too_deep", 1, "[0]" * 10, id="two hundred lists in each other"),
        pytest.param("[" * 100_000, "too_deep", 1, "[0]" * 10, id="a hundred thousand lists in each other"),
        pytest.param("[1,\n]", "syntax", 2, "[1]", id="a comma after the last value"),
        pytest.param('{"a": 1,}', "syntax", 1, "", id="a comma after the last key"),
        pytest.param("{a: 1}", "syntax", 1, "", id="a key without quotes"),
        pytest.param("{'a': 1}", "syntax", 1, "", id="single quotes"),
        pytest.param('{"a" 1}', "syntax", 1, "a", id="no colon"),
        pytest.param("[1 2]", "syntax", 1, "", id="no comma"),
        pytest.param('"a\nb"', "syntax", 1, "", id="a line break in a text"),
        pytest.param('{"a": yes}', "syntax", 1, "a", id="a bare word"),
        pytest.param("[017]", "syntax", 1, "", id="a zero before a number"),
        pytest.param('{"a":', "syntax", 1, "a", id="it ends too early"),
        pytest.param("{} {}", "syntax", 1, "", id="it goes on after its end"),
        pytest.param("// a\n{}", "syntax", 1, "", id="a comment"),
    ],
)
def test_what_json_may_not_hold(text: str, code: str, line: int, path: str) -> None:
    report = Report()
    read_json(text, "library.json", report)
    first, *_ = report.problems
    assert (first.code, first.line, first.path) == (code, line, path)
    assert first.remedy

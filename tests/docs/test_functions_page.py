"""docs/concepts/expressions.md lists every function, and each example gives what the page says."""

import json
import re

import pytest

from jeton.expression import compile_expression
from jeton.expression.problems import FUNCTIONS
from tests.docs.markdown import ROOT, block

PAGE = (ROOT / "docs" / "concepts" / "expressions.md").read_text()
ROWS = re.findall(r"^\| `(\S+)` \| `(.*)` \| `(.*)` \|$", PAGE, re.MULTILINE)


def test_every_function_is_listed() -> None:
    assert {name for name, _, _ in ROWS} == {*FUNCTIONS}


@pytest.mark.parametrize(("name", "source", "value"), ROWS, ids=[f"{name}: {source}" for name, source, _ in ROWS])
def test_an_example_gives_what_the_page_says(name: str, source: str, value: str) -> None:
    assert f"{name}(" in source
    result = compile_expression(source, {"input"}).evaluate({"input": json.loads(block(PAGE, "json"))})
    assert repr(result) == repr(json.loads(value))

"""The library is the authority on CEL: whatever we evaluate ourselves must agree with it."""

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from jeton.expression import Failed, Json, Missing, Outcome, compile_expression
from jeton.expression.library import CelError, compile_source
from jeton.expression.problems import ExpressionInvalid

VARIABLES = frozenset({"state", "input", "n", "gone"})
FIELDS = ("a", "b", "c")
INTS = st.integers(-3, 3) | st.sampled_from([2**53 + 1, 2**62, 2**63 - 1, -(2**63)])
DOUBLES = st.sampled_from([0.0, -0.0, 0.5, 1.0, -2.0, 1e300, float(2**53), float(2**63)])
TEXTS = st.sampled_from(["", "a", "b", "ab", "é😀", "1"])
SCALARS = st.none() | st.booleans() | INTS | DOUBLES | TEXTS
VALUES: st.SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=3)
SCOPES = st.fixed_dictionaries({"state": OBJECTS, "input": OBJECTS | VALUES, "n": VALUES})


def spelled(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"({value})"
        case _:
            return f"'{value}'"


PATHS = st.builds(
    lambda root, keys: root + "".join(keys),
    st.sampled_from(["state", "input", "n", "gone", "item"]),
    st.lists(st.sampled_from([".a", ".b", ".c", "['a']", "[0]", "[1]"]), max_size=3),
)
LEAVES = PATHS | PATHS | SCALARS.map(spelled)
BINARY = ("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "in", "&&", "||")


def compose(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(lambda a, op, b: f"({a} {op} {b})", inner, st.sampled_from(BINARY), inner),
        st.builds(lambda a, op, b: f"({a} {op} {b})", inner, st.sampled_from(BINARY), inner),
        st.builds(
            lambda op, a: f"{op}({a})", st.sampled_from(["!", "-", "size", "double", "int", "string", "dyn"]), inner
        ),
        st.builds(lambda a, b, c: f"(dyn({a}) ? dyn({b}) : dyn({c}))", inner, inner, inner),
        st.builds(lambda a, f: f"has(({a}).{f})", PATHS, st.sampled_from(FIELDS)),
        st.builds(lambda a, b: f"dyn({a})[dyn({b})]", inner, inner),
        st.builds(lambda a, m, b: f"dyn({a}).{m}(dyn({b}))", inner, st.sampled_from(["contains", "startsWith"]), inner),
        st.builds(lambda a, b: f"[dyn({a}), dyn({b})]", inner, inner),
        st.builds(lambda a, b: f"{{'a': dyn({a}), 'b': dyn({b})}}", inner, inner),
        st.builds(
            lambda a, m, b: f"dyn({a}).{m}(item, dyn({b}))",
            inner,
            st.sampled_from(["exists", "all", "exists_one", "map", "filter"]),
            inner,
        ),
        st.builds(lambda a, b: f"cel.bind(item, dyn({a}), {b})", inner, inner),
        st.builds(lambda a, f, b: f"(dyn({a})).?{f}.orValue(dyn({b}))", inner, st.sampled_from(FIELDS), inner),
    )


SOURCES = st.recursive(LEAVES, compose, max_leaves=8)


def by_library(source: str, scope: dict[str, Json]) -> Outcome:
    """What the library gives for the whole expression and the whole scope."""
    try:
        return compile_source(source, VARIABLES).run(scope)
    except CelError as error:
        missing = re.search(r'Key not found in map : "?(.*?)"?$|No value with name "(.*)" found', str(error), re.DOTALL)
        return Missing(missing[1] or missing[2] or "") if missing else Failed(str(error), "1:1", {})


def same(ours: Outcome, theirs: Outcome) -> bool:
    match ours, theirs:
        case Missing(path), Missing(key):
            return path.endswith((key, f'["{key}"]', f"[{key}]"))
        case Failed(), Failed():
            return True
        case Failed(), float():
            return theirs - theirs != 0  # the library gives the infinity that JSON does not have
        case ((Missing() | Failed()), _):
            return "inf" in repr(theirs) or "nan" in repr(theirs)
        case _:
            return repr(ours) == repr(theirs) or sorted_keys(ours) == sorted_keys(theirs)


def sorted_keys(value: Outcome) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {sorted_keys(value[key])}" for key in sorted(value)) + "}"
    return "[" + ", ".join(map(sorted_keys, value)) + "]" if isinstance(value, list) else repr(value)


@settings(max_examples=500, deadline=None)
@given(source=SOURCES, scope=SCOPES)
def test_we_agree_with_the_library(source: str, scope: dict[str, Json]) -> None:
    try:
        expression = compile_expression(source, VARIABLES)
    except ExpressionInvalid:
        return
    ours, theirs = expression.evaluate(scope), by_library(source, scope)
    assert same(ours, theirs), (source, scope, ours, theirs)

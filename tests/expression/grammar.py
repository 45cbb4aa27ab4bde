"""Random expressions, and data to evaluate them on."""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from jeton.expression import Json

VARIABLES = frozenset({"state", "input", "n", "gone"})
KEYS = ("a", "b", "c")
INTS = st.integers(-3, 3) | st.sampled_from([2**53 + 1, 2**62, 2**63 - 1, -(2**63)])
DOUBLES = st.sampled_from([0.0, -0.0, 0.5, 1.0, -2.0, 1e300, float(2**53), float(2**63)])
TEXTS = st.sampled_from(["", "a", "b", "ab", "é😀", "1"])
SCALARS: SearchStrategy[Json] = st.one_of(st.none(), st.booleans(), INTS, DOUBLES, TEXTS)
VALUES: SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3)
SCOPES: SearchStrategy[dict[str, Json]] = st.fixed_dictionaries({"state": OBJECTS, "input": VALUES, "n": VALUES})


def filled(template: str, *parts: SearchStrategy[str]) -> SearchStrategy[str]:
    """The template with each «» replaced by one of the parts."""

    def fill(found: tuple[str, ...]) -> str:
        pieces = template.split("«»")
        return "".join(piece + part for piece, part in zip(pieces, (*found, ""), strict=True))

    return st.tuples(*parts).map(fill)


def any_of(*choices: str) -> SearchStrategy[str]:
    return st.sampled_from(choices)


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


STEP = any_of(".a", ".b", ".c", "['a']", "[0]", "[1]")
ROOT = any_of("state", "input", "n", "gone", "item")
PATHS = st.one_of(ROOT, filled("«»«»", ROOT, STEP), filled("«»«»«»", ROOT, STEP, STEP))
OPERATORS = any_of("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "in", "&&", "||")


def composed(inner: SearchStrategy[str]) -> SearchStrategy[str]:
    """Types are hidden behind dyn(), or the library's checker would refuse most of what comes out."""
    return st.one_of(
        filled("(«» «» «»)", inner, OPERATORS, inner),
        filled("(dyn(«») «» dyn(«»))", inner, OPERATORS, inner),
        filled("(dyn(«») «» dyn(«») «» dyn(«»))", inner, any_of("&&", "||"), inner, any_of("&&", "||"), inner),
        filled("«»(dyn(«»))", any_of("!", "-", "size", "double", "int", "string", "dyn"), inner),
        filled("(dyn(«») ? dyn(«») : dyn(«»))", inner, inner, inner),
        filled("has((«»).«»)", PATHS, any_of(*KEYS)),
        filled("dyn(«»)[dyn(«»)]", inner, inner),
        filled("dyn(«»).«»(dyn(«»))", inner, any_of("contains", "startsWith", "endsWith", "matches", "split"), inner),
        filled("[dyn(«»), dyn(«»)]", inner, inner),
        filled("{'a': dyn(«»), 'b': dyn(«»)}", inner, inner),
        filled("dyn(«»).«»(item, dyn(«»))", inner, any_of("exists", "all", "exists_one", "map", "filter"), inner),
        filled("cel.bind(item, dyn(«»), «»)", inner, inner),
        filled("dyn(«»).?«».orValue(dyn(«»))", inner, any_of(*KEYS), inner),
        filled("dyn(«»)[?dyn(«»)].«».hasValue()", inner, inner, any_of(*KEYS)),
    )


ANYTHING: SearchStrategy[str] = st.recursive(st.one_of(PATHS, PATHS, SCALARS.map(spelled)), composed, max_leaves=8)

# expressions that mostly have a value, over a scope with a field of each type
int_: SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        any_of("state.i", "state.j", "n", "3", "(-7)", "state.m.k"),
        filled("(«» «» «»)", int_, any_of("+", "-", "*", "/", "%"), int_),
        filled("(-«»)", int_),
        filled("size(«»)", text),
        filled("«».size()", list_),
        filled("(«» ? «» : «»)", bool_, int_, int_),
        filled("state.l[«»]", any_of("0", "1", "7")),
        filled("int(«»)", double),
        filled("state.?«».orValue(«»)", any_of("i", "gone"), int_),
        filled("math.greatest(«», «»)", int_, int_),
        filled("cel.bind(v, «», (v + «»))", int_, int_),
        filled("timestamp(«» % 1000).getSeconds()", int_),
        filled("«».indexOf(«»)", text, text),
    )
)
double: SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        any_of("state.d", "0.5", "state.e"),
        filled("(«» «» «»)", double, any_of("+", "-", "*", "/"), double),
        filled("double(«»)", int_),
        filled("math.floor(«»)", double),
    )
)
text: SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        any_of("state.s", "state.t", "'ab'"),
        filled("(«» + «»)", text, text),
        filled("string(«»)", int_),
        filled("string(«»)", double),
        filled("«».lowerAscii()", text),
        filled("«».replace(«», «»)", text, text, text),
        filled("«».map(v, string(v)).join(«»)", list_, text),
        filled("(«» ? «» : «»)", bool_, text, text),
    )
)
bool_: SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        any_of("state.b", "true", "has(state.i)", "has(state.gone)", "state.gone"),
        filled("(«» «» «»)", int_, any_of("<", "<=", ">", ">=", "==", "!="), int_),
        filled("(«» «» dyn(«»))", int_, any_of("<", "=="), double),
        filled("(«» «» «»)", text, any_of("<", "==", "!="), text),
        filled("(«» «» «»)", bool_, any_of("&&", "||"), bool_),
        filled("(«» && «» && «»)", bool_, bool_, bool_),
        filled("!«»", bool_),
        filled("«».contains(«»)", text, text),
        filled("«».matches('a.*')", text),
        filled("(«» in «»)", int_, list_),
        filled("(«» == «»)", list_, list_),
        filled("«».«»(v, (v > «»))", list_, any_of("exists", "all", "exists_one"), int_),
        filled("state.o.«»(o, (o.«» == «»))", any_of("exists", "all"), any_of("id", "tag"), int_),
        filled("(timestamp(«» % 1000) < timestamp(«» % 1000))", int_, int_),
        filled("(type(«») == int)", int_),
    )
)
list_: SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        any_of("state.l", "[1, 2]", "state.o.map(o, o.id)", "state.o.filter(o, has(o.tag)).map(o, o.tag)"),
        filled("[«», «»]", int_, int_),
        filled("(«» + «»)", list_, list_),
        filled("«».map(v, (v + «»))", list_, int_),
        filled("«».filter(v, (v > «»))", list_, int_),
        filled("«».map(v, (v > «»), («» + v))", list_, int_, int_),
    )
)
WELL_TYPED: SearchStrategy[str] = st.one_of(
    int_, double, text, bool_, list_, filled("{'a': «», 'b': «», 'c': [«»]}", bool_, list_, text)
)
TYPED_SCOPES: SearchStrategy[dict[str, Json]] = st.fixed_dictionaries(
    {
        "state": st.fixed_dictionaries(
            {
                "i": INTS,
                "d": DOUBLES,
                "s": TEXTS,
                "t": TEXTS,
                "b": st.booleans(),
                "l": st.lists(st.integers(-3, 3), max_size=4),
                "o": st.lists(
                    st.fixed_dictionaries({"id": st.integers(-3, 3)}, optional={"tag": st.integers(0, 1)}), max_size=4
                ),
            },
            optional={"j": INTS, "e": DOUBLES, "m": st.fixed_dictionaries({}, optional={"k": INTS})},
        )
    },
    optional={"n": INTS},
)

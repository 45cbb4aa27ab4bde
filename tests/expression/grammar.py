"""Random expressions, and data to evaluate them on."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from jeton.expression import Json

VARIABLES = frozenset({"state", "input", "n", "gone", "item"})
KEYS: SearchStrategy[str] = st.sampled_from("abc")
INTS = st.integers(-3, 3) | st.sampled_from([2**53 + 1, 2**62, 2**63 - 1, -(2**63)])
DOUBLES = st.sampled_from([0.0, -0.0, 0.5, 1.0, -2.0, 1e300])
TEXTS = st.sampled_from(["", "a", "b", "ab", "é😀", "1"])
SCALARS: SearchStrategy[Json] = st.one_of(st.none(), st.booleans(), INTS, DOUBLES, TEXTS)
VALUES: SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def record(**fields: SearchStrategy[Any]) -> SearchStrategy[dict[str, Json]]:
    """Objects with these fields, of which those whose name ends in _ may be absent."""
    required = {name: field for name, field in fields.items() if not name.endswith("_")}
    optional = {name.removesuffix("_"): field for name, field in fields.items() if name.endswith("_")}
    return st.fixed_dictionaries(required, optional=optional)


OBJECTS = st.dictionaries(KEYS, VALUES, max_size=3)
SCOPES: SearchStrategy[dict[str, Json]] = record(state=OBJECTS, input=VALUES, n=VALUES)

Rules: TypeAlias = Mapping[str, Sequence[str]]


def sentences(rules: Rules, start: str, depth: int) -> SearchStrategy[str]:
    """Texts that the rules make of «start»; the first rule of each word has no words in it, and ends the matter."""

    @st.composite
    def sentence(draw: DrawFn) -> str:
        return expand(draw, start, depth)

    def expand(draw: DrawFn, word: str, left: int) -> str:
        rule = draw(st.sampled_from(rules[word] if left > 0 else rules[word][:1]))
        if rule.startswith("one of "):
            return draw(st.sampled_from(rule.removeprefix("one of ").split(" ")))
        made = ""
        for piece in rule.split("«"):
            inner, found, rest = piece.partition("»")
            made += expand(draw, inner, left - 1) + rest if found else piece
        return made

    return sentence()


# types are hidden behind dyn(), or the library's checker would refuse most of what comes out
ANYTHING: SearchStrategy[str] = sentences(
    {
        "leaf": [
            "one of state input n gone item state.a state.b.c input.a n['a'] state.a[0] null true 1 (-2) 0.5 'a' ''"
        ],
        "key": ["one of a b c"],
        "operator": ["one of + - * / % < <= > >= == != in && ||"],
        "junction": ["one of && ||"],
        "function": ["one of ! - size double int string dyn"],
        "method": ["one of contains startsWith endsWith matches split"],
        "macro": ["one of exists all exists_one map filter"],
        "any": [
            "one of state input n gone item state.a state.b.c input.a n['a'] state.a[0] null true 1 (-2) 0.5 'a' ''",
            "(dyn(«any») «operator» dyn(«any»))",
            "(dyn(«any») «operator» «any»)",
            "(dyn(«any») «junction» dyn(«any») «junction» dyn(«any»))",
            "«function»(dyn(«any»))",
            "(dyn(«any») ? dyn(«any») : dyn(«any»))",
            "has((«leaf»).«key»)",
            "dyn(«any»)[dyn(«any»)]",
            "dyn(«any»).«key»",
            "dyn(«any»).«method»(dyn(«any»))",
            "[dyn(«any»), dyn(«any»)]",
            "{'a': dyn(«any»), 'b': dyn(«any»)}",
            "dyn(«any»).«macro»(item, dyn(«any»))",
            "cel.bind(item, dyn(«any»), «any»)",
            "dyn(«any»).?«key».orValue(dyn(«any»))",
            "dyn(«any»)[?dyn(«any»)][dyn(«any»)].hasValue()",
        ],
    },
    "any",
    depth=4,
)

# values that JSON does not have, in places good and bad
FOREIGN: SearchStrategy[str] = sentences(
    {
        "any": [
            "one of state state.a timestamp(state.a) b'x' 1u type(1) {1:2} optional.of(1) state.?a 1 'a' [1,2] int",
            "timestamp('2026-01-01T00:00:00Z')",
            "duration('1s')",
            "[«any»]",
            "{'a': «any»}",
            "{«any»: 1}",
            "[?optional.of(«any»)]",
            "{?'a': optional.of(«any»)}",
            "dyn(«any»)",
            "string(«any»)",
            "size(«any»)",
            "type(«any»)",
            "(«any» + «any»)",
            "(«any» == «any»)",
            "(«any» < «any»)",
            "(«any» in [«any»])",
            "(«any» ? «any» : «any»)",
            "(«any» && «any»)",
            "[«any»].map(i, i)",
            "[«any»].map(i, «any»)",
            "[«any»].exists(i, i == «any»)",
            "cel.bind(i, «any», [i, «any»])",
            "optional.of(«any»)",
            "(«any»).orValue(«any»)",
            "dyn(«any»).a",
            "«any».?a",
            "(«any»)[«any»]",
            "(«any»)[?«any»]",
            "'%s'.format([«any»])",
            "math.greatest(«any», «any»)",
            "dyn(«any»).getSeconds()",
            "dyn(«any»).optMap(i, i).orValue(«any»)",
        ],
    },
    "any",
    depth=3,
)

# expressions that mostly have a value, over a scope with a field of each type
WELL_TYPED: SearchStrategy[str] = sentences(
    {
        "result": [
            "true",
            "«int»",
            "«double»",
            "«text»",
            "«bool»",
            "«list»",
            "{'a': «bool», 'b': «list», 'c': [«text»]}",
        ],
        "order": ["one of < <= > >= == !="],
        "int": [
            "one of state.i state.j n 3 (-7) state.m.k state.l[0] state.l[7]",
            "(«int» + «int»)",
            "(«int» - «int»)",
            "(«int» * «int»)",
            "(«int» / «int»)",
            "(«int» % «int»)",
            "(-«int»)",
            "size(«text»)",
            "«list».size()",
            "(«bool» ? «int» : «int»)",
            "int(«double»)",
            "state.?i.orValue(«int»)",
            "state.?gone.orValue(«int»)",
            "math.greatest(«int», «int»)",
            "cel.bind(v, «int», (v + «int»))",
            "timestamp(«int» % 1000).getSeconds()",
            "«text».indexOf(«text»)",
        ],
        "double": [
            "one of state.d state.e 0.5",
            "(«double» + «double»)",
            "(«double» - «double»)",
            "(«double» * «double»)",
            "(«double» / «double»)",
            "double(«int»)",
            "math.floor(«double»)",
        ],
        "text": [
            "one of state.s state.t 'ab'",
            "(«text» + «text»)",
            "string(«int»)",
            "string(«double»)",
            "«text».lowerAscii()",
            "«text».replace(«text», «text»)",
            "«list».map(v, string(v)).join(«text»)",
            "(«bool» ? «text» : «text»)",
        ],
        "bool": [
            "one of state.b true has(state.i) has(state.gone) state.gone",
            "(«int» «order» «int»)",
            "(«int» «order» dyn(«double»))",
            "(«text» «order» «text»)",
            "(«bool» && «bool»)",
            "(«bool» || «bool»)",
            "(«bool» && «bool» && «bool»)",
            "!«bool»",
            "«text».contains(«text»)",
            "«text».matches('a.*')",
            "(«int» in «list»)",
            "(«list» == «list»)",
            "«list».exists(v, (v > «int»))",
            "«list».all(v, (v > «int»))",
            "«list».exists_one(v, (v > «int»))",
            "state.o.exists(o, (o.id == «int»))",
            "state.o.all(o, (o.tag == «int»))",
            "(timestamp(«int» % 1000) < timestamp(«int» % 1000))",
            "(type(«int») == int)",
        ],
        "list": [
            "one of state.l [1,2] state.o.map(o,o.id) state.o.filter(o,has(o.tag)).map(o,o.tag)",
            "[«int», «int»]",
            "(«list» + «list»)",
            "«list».map(v, (v + «int»))",
            "«list».filter(v, (v > «int»))",
            "«list».map(v, (v > «int»), («int» + v))",
        ],
    },
    "result",
    depth=5,
)

SMALL = st.integers(-3, 3)
TYPED_SCOPES: SearchStrategy[dict[str, Json]] = record(
    n_=INTS,
    state=record(
        i=INTS,
        j_=INTS,
        d=DOUBLES,
        e_=DOUBLES,
        s=TEXTS,
        t=TEXTS,
        b=st.booleans(),
        l=st.lists(SMALL, max_size=4),
        o=st.lists(record(id=SMALL, tag_=SMALL), max_size=4),
        m_=record(k_=INTS),
    ),
)

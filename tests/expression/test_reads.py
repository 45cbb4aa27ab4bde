"""Which data an expression says it reads."""

import pytest

from tests.expression.given import expression


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        pytest.param("1 + 1", (), id="nothing"),
        pytest.param("state", (("state",),), id="a whole variable"),
        pytest.param("state.votes.total", (("state", "votes", "total"),), id="a path"),
        pytest.param("state['votes'].total", (("state", "votes", "total"),), id="a constant key is a field"),
        pytest.param("has(state.votes)", (("state", "votes"),), id="has reads what it asks for"),
        pytest.param("state.?votes.orValue(0)", (("state", "votes"),), id="so does an optional"),
        pytest.param("state.a + state.b + state.a", (("state", "a"), ("state", "b")), id="each path once, in order"),
        pytest.param("state.items[0].id", (("state", "items"),), id="up to the first index"),
        pytest.param("state[input.key].x", (("state",), ("input", "key")), id="a computed key reads the whole"),
        pytest.param("state.items.exists(i, i.id == input.id)", (("state", "items"), ("input", "id")),
                     id="a loop's variable is none of the data"),
        pytest.param("[{'x': 1}].map(state, state.x)", (), id="even if it hides a variable"),
        pytest.param("cel.bind(v, state.a, v.b + input.c)", (("state", "a"), ("input", "c")), id="nor is a bound name"),
        pytest.param("type(state.a) == int", (("state", "a"),), id="nor is the name of a type"),
    ],
)  # fmt: skip
def test_reads(source: str, reads: tuple[tuple[str, ...], ...]) -> None:
    read = expression(source)
    assert read.reads == reads
    assert read.roots == {path[0] for path in reads}

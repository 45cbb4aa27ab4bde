"""Objects laid over each other read as one."""

from hypothesis import given
from hypothesis import strategies as st

from jeton.model.json import JsonObject
from jeton.model.state.overlay import MOST_LAYERS, Overlay, merged

OBJECTS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(), max_size=4)
STEPS = st.lists(st.tuples(st.integers(0, 30), st.one_of(OBJECTS, st.integers(0, 30))), max_size=80)


@given(OBJECTS, STEPS)
def test_an_overlay_is_what_copying_would_have_made(
    first: JsonObject, steps: list[tuple[int, JsonObject | int]]
) -> None:
    """Every overlay made on the way is checked at the end: none was changed by what was laid over it."""
    made: list[tuple[Overlay, JsonObject]] = [(Overlay(first), dict(first))]
    for which, step in steps:
        overlay, plain = made[which % len(made)]
        if isinstance(step, int):
            over, over_plain = made[step % len(made)]
            made.append((merged([overlay, over]), {**plain, **over_plain}))
        else:
            made.append((overlay.under(step), {**plain, **step}))
    for overlay, plain in made:
        assert overlay.plain() == plain
        assert len(overlay.layers) <= MOST_LAYERS
        assert all((key in overlay) == (key in plain) and overlay.get(key) == plain.get(key) for key in "abcdefgh")

"""Random chains of the functions on lists and texts: `input.xs.sort().slice(0, 1).first()`.

Many cannot be evaluated for every input: items that do not compare, slices out of range, nothing to take the first of.
"""

from collections.abc import Sequence
from random import Random

TO_LISTS = (
    "sort()",
    "reverse()",
    "distinct()",
    "flatten()",
    "slice(0, 1)",
    "slice(1, 2)",
    "slice(0, 0)",
    "sort_by(x, x)",
    "sort_by(x, size([x].flatten()))",
)
BY_TEXT = "sort_by(y, json.text(y)).reverse()"
TO_ITEMS = ("sum()", "min()", "max()", "first()", "last()")
ALONE = tuple(
    f"json.parse('{text}')"
    for text in (
        "[3, 1, 2, 1]",
        '["b", "a", "b"]',
        "[[2], [1, 2], []]",
        "[2.5, 1, 2, 1.0]",
        "[true, false]",
        "[null, {}]",
    )
)
"""Lists that read nothing, of items whose type loading does not know."""


def list_expression(rng: Random, lists: Sequence[str], *, by_text: bool = True) -> str:
    """A list that is made of one of these, or of one that reads nothing.

    `by_text`: also in the order of texts that are made of its items, which must hold nothing the oracle does not know.
    """
    made = rng.choice(lists if rng.random() < 0.7 else ALONE)
    ways = (*TO_LISTS, BY_TEXT) if by_text else TO_LISTS
    for _ in range(rng.choice((1, 1, 2, 3))):
        made = f"{made}.{rng.choice(ways)}"
    return made


def item_expression(rng: Random, lists: Sequence[str], *, by_text: bool = True) -> str:
    """An item, a number or a list."""
    made = list_expression(rng, lists, by_text=by_text)
    if rng.random() < 0.6:
        made = f"{made}.{rng.choice(TO_ITEMS)}"
    if rng.random() < 0.2:
        made = f"json.parse(json.text({made}))"
    return made


def text_expression(rng: Random, lists: Sequence[str]) -> str:
    """A text that is made of such a value."""
    text = f"json.text({item_expression(rng, lists)})"
    ways = ("{}", "hash.sha256({})", "base64.encode({})", "base64.decode(base64.encode({}))", "{}.reverse()")
    return rng.choice(ways).format(text)


def number_expression(rng: Random, lists: Sequence[str]) -> str:
    """A number, mostly."""
    ways = ("size({})", "{}.sum()", "{}.max()", "size({}.distinct()) + 1")
    return rng.choice(ways).format(list_expression(rng, lists))

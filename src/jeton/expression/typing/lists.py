"""Types of the functions on lists: what their items must be, and what they give."""

from jeton.expression.typing.schemas import ALL_KINDS, UNKNOWN, Type, inlined, item_of, kinds_of, of_kind, union

LIST = frozenset({"list"})

ITEMS: dict[str, frozenset[str]] = {
    "sum": frozenset({"int", "double"}),
    **dict.fromkeys(("min", "max", "sort", "sort_by"), frozenset({"int", "double", "string", "bool"})),
}
"""What the items must be, where not everything will do."""

SAME_ITEMS = frozenset({"sort", "distinct", "slice"})
ONE_ITEM = frozenset({"first", "last", "min", "max"})


def list_of(item: Type) -> Type:
    return Type({"type": "array", "items": inlined(item)}, {})


def result_of(function: str, of: Type) -> Type:
    """The type of what the function gives, from that of its list."""
    item = item_of(of) if kinds_of(of) == LIST else UNKNOWN
    if function in ONE_ITEM:
        return item
    if function in SAME_ITEMS or (function == "reverse" and kinds_of(of) == LIST):
        return list_of(item)
    if function == "flatten":
        return list_of(flattened(item))
    if function == "sum":
        numbers = kinds_of(item) & ITEMS["sum"]
        return of_kind("") if kinds_of(item) == ALL_KINDS else union(of_kind(kind) for kind in sorted(numbers))
    return UNKNOWN


def flattened(item: Type) -> Type:
    """The type of the items once lists among them are opened."""
    kinds = kinds_of(item)
    return item_of(item) if kinds == LIST else UNKNOWN if "list" in kinds else item

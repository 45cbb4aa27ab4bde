"""The functions that expressions have beside CEL's: what they are called, take and give.

They are evaluated here and never by the library, which only checks that they are called with what they take."""

import msgspec

SORT_BY = "sort_by"  # a macro, because it has a variable: see macros.py


class OwnFunction(msgspec.Struct, frozen=True):
    """`target.name(…)` if it is a method, else `name(…)`."""

    takes: tuple[str, ...]  # CEL types, with the target of a method first; empty for any type
    gives: str = ""
    method: bool = False
    orders: bool = False  # compares items, of which times and durations may be some


OWN: dict[str, OwnFunction] = {
    "json.parse": OwnFunction(("string",)),
    "json.text": OwnFunction(("",), "string"),
    "base64.encode": OwnFunction(("string",), "string"),
    "base64.decode": OwnFunction(("string",), "string"),
    "hash.sha256": OwnFunction(("string",), "string"),
    "range": OwnFunction(("int",), "list"),
    "sum": OwnFunction(("list",), method=True),
    "min": OwnFunction(("list",), method=True, orders=True),
    "max": OwnFunction(("list",), method=True, orders=True),
    "sort": OwnFunction(("list",), "list", method=True, orders=True),
    "distinct": OwnFunction(("list",), "list", method=True),
    "flatten": OwnFunction(("list",), "list", method=True),
    "slice": OwnFunction(("list", "int", "int"), "list", method=True),
    "reverse": OwnFunction(("list",), "list", method=True),  # and CEL's own, of a text
    "first": OwnFunction(("list",), method=True),
    "last": OwnFunction(("list",), method=True),
}

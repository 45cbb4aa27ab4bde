"""Argument and result types of CEL's operators and functions, for the types that JSON has."""

from jeton.expression.own import OWN

NUMBERS = ("int", "double")


def same(*kinds: str) -> tuple[tuple[str, str, str], ...]:
    return tuple((kind, kind, kind) for kind in kinds)


NUMBER_PAIRS = (*same(*NUMBERS), ("int", "double", "double"), ("double", "int", "double"))
ORDER = (
    *((kind, kind, "bool") for kind in ("int", "double", "string", "bool")),
    ("int", "double", "bool"),
    ("double", "int", "bool"),
)
EVERY = ("null", "bool", "int", "double", "string", "list", "map")

# the kinds of both sides, and of the result
PAIRS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "_+_": (*NUMBER_PAIRS, *same("string", "list")),
    "_-_": NUMBER_PAIRS,
    "_*_": NUMBER_PAIRS,
    "_/_": NUMBER_PAIRS,
    "_%_": same("int"),
    "_<_": ORDER,
    "_<=_": ORDER,
    "_>_": ORDER,
    "_>=_": ORDER,
    "@in": (*((kind, "list", "bool") for kind in EVERY), ("string", "map", "bool")),
}

BOOL, STRING, LIST = frozenset({"bool"}), frozenset({"string"}), frozenset({"list"})
KINDS = {"": frozenset(EVERY), "string": STRING, "int": frozenset({"int"}), "list": LIST}
ARGUMENTS: dict[str, tuple[frozenset[str], ...]] = {
    **{name: tuple(KINDS[kind] for kind in function.takes) for name, function in OWN.items()},
    "reverse": (LIST | STRING,),
    "!_": (BOOL,),
    "_&&_": (BOOL, BOOL),
    "_||_": (BOOL, BOOL),
    "-_": (frozenset(NUMBERS),),
    "size": (frozenset({"string", "list", "map"}),),
    "double": (frozenset({"int", "double", "string"}),),
    "int": (frozenset({"int", "double", "string", "bool"}),),
    "string": (frozenset({"int", "double", "string", "bool"}),),
    "timestamp": (frozenset({"string", "int"}),),
    "duration": (STRING,),
    "contains": (STRING, STRING),
    "startsWith": (STRING, STRING),
    "endsWith": (STRING, STRING),
    "matches": (STRING, STRING),
    "split": (STRING, STRING),
    "replace": (STRING, STRING, STRING),
    "indexOf": (STRING, STRING),
    "lastIndexOf": (STRING, STRING),
    "substring": (STRING,),
    "charAt": (STRING,),
    "lowerAscii": (STRING,),
    "upperAscii": (STRING,),
    "trim": (STRING,),
    "format": (STRING, LIST),
    "join": (LIST, STRING),
}

# where the library's checker has not said so already
RESULTS: dict[str, str] = {
    **{name: function.gives for name, function in OWN.items()},
    "!_": "bool",
    "_&&_": "bool",
    "_||_": "bool",
    "_==_": "bool",
    "_!=_": "bool",
    "size": "int",
    "double": "double",
    "int": "int",
    "string": "string",
    "hasValue": "bool",
    "split": "list",
}

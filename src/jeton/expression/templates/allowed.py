"""What templates may use: filters, tests, functions and methods whose results are bounded by what goes in."""

from typing import Final


class TemplateRefused(ValueError):
    """A template uses something that is not available, or is no template."""


CHECKED: Final = frozenset({"e", "escape", "format", "string", "tojson", "truncate", "urlencode"})
"""Filters of the engine whose result is at most some times as long as what goes in: checked after each call."""

COUNTED: Final = frozenset({"indent", "join", "replace"})
"""Filters whose result may be as long as the product of what goes in: replaced by our own."""

FILTERS: Final = (
    CHECKED
    | COUNTED
    | frozenset(
        {
            "abs", "attr", "bool", "capitalize", "count", "d", "default", "dictsort", "filesizeformat", "first",
            "float", "groupby", "int", "items", "last", "length", "lines", "list", "lower", "map", "max", "min",
            "pluralize", "reject", "rejectattr", "reverse", "round", "safe", "select", "selectattr", "sort", "split",
            "striptags", "sum", "title", "trim", "unique", "upper",
        }
    )
)  # fmt: skip

LITERAL_ARGUMENTS: Final = frozenset({"groupby", "map", "tojson"})
"""Filters that could repeat an argument once per item or line."""

MAPPED_FILTERS: Final = frozenset(
    {
        "abs",
        "bool",
        "capitalize",
        "count",
        "float",
        "int",
        "length",
        "lower",
        "round",
        "string",
        "title",
        "trim",
        "upper",
    }
)
"""Filters that `map` may apply to each item."""

TESTS: Final = frozenset(
    {
        "boolean", "defined", "divisibleby", "endingwith", "eq", "equalto", "even", "false", "float", "ge",
        "greaterthan", "gt", "int", "integer", "iterable", "le", "lessthan", "lower", "lt", "mapping", "ne", "none",
        "number", "odd", "sameas", "sequence", "startingwith", "string", "true", "undefined", "upper",
    }
)  # fmt: skip

FUNCTIONS: Final = frozenset({"range"})

METHODS: Final = frozenset(
    {
        "capitalize", "changed", "count", "cycle", "endswith", "find", "get", "isalnum", "isalpha", "isdigit",
        "islower", "isupper", "items", "keys", "lower", "lstrip", "rfind", "rstrip", "split", "splitlines",
        "startswith", "strip", "title", "upper", "values",
    }
)  # fmt: skip

"""The lists of error codes: complete, in use, and as the documentation has them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

import jeton
from jeton.model.codes import FAILURES, PROBLEMS, REFUSALS, FailureType, ProblemCode, RefusalCode
from tests.docs.error_codes import PAGE, error_codes_page

SOURCE = Path(jeton.__file__).parent
FAMILY = {
    "ProblemCode": "problem",
    "RefusalCode": "refusal",
    "StoredRefusalCode": "refusal",
    "FailureType": "failure",
    "FailureName": "failure",
}
LISTS = {"problem": set[str](PROBLEMS), "refusal": set[str](REFUSALS), "failure": set[str](FAILURES)}


def modules() -> list[ast.Module]:
    return [ast.parse(file.read_text(encoding="utf-8")) for file in SOURCE.rglob("*.py") if file.parent.name != "codes"]


def family_of(annotation: ast.expr | None) -> str | None:
    """The family that an annotation names: as `RefusalCode | None`, or as the values of a dict."""
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
        return family_of(annotation.slice.elts[-1])
    names = [] if annotation is None else [n.id for n in ast.walk(annotation) if isinstance(n, ast.Name)]
    return next((FAMILY[name] for name in names if name in FAMILY), None)


def texts(value: ast.expr | None) -> Iterator[str]:
    """The texts an expression may give: a literal, either side of a choice, or the values of a dict."""
    match value:
        case ast.Constant(str(text)):
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from texts(body)
            yield from texts(orelse)
        case ast.Dict(values=values):
            for each in values:
                yield from texts(each)
        case _:
            pass


Taker = tuple[str, int, str, str]  # who takes a code, as which argument, its name, and the family


def takers(tree: ast.AST, owner: str = "") -> Iterator[Taker]:
    """Functions with a parameter that is a code, and classes with a field that is one."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args]
            if arguments and arguments[0].arg in ("self", "cls"):
                arguments = arguments[1:]
            called = owner if node.name == "__init__" else node.name
            for position, argument in enumerate(arguments):
                family = family_of(argument.annotation)
                if family is not None:
                    yield called, position, argument.arg, family
            yield from takers(node, owner)
        elif isinstance(node, ast.ClassDef):
            fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            for position, field in enumerate(fields):
                family = family_of(field.annotation)
                if family is not None and isinstance(field.target, ast.Name):
                    yield node.name, position, field.target.id, family
            bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
            yield from takers(node, node.name)
            if "Refused" in bases:
                yield "__init__", 0, "code", "refusal"
        else:
            yield from takers(node, owner)


@cache
def used() -> dict[str, set[str]]:
    """Every code in the source by family: given to a taker, a default of one, or assigned where a code is declared."""
    trees = [(tree, set(takers(tree))) for tree in modules()]
    public = {taker for _, own in trees for taker in own if not taker[0].startswith("_") or taker[0] == "__init__"}
    found: dict[str, set[str]] = {family: set() for family in LISTS}
    for node, known in ((node, public | own) for tree, own in trees for node in ast.walk(tree)):
        match node:
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=args, keywords=keywords):
                for _, position, name, family in (taker for taker in known if taker[0] == called):
                    given = args[position] if position < len(args) else None
                    given = next((each.value for each in keywords if each.arg == name), given)
                    found[family].update(texts(given))
            case ast.arguments(args=args, defaults=defaults):
                for argument, default in zip(reversed(args), reversed(defaults), strict=False):
                    declared = family_of(argument.annotation)
                    if declared is not None:
                        found[declared].update(texts(default))
            case ast.AnnAssign(annotation=annotation, value=value):
                declared = family_of(annotation)
                if declared is not None:
                    found[declared].update(texts(value))
            case _:
                pass
    return found


@pytest.mark.parametrize("family", LISTS)
def test_every_code_in_the_source_is_listed_and_every_listed_one_is_used(family: str) -> None:
    assert used()[family] == LISTS[family]


@pytest.mark.parametrize(
    ("codes", "meanings"),
    [(ProblemCode, PROBLEMS), (RefusalCode, REFUSALS), (FailureType, FAILURES)],
    ids=["problems", "refusals", "failures"],
)
def test_every_code_of_the_type_has_a_meaning_and_they_are_in_order(codes: object, meanings: dict[str, str]) -> None:
    assert list(meanings) == sorted(get_args(codes))
    assert all(meaning.endswith(".") and "\n" not in meaning for meaning in meanings.values())


def test_the_documented_list_is_the_one_in_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == error_codes_page(), "run python -m tests.docs.error_codes"

"""The problems that the library finds, each once, without those that follow from others."""

from collections.abc import Iterable, Iterator

import msgspec

from jeton.expression.library import parse_source
from jeton.expression.problems import FUNCTIONS, ExpressionProblem, Unsupported, form_of, suggestion
from jeton.expression.sorting import with_sorting
from jeton.expression.syntax import FunctionCall, Ident, descend
from jeton.expression.typing.infer import Inference
from jeton.expression.values import position_of

NO_FUNCTION, NO_VARIABLE = "there is no function", "there is no variable"


def refined(
    found: Iterable[ExpressionProblem], source: str, variables: frozenset[str]
) -> tuple[ExpressionProblem, ...]:
    """The same problems; type errors are replaced by those of our own inference, which have remedies."""
    try:
        tree = with_sorting(parse_source(source, variables))
    except (RuntimeError, Unsupported):
        return tuple(found)
    inference = Inference(source, {})
    inference.type_of(tree, {})
    ours = {problem.position: problem for problem in inference.problems}
    unknown = {each.position: each for each in found if each.problem.startswith(NO_FUNCTION)}
    calls = [
        node for node in descend(tree) if isinstance(node, FunctionCall) and position_of(source, node.at) in unknown
    ]
    ours |= {
        position_of(source, call.at): with_namespace(call, unknown[position_of(source, call.at)]) for call in calls
    }
    due = {f"{NO_VARIABLE} '{name}' here" for call in calls for name in follow_ons(call, variables)}
    return tuple(
        ours.get(each.position, each) for each in found if "*error*" not in each.problem and each.problem not in due
    )


def with_namespace(call: FunctionCall, problem: ExpressionProblem) -> ExpressionProblem:
    """The problem with the whole name of a function such as `hash.sha265`, and the nearest to that."""
    name = whole_name(call)
    remedy = form_of(name) or suggestion(name, FUNCTIONS) if "." in name else None
    if remedy is None:
        return problem
    return msgspec.structs.replace(problem, problem=f"{NO_FUNCTION} '{name}'", remedy=remedy)


def whole_name(call: FunctionCall) -> str:
    match call:
        case FunctionCall(function, (Ident(namespace), *_)) if call.method:
            return f"{namespace}.{function}"
        case _:
            return call.function


def follow_ons(call: FunctionCall, variables: frozenset[str]) -> Iterator[str]:
    """Names that are unknown only because the function is: a namespace, or the variable of a macro."""
    if "." in whole_name(call):
        yield whole_name(call).partition(".")[0]
    match call.args:
        case (_, Ident(name), _, *_) if call.method and name not in variables:
            yield name
        case _:
            pass

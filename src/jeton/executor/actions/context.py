"""`context`: build an object from expressions, or validate the input."""

from collections.abc import Iterator

import msgspec
from msgspec import UNSET, UnsetType

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem, LaneName
from jeton.expression import ExpressionInvalid, Failed, compile_expression
from jeton.expression.mapping import TASK_VARIABLES, build_tree, compile_mapping, evaluate_mapping, failure_text
from jeton.expression.schema import SchemaValidator
from jeton.model.json import Json, Mapping, Schema
from jeton.model.note import MissingNote


class Validate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The schema of the input."""

    schema: Schema


class Context(Kind, frozen=True):
    """`set` gives an object built from expressions; `validate` gives its input if it fits the schema."""

    set: Mapping | UnsetType = UNSET
    validate: Validate | UnsetType = UNSET

    def problems(self) -> Iterator[KindProblem]:
        if (self.set is UNSET) == (self.validate is UNSET):
            remedy = "write 'set: {key: expression}' or 'validate: {schema: …}'"
            yield KindProblem("", "needs one of 'set' and 'validate'", remedy)
        for key, source in (self.set or {}).items():
            yield from expression_problems(f"set.{key}", source)

    def lane(self) -> LaneName:
        return "instant"

    def prepare(self) -> ActionHandler:
        if self.validate:
            return _validate(SchemaValidator(self.validate.schema))
        return _set(self.set or {})


def expression_problems(path: str, source: Json) -> Iterator[KindProblem]:
    """The problems of a text as an expression over the action's input and the task's state and output."""
    if isinstance(source, str):
        try:
            compile_expression(source, TASK_VARIABLES)
        except ExpressionInvalid as invalid:
            for each in invalid.problems:
                yield KindProblem(path, f"{source!r} at {each.position}: {each.problem}", each.remedy)


def _set(mapping: Mapping) -> ActionHandler:
    expressions = compile_mapping(mapping, TASK_VARIABLES)

    async def act(call: ActionCall) -> Json | ActionFailed:
        found = evaluate_mapping(expressions, call.scope())
        if isinstance(found, Failed):
            return ActionFailed("expression_error", failure_text("set", found), fatal=True)
        values, missing = found
        if missing:
            call.report(MissingNote(call.call.step, missing))
        return build_tree(values)

    return act


def _validate(validator: SchemaValidator) -> ActionHandler:
    async def act(call: ActionCall) -> Json | ActionFailed:
        problem = validator.problem(call.input, "input")
        return call.input if problem is None else ActionFailed("validation_failed", problem)

    return act

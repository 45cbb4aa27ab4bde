"""`assert`: fail unless a condition holds."""

from collections.abc import Iterator

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem, LaneName
from jeton.executor.actions.context import expression_problems
from jeton.executor.actions.fail import MESSAGE_FUEL, failure_with, message_problems, type_problems
from jeton.expression import Failed, Missing
from jeton.expression.mapping import TASK_VARIABLES, compile_value, failure_text
from jeton.expression.templates.template import Template
from jeton.model.codes import FailureName
from jeton.model.json import Json


class Assert(Kind, frozen=True):
    """A condition. If it is false or reads a missing key, the action fails, with this type and message if given."""

    that: str | bool
    type: FailureName = "assertion_failed"
    message: str | None = None

    def problems(self) -> Iterator[KindProblem]:
        yield from expression_problems("that", self.that)
        yield from type_problems(self.type)
        yield from message_problems(self.message or "")

    def lane(self) -> LaneName:
        return "instant"

    def prepare(self) -> ActionHandler:
        condition = compile_value(self.that, TASK_VARIABLES)
        message = None if self.message is None else Template(self.message, MESSAGE_FUEL)

        async def act(call: ActionCall) -> Json | ActionFailed:
            scope = call.scope()
            match condition.holds(scope):
                case True:
                    return {}
                case Failed() as failed:
                    return ActionFailed("expression_error", failure_text("that", failed), fatal=True)
                case _ if message is not None:
                    return failure_with(self.type, message, call)
                case Missing(path):
                    return ActionFailed(self.type, f"{self.that} does not hold: {path} is missing")
                case _:
                    values = condition.values(scope)
                    return ActionFailed(self.type, f"{self.that} does not hold with {values}")

        return act

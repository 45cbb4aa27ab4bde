"""`assert`: fail unless a condition holds."""

from collections.abc import Iterator

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem, LaneName
from jeton.executor.actions.context import expression_problems
from jeton.expression import Failed, Missing
from jeton.expression.mapping import TASK_VARIABLES, compile_value, failure_text
from jeton.model.json import Json


class Assert(Kind, frozen=True):
    """A condition. If it is false or reads a missing key, the action fails."""

    that: str | bool

    def problems(self) -> Iterator[KindProblem]:
        return expression_problems("that", self.that)

    def lane(self) -> LaneName:
        return "instant"

    def prepare(self) -> ActionHandler:
        condition = compile_value(self.that, TASK_VARIABLES)

        async def act(call: ActionCall) -> Json | ActionFailed:
            scope = call.scope()
            match condition.holds(scope):
                case True:
                    return {}
                case Failed() as failed:
                    return ActionFailed("expression_error", failure_text("that", failed), fatal=True)
                case Missing(path):
                    return ActionFailed("assertion_failed", f"{self.that} does not hold: {path} is missing")
                case _:
                    values = condition.values(scope)
                    return ActionFailed("assertion_failed", f"{self.that} does not hold with {values}")

        return act

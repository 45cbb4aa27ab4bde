"""`fail`: fail on purpose, with a type that can be routed on."""

import re
from collections.abc import Iterator

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem, LaneName
from jeton.expression.templates.template import Template, TemplateProblem

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
MESSAGE_FUEL = 10_000


class Fail(Kind, frozen=True):
    """The type and the message of the failure."""

    type: str
    message: str = "it was told to fail"

    def problems(self) -> Iterator[KindProblem]:
        yield from type_problems(self.type)
        yield from message_problems(self.message)

    def lane(self) -> LaneName:
        return "instant"

    def prepare(self) -> ActionHandler:
        message = Template(self.message, MESSAGE_FUEL)

        async def act(call: ActionCall) -> ActionFailed:
            return failure_with(self.type, message, call)

        return act


def failure_with(type: str, message: Template, call: ActionCall) -> ActionFailed:
    """A failure of this type. Its message is rendered over the action's input and the task's state and output."""
    try:
        return ActionFailed(type, message.render(call.scope()))
    except TemplateProblem as problem:
        return ActionFailed("template_error", f"message: {problem.message}", fatal=True)


def type_problems(type: str) -> Iterator[KindProblem]:
    """The problems of a failure's type, which is a name."""
    if not NAME.fullmatch(type):
        remedy = "write up to 64 letters, digits, '_' and '-', beginning with a letter or '_'"
        yield KindProblem("type", f"{type!r} cannot be the type of a failure", remedy)


def message_problems(message: str) -> Iterator[KindProblem]:
    """The problems of a message as a template."""
    problem = Template(message, fuel=0).problem
    if problem is not None:
        remedy = "write '{{ input.name }}' for what varies"
        yield KindProblem("message", f"{message!r} is not a valid template: {problem}", remedy)

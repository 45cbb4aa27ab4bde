"""`model`: the internal kind that conversations call models with. The reply is the result.

What is the same for every call of an agent is fixed; what varies comes in the input. A failed model call is a result
too: it says which entries of a script and how many tokens were used.
"""

from typing import cast

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind
from jeton.executor.models.call_model import call_model
from jeton.expression.templates.template import Template, TemplateProblem
from jeton.model.chat import ModelMessage, ModelRequest, ScriptPlace, ToolSpec
from jeton.model.json import Json, JsonObject, Schema

INSTRUCTIONS_FUEL = 100_000


class ModelInput(msgspec.Struct, frozen=True):
    """What differs from call to call. `tools`: only these of the persona's; `instructions`: instead of its own."""

    messages: tuple[ModelMessage, ...]
    script: ScriptPlace = ScriptPlace()
    turn: int | None = None
    move: int = 0
    tools: tuple[str, ...] | None = None
    instructions: str | None = None
    output_schema: Schema | None = None
    profile: str | None = None


class Model(Kind, frozen=True):
    """A model call of an agent."""

    profile: str = ""
    agent: str = ""
    persona: str = ""
    instructions: str = ""
    tools: tuple[ToolSpec, ...] = ()

    def prepare(self) -> ActionHandler:
        template = Template(self.instructions, INSTRUCTIONS_FUEL)

        async def act(call: ActionCall) -> Json | ActionFailed:
            try:
                given = msgspec.convert(call.input, ModelInput)
            except msgspec.ValidationError as error:
                return ActionFailed("input_invalid", f"not a model request: {error}")
            names: JsonObject = {"agent": self.agent, "persona": self.persona, "run": call.run}
            instructions = given.instructions
            if instructions is None:
                try:
                    instructions = template.render(names)
                except TemplateProblem as problem:
                    return ActionFailed("template_error", f"the persona's instructions: {problem.message}", fatal=True)
            allowed = given.tools
            request = ModelRequest(
                profile=given.profile or self.profile,
                messages=given.messages,
                instructions=instructions,
                tools=tuple(tool for tool in self.tools if allowed is None or tool.name in allowed),
                output_schema=given.output_schema,
                script=given.script,
                turn=given.turn,
                move=given.move,
            )
            return cast(Json, msgspec.to_builtins(await call_model(call, request)))

        return act

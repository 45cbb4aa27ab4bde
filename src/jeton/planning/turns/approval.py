"""Approvals: whether a call needs one, and what people's answers mean."""

from functools import cache

from jeton.expression import Expression, Failed, Missing
from jeton.expression.schema import SchemaValidator, compile_schema
from jeton.expression.templates.template import TemplateProblem
from jeton.model import decision as d
from jeton.model.chat import ToolCall, ToolError
from jeton.model.failure import BrokenInvariant
from jeton.model.json import Json, JsonObject
from jeton.model.message import AnswerGate
from jeton.model.state.phase import GateAnswer, WaitingForGate
from jeton.model.state.run import RunState, Token
from jeton.model.state.talk import RecordedCall, Turn
from jeton.model.transcript import json_text
from jeton.planning.program.talk import APPROVAL_SCHEMA, CompiledTool, approval_of
from jeton.planning.program.workflow import Program
from jeton.planning.schema_problem import schema_problem
from jeton.planning.turns.budget import plan_budget_answer
from jeton.planning.turns.places import call_of, kind_of_node, tool_in
from jeton.planning.turns.tools import answer_call, caller_view, input_problem, make_call, tool_error

CLOSED = "the gate is closed"
SHOWN = 500  # characters of the input in a title


@cache
def _validator() -> SchemaValidator | None:
    return compile_schema(APPROVAL_SCHEMA)


def plan_call(program: Program, state: RunState, token: Token, now: int) -> list[d.Decision]:
    """Make a call, or open a gate before it."""
    place = call_of(state, token)
    recorded = state.talk.given[place.turn.number].recorded
    if recorded is not None:
        return answer_call(program, state, token, _recorded_result(recorded, place.call))
    tool = tool_in(program, place.turn, place.call.name)
    where = place.turn.number, place.move, place.position
    if tool is None or place.call.name in state.talk.head.allowed or where in place.turn.held:
        return make_call(program, state, token, place.call.input, now)
    needed = _is_needed(tool, place.turn, place.call.input)
    if isinstance(needed, str):
        return answer_call(program, state, token, tool_error("INTERNAL_ERROR", needed))
    if not needed:
        return make_call(program, state, token, place.call.input, now)
    approval = approval_of(tool)
    deadline = None if approval.timeout_ms is None else now + approval.timeout_ms
    return [d.OpenGate(token.id, token.node, now, _title(tool, place.turn, place.call.input), deadline)]


def _recorded_result(recorded: tuple[RecordedCall, ...], call: ToolCall) -> Json | ToolError:
    """The result that the same call had in the conversation that was forked. Nothing runs."""
    for each in recorded:
        if (each.name, json_text(each.input)) == (call.name, json_text(call.input)):
            return each.result if each.error is None else each.error
    return tool_error("INTERNAL_ERROR", "this call was not made before, and only recorded results are given here")


def _is_needed(tool: CompiledTool, turn: Turn, given: Json) -> bool | str:
    """Whether the call needs approval, or why that cannot be said. A missing key asks for approval."""
    condition = tool.approval
    if not isinstance(condition, Expression):
        return condition
    names: JsonObject = {"input": given, "caller": caller_view(turn.caller), "tainted": turn.tainted}
    found = condition.evaluate(names)
    if isinstance(found, Failed):
        return f"needs_approval of '{tool.definition.name}': {found.problem}"
    return isinstance(found, Missing) or bool(found)


def _title(tool: CompiledTool, turn: Turn, given: Json) -> str:
    name = tool.definition.name
    plain = f"{turn.agent} wants to call {name} with {json_text(given)[:SHOWN]}"
    if tool.title is None:
        return plain
    names: JsonObject = {"tool": name, "input": given, "agent": turn.agent, "caller": caller_view(turn.caller)}
    try:
        title: str = tool.title.render(names)
    except TemplateProblem:
        return plain
    return title


def plan_approval(program: Program, state: RunState, message: AnswerGate) -> list[d.Decision]:
    """Take an answer to an approval: make the call, make it with another input, or refuse it."""
    token = addressed(state, message)
    if token is None or not isinstance(token.phase, WaitingForGate):
        return [d.ReplyTo(message.id, accepted=False, why=CLOSED)]
    if kind_of_node(token.node) == "budget":
        return plan_budget_answer(program, state, token, message)
    answer = GateAnswer(message.value, message.by)
    why = _refusal(program, state, token, token.phase, answer)
    if why is not None:
        return [d.ReplyTo(message.id, accepted=False, why=why)]
    taken: list[d.Decision] = [
        d.TakeAnswer(token.id, token.node, answer),
        d.ReplyTo(message.id, accepted=True),
    ]
    value = _value(answer)
    if value["decision"] == "refuse":
        reason = value.get("reason")
        return [*taken, *refuse_call(program, state, token, reason if isinstance(reason, str) else "")]
    needed = _tool(program, state, token).definition.needs_approval
    agreed = _standing((*token.phase.answers, answer))
    if needed is not None and len(agreed) < needed.approvals:
        return taken
    return [*taken, *_approved(program, state, token, agreed, message.at)]


def _standing(answers: tuple[GateAnswer, ...]) -> tuple[GateAnswer, ...]:
    """The answers that agree to the input as it is now: an edit begins anew, because others approved another input."""
    edits = [index for index, answer in enumerate(answers) if _value(answer).get("decision") == "edit"]
    return answers[edits[-1] :] if edits else answers


def _approved(
    program: Program, state: RunState, token: Token, agreed: tuple[GateAnswer, ...], now: int
) -> list[d.Decision]:
    place, first, last = call_of(state, token), _value(agreed[0]), _value(agreed[-1])
    decisions: list[d.Decision] = []
    if last.get("for") == "conversation":
        decisions.append(d.AllowTool(place.call.name))
    given = place.call.input
    if first["decision"] == "edit":
        given = first.get("input")
        decisions.append(d.EditCall(place.turn.number, place.move, place.position, given))
    return [*decisions, *make_call(program, state, token, given, now)]


def refuse_call(program: Program, state: RunState, token: Token, reason: str) -> list[d.Decision]:
    """End a call that waits for approval: the model is told the reason."""
    refused = f"a person refused this call: {reason}" if reason else "a person refused this call"
    return answer_call(program, state, token, tool_error("REFUSED", refused))


def plan_approval_timeout(program: Program, state: RunState, token: Token, now: int) -> list[d.Decision]:
    """Refuse a call whose approval did not come in time."""
    over = d.TimeOutGate(token.id, token.node)
    refused = tool_error("REFUSED", "nobody approved this call in time")
    return [over, *answer_call(program, state, token, refused)]


def addressed(state: RunState, message: AnswerGate) -> Token | None:
    """The token of a conversation that an answer is for."""
    if message.token is not None:
        return state.tokens.get(message.token)
    for token in state.tokens.values():
        here = token.node == message.node or token.node == f"tool:{message.node}"
        if here and isinstance(token.phase, WaitingForGate) and message.path in (None, token.path):
            return token
    return None


def _refusal(program: Program, state: RunState, token: Token, phase: WaitingForGate, answer: GateAnswer) -> str | None:
    """Why an answer is not taken; None if it is. An edited input is checked like the model's."""
    problem = schema_problem(_validator(), answer.value, "answer")
    if problem is not None:
        return problem
    tool = _tool(program, state, token)
    approval = approval_of(tool)
    if approval.assignees and answer.by is not None and answer.by not in approval.assignees:
        return f"'{answer.by}' is not asked here: {', '.join(approval.assignees)}"
    if approval.approvals > 1 and answer.by is None:
        return f"{approval.approvals} different people must answer: say who you are"
    if approval.approvals > 1 and any(other.by == answer.by for other in _standing(phase.answers)):
        return f"'{answer.by}' has answered already"
    value = _value(answer)
    if value["decision"] == "edit":
        if "input" not in value:
            return "answer.input: an edit needs the input to call the tool with"
        misfit = input_problem(tool, value["input"])
        return None if misfit is None else misfit.message
    return None


def _value(answer: GateAnswer) -> JsonObject:
    return answer.value if isinstance(answer.value, dict) else {}


def _tool(program: Program, state: RunState, token: Token) -> CompiledTool:
    place = call_of(state, token)
    tool = tool_in(program, place.turn, place.call.name)
    if tool is None:
        raise BrokenInvariant("a gate is open for a tool that the agent does not have", tool=place.call.name)
    return tool

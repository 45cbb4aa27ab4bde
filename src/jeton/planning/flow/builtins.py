"""The built-in nodes of a flow that planning computes: functions from inputs and context to a result.

A result may hold control keys. A node that passes its inputs on keeps them apart from control keys, because input data
must not control the run. Inputs are not changed.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

from jeton.expression import Expression, Failed, Missing
from jeton.expression.mapping import compile_value, failure_text
from jeton.expression.templates.template import Template, TemplateProblem
from jeton.model.definition.flow import MAIN, FlowNode
from jeton.model.failure import TaskFailed
from jeton.model.json import Json, JsonObject, kind_of
from jeton.model.state.overlay import Overlay
from jeton.model.times import time_in
from jeton.planning.flow.control_keys import SplitResult

SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1
TEMPLATE_FUEL = 200_000
MESSAGE_FUEL = 10_000
VARIABLES = ("inputs", "context", "run")

Compute: TypeAlias = Callable[[JsonObject, Overlay, JsonObject], JsonObject | SplitResult | TaskFailed]
Number: TypeAlias = int | float


class _BadInput(Exception):
    """An input that a built-in cannot use."""


def compile_builtin(node: FlowNode) -> Compute:
    """The function of a built-in node, with its expressions compiled."""
    match node.type:
        case "constant":
            return _constant(node)
        case "set":
            return _set(node)
        case "if_else":
            return _if_else(node)
        case "switch":
            return _switch(node)
        case "template":
            return _template(node)
        case "wait":
            return _wait(node)
        case "wait_until":
            return _wait_until(node)
        case "merge":
            return _merge
        case "fail":
            return _fail(node)
        case _:
            return _arithmetic(node.type)


def _merge(inputs: JsonObject, context: Overlay, run: JsonObject) -> SplitResult:
    return SplitResult(inputs)


def _constant(node: FlowNode) -> Compute:
    def compute(inputs: JsonObject, context: Overlay, run: JsonObject) -> JsonObject | TaskFailed:
        if "value" in inputs:
            return {"value": inputs["value"]}
        if "value" in node.data:
            return {"value": node.data["value"]}
        return TaskFailed("bad_input", "constant needs 'value', in its data or its inputs")

    return compute


def _arithmetic(type: str) -> Compute:
    def compute(inputs: JsonObject, context: Overlay, run: JsonObject) -> JsonObject | TaskFailed:
        try:
            return {"result": _storable_number(_calculated(type, inputs))}
        except _BadInput as refused:
            return TaskFailed("bad_input", f"{type}: {refused}")

    return compute


def _calculated(type: str, inputs: JsonObject) -> Number:
    if type == "sum":
        values = _given(inputs, "values")
        if not isinstance(values, list):
            raise _BadInput(f"'values' must be a list of numbers, and is {kind_of(values)}")
        return sum(_number(value, f"values[{index}]") for index, value in enumerate(values))
    a, b = _number(_given(inputs, "a"), "a"), _number(_given(inputs, "b"), "b")
    match type:
        case "add":
            return a + b
        case "subtract":
            return a - b
        case "multiply":
            return a * b
        case _:
            return _quotient(a, b)


def _quotient(a: Number, b: Number) -> Number:
    if b == 0:
        raise _BadInput("division by zero: 'b' is 0")
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return a // b  # integers stay integers, as expressions expect
    return a / b


def _given(inputs: JsonObject, handle: str) -> Json:
    if inputs.get(handle) is None:
        raise _BadInput(f"missing input '{handle}'")
    return inputs[handle]


def _number(value: Json, where: str) -> Number:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _BadInput(f"'{where}' must be a number, and is {kind_of(value)}")
    return value


def _storable_number(value: Number) -> Number:
    """The number, if it can be stored."""
    if isinstance(value, int):
        if not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
            raise _BadInput("the result does not fit 64 bits")
    elif not math.isfinite(value):
        raise _BadInput("the result is too large for a number")
    return value


def _set(node: FlowNode) -> Compute:
    expressions = {key: compile_value(value, VARIABLES) for key, value in node.data.items()}

    def compute(inputs: JsonObject, context: Overlay, run: JsonObject) -> JsonObject | TaskFailed:
        outputs: JsonObject = {}
        for key, expression in expressions.items():
            value = _evaluated(expression, inputs, context, run)
            if isinstance(value, Failed):
                return _expression_failure(f"data.{key}", value)
            outputs[key] = None if isinstance(value, Missing) else value
        return outputs

    return compute


def _if_else(node: FlowNode) -> Compute:
    condition = compile_value(node.data["condition"], VARIABLES)

    def compute(inputs: JsonObject, context: Overlay, run: JsonObject) -> SplitResult | TaskFailed:
        holds = condition.holds(_scope(condition, inputs, context, run))
        if isinstance(holds, Failed):
            return _expression_failure("data.condition", holds)
        return _chosen("true" if holds is True else "false", inputs)

    return compute


def _switch(node: FlowNode) -> Compute:
    expression, cases = compile_value(node.data["value"], VARIABLES), node.data["cases"]

    def compute(inputs: JsonObject, context: Overlay, run: JsonObject) -> SplitResult | TaskFailed:
        value = _evaluated(expression, inputs, context, run)
        if isinstance(value, Failed):
            return _expression_failure("data.value", value)
        text = None if isinstance(value, Missing) else _text(value)
        return _chosen(text if text is not None and isinstance(cases, list) and text in cases else "default", inputs)

    return compute


def _chosen(handle: str, inputs: JsonObject) -> SplitResult:
    return SplitResult({handle: inputs.get(MAIN)}, {"_branch": handle})


def _text(value: Json) -> str | None:
    """A scalar as the name of a handle; None for other values."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            return None


def _template(node: FlowNode) -> Compute:
    """Render a template from the node's data, or from the input handle `template`."""
    written = node.data.get("template")
    compiled = Template(written, TEMPLATE_FUEL) if isinstance(written, str) else None

    def compute(inputs: JsonObject, context: Overlay, run: JsonObject) -> JsonObject | TaskFailed:
        template = inputs.get("template", written)
        if not isinstance(template, str):
            return TaskFailed("bad_input", f"template: 'template' must be a text, and is {kind_of(template)}")
        chosen = compiled if compiled is not None and template is written else Template(template, TEMPLATE_FUEL)
        try:
            return {"text": chosen.render({"inputs": inputs, "context": context.plain(), "run": run})}
        except TemplateProblem as error:
            return TaskFailed("template_error", f"data.template: {error.message}")

    return compute


def _fail(node: FlowNode) -> Compute:
    """Fail on purpose, with the type and the message of the inputs or of the node's data."""
    written = node.data.get("message", "it was told to fail")
    compiled = Template(written, MESSAGE_FUEL) if isinstance(written, str) else None

    def compute(inputs: JsonObject, context: Overlay, run: JsonObject) -> TaskFailed:
        type, message = inputs.get("type", node.data.get("type")), inputs.get("message", written)
        if not isinstance(type, str) or not type:
            return TaskFailed("bad_input", f"fail: 'type' must be a name, and is {kind_of(type)}")
        if not isinstance(message, str):
            return TaskFailed("bad_input", f"fail: 'message' must be a text, and is {kind_of(message)}")
        if compiled is None or message is not written:
            return TaskFailed(type, message)  # a message that came in is data
        try:
            names: JsonObject = {"inputs": inputs, "data": node.data, "context": context.plain(), "run": run}
            return TaskFailed(type, compiled.render(names))
        except TemplateProblem as error:
            return TaskFailed("template_error", f"data.message: {error.message}")

    return compute


def _wait(node: FlowNode) -> Compute:
    return _waiting(node, "seconds", "_wait")


def _wait_until(node: FlowNode) -> Compute:
    return _waiting(node, "timestamp", "_wait_until")


def _waiting(node: FlowNode, key: str, control_key: str) -> Compute:
    """Wait as configured, or as the input handle `key` says, and pass the inputs on afterwards."""
    written, label = node.data.get(key), node.data.get("label")
    expression = None if written is None or _is_time(written) else compile_value(written, VARIABLES)

    def compute(inputs: JsonObject, context: Overlay, run: JsonObject) -> SplitResult | TaskFailed:
        value = written if expression is None else _evaluated(expression, inputs, context, run)
        if key in inputs:
            value = inputs[key]
        if isinstance(value, Failed):
            return _expression_failure(f"data.{key}", value)
        wait: JsonObject = {key: None if isinstance(value, Missing) else value}
        return SplitResult(inputs, {control_key: wait if label is None else {**wait, "label": label}})

    return compute


def _is_time(value: Json) -> bool:
    """Whether a text is a time rather than an expression."""
    return isinstance(value, str) and time_in(value) is not None


def _evaluated(
    expression: Expression, inputs: JsonObject, context: Overlay, run: JsonObject
) -> Json | Missing | Failed:
    return expression.evaluate(_scope(expression, inputs, context, run))


def _scope(expression: Expression, inputs: JsonObject, context: Overlay, run: JsonObject) -> JsonObject:
    """The variables of an expression. Of the context, only the keys it reads, unless it reads all of it."""
    paths = [path for path in expression.reads if path[0] == "context"]
    if not paths:
        return {"inputs": inputs, "context": {}, "run": run}
    if any(len(path) == 1 for path in paths):
        return {"inputs": inputs, "context": context.plain(), "run": run}
    keys = {path[1]: None for path in paths if path[1] in context}
    return {"inputs": inputs, "context": {key: context.get(key) for key in keys}, "run": run}


def _expression_failure(where: str, failed: Failed) -> TaskFailed:
    return TaskFailed("expression_error", failure_text(where, failed))

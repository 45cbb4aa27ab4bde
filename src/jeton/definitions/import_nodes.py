"""Nodes of exported graphs as nodes of a flow: types by other names, conditions, waits, forks and joins.

What has no equal here is reported with the node's name, because a graph that only looks translated would do nothing.
"""

import json
import re
from collections.abc import Collection

from jeton.definitions.read.fields import Fields
from jeton.definitions.read.location import NAME
from jeton.definitions.report import closest, listed, shown
from jeton.model.definition.flow import BUILT_IN_TYPES, MAIN
from jeton.model.json import Json, JsonObject

SAME_TYPES = {
    "if": "if_else",
    "ifelse": "if_else",
    "condition": "if_else",
    "conditional_fork": "if_else",
    "conditional_join": "set",
    "addition": "add",
    "subtraction": "subtract",
    "multiplication": "multiply",
    "division": "divide",
    "number": "constant",
    "number_input": "constant",
    "text_input": "constant",
    "boolean_input": "constant",
    "value": "constant",
    "delay": "wait",
    "sleep": "wait",
    "http_request": "http",
    "llm_call": "llm",
    "approval": "gate",
    "sub_workflow": "workflow",
    "set_variable": "set",
}
TRIGGERS = frozenset(
    (
        "initial", "manual", "start", "schedule", "cron", "webhook", "contact_created", "review_received",
        "sms_received", "feedback_submitted", "stage_changed", "category_added", "survey_completed",
        "keyword_joined", "task_completed",
    )
)  # fmt: skip
HAPPENED = (
    "_created", "_received", "_submitted", "_changed", "_added", "_removed", "_updated", "_completed", "_joined",
)  # fmt: skip
"""How the names of triggers end that tell what happened. Only a node that nothing leads to is one."""

UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
OPERATORS = {
    "eq": ("eq", "equals", "equal", "is", "==", "===", "="),
    "neq": ("neq", "ne", "not_equals", "not_equal", "is_not", "!=", "!=="),
    "gt": ("gt", "greater_than", ">"),
    "gte": ("gte", "greater_than_or_equal", "greater_or_equal", ">="),
    "lt": ("lt", "less_than", "<"),
    "lte": ("lte", "less_than_or_equal", "less_or_equal", "<="),
    "contains": ("contains", "includes"),
    "not_contains": ("not_contains", "does_not_contain"),
    "in": ("in", "one_of"),
    "exists": ("exists", "is_set", "is_not_empty", "not_empty"),
    "not_exists": ("not_exists", "is_not_set", "is_empty", "empty"),
}
METHODS_WITH_BODY = ("POST", "PUT", "PATCH")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SIGNS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
LOOKED_UP = "_categories"  # a field that the editor looks up in its own database


class Untranslatable(Exception):
    """A part of a node that has no equal in a flow."""

    def __init__(self, problem: str, remedy: str) -> None:
        self.problem, self.remedy = problem, remedy
        super().__init__(problem)


def words_of(type: str) -> str:
    """A type in lower case with underscores, however it is spelt."""
    return re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type)).strip("_").lower()


def built_in(type: str, *, root: bool) -> str | None:
    """The built-in type for an exported one; None if there is none. All kinds of trigger become `trigger`."""
    words = words_of(type)
    if words.endswith("trigger") or words in TRIGGERS or (root and words.endswith(HAPPENED)):
        return "trigger"
    known = SAME_TYPES.get(words, words)
    return known if known in BUILT_IN_TYPES else None


def input_handle(type: str, handle: str) -> str:
    """The input handle of the translated node."""
    return MAIN if words_of(type) == "conditional_fork" and handle == "value" else handle


def translated(
    type: str, data: JsonObject, inputs: JsonObject, handles: Collection[str]
) -> tuple[JsonObject, JsonObject]:
    """The `data` and `inputs` of a built-in node. `handles` are those that connections lead to.

    Raises Untranslatable."""
    match words_of(type):
        case "conditional_fork":
            return {"condition": "inputs.condition"}, {input_handle(type, key): value for key, value in inputs.items()}
        case "conditional_join":
            return {"result": _first_of([*dict.fromkeys((*inputs, *handles))])}, inputs
        case _:
            pass
    match built_in(type, root=False):
        case "if_else":
            return _if_else(data), inputs
        case "switch" if "field" in data:
            return _switch(data), inputs
        case "wait" if "seconds" not in data and "seconds" not in inputs and "seconds" not in handles:
            return _wait(data), inputs
        case "wait_until" if "timestamp" not in inputs and "timestamp" not in handles:
            return _wait_until(data), inputs
        case "constant":  # other inputs say how the editor asks for the value
            return data, {key: value for key, value in inputs.items() if key == "value"}
        case "http":
            return _request(data), inputs
        case _:
            return data, inputs


def _first_of(handles: list[str]) -> str:
    """The value of the first handle that has one. The branches of a fork exclude each other."""
    if not handles:
        raise Untranslatable("nothing leads to it", "connect the branches that it joins")
    last = f"inputs[{_text(handles[-1])}]"
    for handle in reversed(handles[:-1]):
        last = f"{_text(handle)} in inputs ? inputs[{_text(handle)}] : {last}"
    return last


def _if_else(data: JsonObject) -> JsonObject:
    """A condition as an expression, or as `{field, operator, value}`, in `condition` or beside it."""
    condition = data.get("condition", data if "field" in data else None)
    if isinstance(condition, bool) or (isinstance(condition, str) and condition):
        return {"condition": condition}
    if not isinstance(condition, dict) or not condition.get("field"):
        raise Untranslatable("has no condition", "write 'condition': an expression, or {field, operator, value}")
    return {"condition": _comparison(condition)}


def _comparison(condition: JsonObject) -> str:
    """A comparison of texts and numbers, loose as editors are: texts in any case, numbers also as texts."""
    field, there = _field(condition["field"])
    written, value = condition.get("operator"), condition.get("value")
    operator = _operator(written)
    full = f"{there} && !({field} in [null, '', false])"
    if operator in ("exists", "not_exists"):
        return full if operator == "exists" else f"!({full})"
    given = f"{there} && {field} != null"
    if operator in SIGNS:
        return f"{given} && double({field}) {SIGNS[operator]} {_number(value)}"
    if isinstance(value, dict | list) or value is None:
        raise Untranslatable(f"compares {shown(condition['field'])} with no text or number", "write 'value'")
    text, expected = f"string({field}).lowerAscii()", _text(_shown_as_text(value).lower())
    match operator:
        case "eq":
            return f"{given} && {text} == {expected}"
        case "neq":
            return f"!({given} && {text} == {expected})"
        case "in":
            options = ", ".join(_text(each.strip()) for each in _shown_as_text(value).lower().split(","))
            return f"{given} && {text} in [{options}]"
        case _:
            item = f"{field}.exists(item, string(item).lowerAscii() == {expected})"
            found = f"{given} && (type({field}) == list ? {item} : {text}.contains({expected}))"
            return found if operator == "contains" else f"!({found})"


def _operator(written: Json) -> str:
    spelt = words_of(written) or written.strip() if isinstance(written, str) else ""
    for name, spellings in OPERATORS.items():
        if spelt in spellings:
            return name
    known = [spellings[0] for spellings in OPERATORS.values()]
    meant = closest(spelt, known) if spelt else None
    remedy = f"write '{meant}'" if meant else f"write one of {listed(known)}, or a condition that is an expression"
    raise Untranslatable(f"has the operator {shown(written)}, which is not known", remedy)


def _field(written: Json) -> tuple[str, str]:
    """A path into the context, and an expression that tells whether it is there."""
    text = written.strip().removeprefix("{{").removesuffix("}}").strip() if isinstance(written, str) else ""
    keys = text.removeprefix("context.").split(".")
    if not text or not all(keys) or keys[0] == LOOKED_UP or any(re.search(r"[{}\[\]()\s]", key) for key in keys):
        problem = f"asks for {shown(written)}, which is no path into the context"
        raise Untranslatable(problem, "write a path such as 'order.total', or a condition that is an expression")
    here, there = "context", list[str]()
    for key in keys:
        there.append(f"{_text(key)} in {here}")
        here = f"{here}.{key}" if NAME.fullmatch(key) and "-" not in key else f"{here}[{_text(key)}]"
    return here, " && ".join(there)


def _number(value: Json) -> str:
    try:
        number = float(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise Untranslatable(f"compares with {shown(value)}, which is no number", "write a number as 'value'")
    return repr(int(number) if number == int(number) else number)


def _switch(data: JsonObject) -> JsonObject:
    field, there = _field(data["field"])
    cases = data.get("cases")
    if not isinstance(cases, list) or not all(isinstance(case, str | int | float) for case in cases):
        raise Untranslatable("has cases that are no texts", "write 'cases' as a list of the handles it chooses from")
    return {"value": f"{there} ? {field} : null", "cases": [_shown_as_text(case) for case in cases]}


def _wait(data: JsonObject) -> JsonObject:
    """A wait of `{amount, unit}`, in hours unless it says otherwise."""
    amount, unit = data.get("amount", data.get("duration")), data.get("unit", "hours")
    try:
        number = float(amount) if isinstance(amount, str) else amount
    except ValueError:
        number = None
    factor = UNITS.get(unit.strip().lower().removesuffix("s")) if isinstance(unit, str) else None
    if isinstance(number, bool) or not isinstance(number, int | float) or number <= 0:
        raise Untranslatable("says no time to wait", "write 'amount', a number, and 'unit'")
    if factor is None:
        raise Untranslatable(f"waits in the unit {shown(unit)}", f"write one of {listed([f'{u}s' for u in UNITS])}")
    seconds = number * factor
    label = data.get("label") or f"{_shown_as_text(amount)} {unit}"
    return {"seconds": int(seconds) if seconds == int(seconds) else seconds, "label": label}


def _wait_until(data: JsonObject) -> JsonObject:
    when = next((data[key] for key in ("timestamp", "until", "dateTime", "datetime", "date") if data.get(key)), None)
    if not isinstance(when, str):
        raise Untranslatable("says no time to wait for", "write 'timestamp'")
    return {"timestamp": when, "label": data["label"]} if data.get("label") else {"timestamp": when}


def _request(data: JsonObject) -> JsonObject:
    """The implementation of an `http` action. Editors write the body as a text, and send it as JSON."""
    made: JsonObject = {}
    for key, value in data.items():
        if key == "endpoint":
            made["url"] = _plain(value)
        elif key == "body" and data.get("method") not in METHODS_WITH_BODY:
            continue  # the editor keeps what was written for another method, and does not send it
        elif key == "body" and value not in (None, ""):
            made["json"] = _body(value)
        elif key not in ("body", "variableName"):
            made[key] = _plain(value)
    return made


def _body(value: Json) -> Json:
    plain = _plain(value)
    try:
        body: Json = json.loads(plain) if isinstance(plain, str) else plain
    except ValueError:
        raise Untranslatable(f"sends {shown(value)}, which is no JSON", "write 'body' as JSON") from None
    return body


def variable_of(type: str, data: JsonObject) -> str | None:
    """The name under which a request keeps its answer in the context, if it has one. Raises Untranslatable."""
    written = data.get("variableName")
    if built_in(type, root=False) != "http" or written in (None, ""):
        return None
    if not isinstance(written, str) or not VARIABLE.fullmatch(written):
        problem = f"keeps its answer as {shown(written)}, which is no name of a variable"
        raise Untranslatable(problem, "write 'variableName' with letters, digits and underscores")
    return written


def request_task(request: JsonObject, variable: str) -> JsonObject:
    """A task that keeps the answer of a request where later nodes look for it: `items.httpResponse.data`."""
    place = f"output.{variable}.httpResponse"
    body = "has(result.json) ? result.json : has(result.text) ? result.text : null"
    output_mapping: JsonObject = {f"{place}.status": "result.status", f"{place}.data": body}
    action: JsonObject = {"kind": "http", "implementation": request}
    return {"steps": [{"ref": "request", "action": action, "output_mapping": output_mapping}]}


def _plain(value: Json) -> Json:
    if isinstance(value, str) and "{{" in value:
        problem = f"has the template {shown(value)}, and an action is filled in by '{{name}}' from its inputs"
        raise Untranslatable(problem, "write '{name}', and connect what it stands for to the input 'name'")
    return value


def _text(value: str) -> str:
    """A text as a literal of an expression."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def _shown_as_text(value: Json) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)


def untranslated(fields: Fields, name: str, type: str, found: Untranslatable) -> None:
    """Report a node that has no equal."""
    fields.report.error(fields.here, "not_translatable", f"node {shown(name)} ({type}) {found.problem}", found.remedy)

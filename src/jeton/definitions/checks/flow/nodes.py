"""Checks of flow nodes: the `data` of built-ins, and expressions."""

import math

from jeton.definitions.checks.compiled import compile_expressions, compile_one
from jeton.definitions.checks.definitions import Definitions
from jeton.definitions.checks.expressions import check_gives
from jeton.definitions.checks.gates import check_gate
from jeton.definitions.checks.mappings import check_keys
from jeton.definitions.checks.names import check_reference
from jeton.definitions.checks.types import RUN
from jeton.definitions.read.fields import Fields
from jeton.definitions.read.flow import FlowSource
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.node import GATE_KEYS, read_gate
from jeton.definitions.report import Report, closest, kind, shown
from jeton.expression.templates.template import Template
from jeton.model.definition.flow import FlowNode
from jeton.model.json import Json, JsonObject
from jeton.model.times import time_in

AT_FLOW_NODE = frozenset(("inputs", "context", "run"))
CALL_KEYS = ("workflow", "on_failure", "timeout_ms", "inherit_artifacts")
AGENT_KEYS = ("agent", "output_schema", "conversation", "timeout_ms")


def check_flow_nodes(source: FlowSource, definitions: Definitions, report: Report) -> None:
    """Check every node, and the flow's output mapping."""
    for name, node in source.flow.nodes.items():
        location = source.node(name)
        _check_built_in(name, node, source, location, definitions, report)
        _check_how_long(name, source, report)
    location = source.location / "output_mapping"
    compile_expressions(source.flow.output_mapping, frozenset(("context", "run")), location, report)
    for target in source.flow.output_mapping or {}:
        check_keys(target, location / target, report)


def _check_built_in(
    name: str, node: FlowNode, source: FlowSource, location: SourceLocation, definitions: Definitions, report: Report
) -> None:
    data = location / "data"
    match node.type:
        case "set":
            compile_expressions(node.data, AT_FLOW_NODE, data, report)
        case "if_else":
            if _has(node, "condition", location, report):
                _check_expression(node.data["condition"], "bool", data / "condition", report)
        case "switch":
            if _has(node, "value", location, report):
                compile_one(node.data["value"], AT_FLOW_NODE, data / "value", report)
            _check_cases(node, location, report)
        case "template":
            if "template" not in node.inputs and _has(node, "template", location, report):
                _check_template(node.data["template"], data / "template", report)
        case "fail":
            _check_failure(name, node, source, report)
        case "wait":
            _check_seconds(node.data.get("seconds"), data / "seconds", report)
        case "wait_until":
            _check_timestamp(node.data.get("timestamp"), data / "timestamp", report)
        case "gate":
            gate = read_gate(Fields(node.data, data, report).only(GATE_KEYS, "a gate"), name)
            check_gate(gate, data, report)
            _check_timeout(gate.timeout_ms, data / "timeout_ms", report)
        case "workflow":
            _check_call(node.data, location, definitions, report)
        case "agent":
            fields = Fields(node.data, data, report).only(AGENT_KEYS, "an agent node")
            if _has(node, "agent", location, report) and (agent := fields.text("agent")) is not None:
                check_reference(agent, "agent", definitions.agents, data / "agent", report)
            fields.schema("output_schema")
            if (conversation := fields.text("conversation")) is not None:
                _check_expression(conversation, "id", data / "conversation", report)
            _check_timeout(fields.count("timeout_ms"), data / "timeout_ms", report)
        case _:
            pass


def _check_how_long(name: str, source: FlowSource, report: Report) -> None:
    """Warn of a wait without a time. Not an error, because a run may be given one."""
    node = source.flow.nodes[name]
    key = {"wait": "seconds", "wait_until": "timestamp"}.get(node.type)
    if key is None or node.data.get(key) is not None or key in node.inputs:
        return
    if any((each.target, each.to_input) == (name, key) for each in source.flow.connections):
        return
    problem = f"nothing says '{key}', so the node fails unless a run is given it"
    report.warning(source.node(name), "wait_without_time", problem, f"add 'data: {{{key}: …}}'")


def _has(node: FlowNode, key: str, location: SourceLocation, report: Report) -> bool:
    """Whether `data` has a required key; reports it if not."""
    if key in node.data:
        return True
    misspelt = closest(key, node.data)
    remedy = f"write '{key}' for {shown(misspelt)}" if misspelt else f"add 'data: {{{key}: …}}'"
    at = location / "data" if node.data else location
    report.error(at, "missing_key", f"'{key}' is missing, and '{node.type}' needs it in its 'data'", remedy)
    return False


def _check_expression(value: Json, gives: str, location: SourceLocation, report: Report) -> None:
    if gives == "bool" and not isinstance(value, str | bool):
        problem = f"is {kind(value)}, but must be an expression"
        report.error(location, "wrong_type", problem, "write an expression that is true or false")
        return
    expression = compile_one(value, AT_FLOW_NODE, location, report)
    if expression is not None:
        check_gives(expression, gives, {"run": RUN}, location, report)


def _check_timeout(written: int | str | None, location: SourceLocation, report: Report) -> None:
    if isinstance(written, str):
        _check_expression(written, "int", location, report)


def _check_cases(node: FlowNode, location: SourceLocation, report: Report) -> None:
    if not _has(node, "cases", location, report):
        return
    cases = node.data["cases"]
    at = location / "data" / "cases"
    if not isinstance(cases, list):
        report.error(at, "wrong_type", f"is {kind(cases)}, but must be a list", "write '[first, second]'")
        return
    for index, case in enumerate(cases):
        if not isinstance(case, str) or not case:
            problem = f"is {kind(case)}, but must be the name of a handle"
            report.error(at / index, "wrong_type", problem, "put it in quotes")


def _check_template(template: Json, location: SourceLocation, report: Report) -> None:
    if not isinstance(template, str):
        report.error(location, "wrong_type", f"is {kind(template)}, but must be a text", "write a text")
        return
    compiled = Template(template, fuel=0)
    if compiled.problem is not None:
        problem = f"{shown(template)} is not a valid template: {compiled.problem}"
        report.error(location, "template_invalid", problem, "write '{{ inputs.main }}' for what varies")


def _check_failure(name: str, node: FlowNode, source: FlowSource, report: Report) -> None:
    """Check a failure on purpose. Its type may arrive at the handle of that name."""
    data = source.node(name) / "data"
    fields = Fields(node.data, data, report).only(("type", "message"), "a fail node")
    arrives = any((each.target, each.to_input) == (name, "type") for each in source.flow.connections)
    if "type" in node.inputs or arrives or _has(node, "type", source.node(name), report):
        fields.name("type")
    if "message" in node.data:
        _check_template(node.data["message"], data / "message", report)


def _check_seconds(seconds: Json, location: SourceLocation, report: Report) -> None:
    """Check a number or an expression. It may be left out, because it can arrive at the handle of that name."""
    if seconds is None:
        return
    if isinstance(seconds, str):
        _check_expression(seconds, "double", location, report)
    elif isinstance(seconds, bool) or not isinstance(seconds, int | float):
        report.error(location, "wrong_type", f"is {kind(seconds)}, but must be a number", "write seconds")
    elif not seconds > 0 or not math.isfinite(seconds):
        report.error(location, "out_of_range", f"is {seconds}, but must be more than 0", "write more than 0")


def _check_timestamp(timestamp: Json, location: SourceLocation, report: Report) -> None:
    """Check a time, or an expression that gives one."""
    if timestamp is None:
        return
    if not isinstance(timestamp, str):
        problem = f"is {kind(timestamp)}, but must be a time"
        report.error(
            location, "wrong_type", problem, "write an RFC 3339 time with a zone, or an expression that gives one"
        )
        return
    written = time_in(timestamp)
    if written is None:
        _check_expression(timestamp, "string", location, report)
    elif written.tzinfo is None:
        problem = f"{shown(timestamp)} has no zone"
        report.error(location, "wrong_type", problem, f"write '{timestamp}Z' if it is UTC")


def _check_call(written: JsonObject, location: SourceLocation, definitions: Definitions, report: Report) -> None:
    data = location / "data"
    fields = Fields(written, data, report).only(CALL_KEYS, "a call of a workflow")
    if not fields.require("workflow"):
        return
    workflow = fields.text("workflow")
    if workflow is not None:
        known = {*definitions.workflows, *definitions.flows}
        check_reference(workflow, "workflow", known, data / "workflow", report)
    fields.choice("on_failure", "propagate", "catch")
    _check_timeout(fields.count("timeout_ms"), data / "timeout_ms", report)
    fields.flag("inherit_artifacts", False)

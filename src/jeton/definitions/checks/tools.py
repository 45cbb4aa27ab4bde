"""Checks of tools: their targets, approvals and mappings, and their input against what the target takes."""

from jeton.definitions.checks.compiled import compile_expressions, compile_one
from jeton.definitions.checks.definitions import Definitions, name_referred_to
from jeton.definitions.checks.expressions import check_gives, check_mapping
from jeton.definitions.checks.mappings import check_keys, check_missing, check_value
from jeton.definitions.checks.mcp import server_problem
from jeton.definitions.checks.names import check_reference
from jeton.definitions.checks.schemas import excludes, misfit
from jeton.definitions.checks.types import RUN, UNKNOWN, Types, input_of_task
from jeton.definitions.library import LibrarySource, Located
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.template import check_template
from jeton.definitions.report import Report
from jeton.model.definition.agent import AgentTool, Approval, McpTool, TaskTool, Tool, ToolTarget, WorkflowTool
from jeton.model.json import Schema

CALLER: Schema = {
    "type": "object",
    "properties": {
        "type": {"enum": ["user", "agent", "run"]},
        "user": {"type": ["string", "null"]},
        "agent": {"type": ["string", "null"]},
        "run_id": {"type": ["string", "null"]},
    },
    "additionalProperties": False,
}
"""The schema of `caller`: whose message the turn answers."""

APPROVAL = frozenset(("input", "caller", "tainted"))
MAPPING = frozenset(("input", "caller", "run"))
TITLE = ("tool", "input", "caller", "agent")


def check_tools(source: LibrarySource, definitions: Definitions, report: Report) -> None:
    """Check every tool."""
    for tool in source.tools.values():
        _check_target(tool.value.target, tool.location, definitions, report)
        _check_input_schema(tool, report)
        if tool.value.needs_approval is not None:
            _check_approval(tool.value.needs_approval, _input(tool.value), tool.location / "needs_approval", report)
        _check_mapping(tool, definitions, report)


def _input(tool: Tool) -> Schema:
    return tool.input_schema or UNKNOWN


def _check_target(target: ToolTarget, location: SourceLocation, definitions: Definitions, report: Report) -> None:
    match target:
        case TaskTool(task):
            check_reference(task, "task", definitions.tasks, location / "task", report)
        case WorkflowTool(workflow):
            check_reference(workflow, "workflow", definitions.startable, location / "workflow", report)
        case AgentTool(agent):
            check_reference(agent, "agent", definitions.agents, location / "agent", report)
        case McpTool(server):
            found = server_problem(server, definitions.settings) if server else None
            if found is not None:
                report.error(location / "mcp" / "server", "unknown_server", *found)


def _check_input_schema(source: Located[Tool], report: Report) -> None:
    """Check that the input can be an object: a model calls a tool with nothing else."""
    schema = source.value.input_schema
    instead = None if schema is None else excludes(schema, "map")
    if instead is not None:
        problem = f"says that the input is {instead}, and a model calls a tool with an object"
        report.error(source.location / "input_schema", "schema_invalid", problem, "write 'type: object'")


def _check_approval(approval: Approval, input: Schema, location: SourceLocation, report: Report) -> None:
    """Check the condition and the title. A condition may stand alone, without the object around it."""
    if isinstance(approval.when, str):
        at = location / "when" if "when" in location.mark.inside else location
        condition = compile_one(approval.when, APPROVAL, at, report)
        if condition is not None:
            seen: Types = {"input": input, "caller": CALLER, "tainted": {"type": "boolean"}}
            check_gives(condition, "bool", seen, at, report)
    if approval.title is not None:
        check_template("title", approval.title, location / "title", report, TITLE)


def _check_mapping(source: Located[Tool], definitions: Definitions, report: Report) -> None:
    tool, location = source.value, source.location / "input_mapping"
    seen: Types = {"input": _input(tool), "caller": CALLER, "run": RUN}
    compiled = compile_expressions(tool.input_mapping, MAPPING, location, report)
    check_mapping(compiled, seen, location, report)
    for target in tool.input_mapping or {}:
        check_keys(target, location / target, report)
    wanted = _taken(tool.target, definitions)
    if wanted is None:
        return
    if tool.input_mapping is None:
        reason = misfit(_input(tool), wanted)
        if reason is not None:
            problem = f"the input is passed on to the tool's target, which cannot take it: {reason}"
            remedy = "add an input_mapping, or change one of the schemas"
            report.warning(source.location / "input_schema", "mapping_type", problem, remedy)
        return
    check_missing(wanted, tool.input_mapping, "the tool's target", location, report)
    for target, expression in compiled.items():
        at = location / target
        check_value(expression, seen, wanted, target.split("."), "the target's input", at, report)


def _taken(target: ToolTarget, definitions: Definitions) -> Schema | None:
    """The input schema of a target, if it is known."""
    match target:
        case TaskTool(task):
            found = definitions.tasks.get(name_referred_to(task) or "")
            return None if found is None else input_of_task(found, definitions)
        case WorkflowTool(workflow):
            called = definitions.startable.get(workflow)
            return None if called is None else called.input_schema
        case AgentTool() | McpTool():
            return None

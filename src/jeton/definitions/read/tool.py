"""Tools: plain data into the model."""

from jeton.definitions.read.action import read_retry
from jeton.definitions.read.fields import Fields, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, listed, shown
from jeton.model.definition.agent import (
    DEFAULT_RESULT_BYTES,
    AgentTool,
    Approval,
    McpTool,
    TaskTool,
    Tool,
    ToolTarget,
    WorkflowTool,
)
from jeton.model.json import Json

TARGETS = ("task", "workflow", "agent", "mcp")
AGENT_KEYS = ("mode", "output_schema")  # beside `agent:` only
TOOL_KEYS = (
    *TARGETS, *AGENT_KEYS, "name", "description", "input_schema", "input_mapping", "async", "once", "exclusive",
    "untrusted", "needs_approval", "retry", "timeout_ms", "max_result_bytes", "tags",
)  # fmt: skip
APPROVAL_KEYS = ("when", "title", "assignees", "approvals", "timeout_ms", "on_timeout")
HINTS = {
    "action": "make it a task with one step, and write 'task: name'",
    "flow": "write 'workflow': it takes flows too",
    "parameters": "write 'input_schema'",
    "schema": "write 'input_schema'",
    "approval": "write 'needs_approval'",
    "retry_policy": "write 'retry'",
    "runs_async": "write 'async'",
}


def read_tool(name: str, value: Json, location: SourceLocation, report: Report) -> Tool:
    """Read a tool. If its target cannot be read, it runs a task without a name."""
    fields = fields_of(value, location, report, TOOL_KEYS, "a tool", HINTS)
    if fields is None:
        return Tool(name, TaskTool(""))
    _check_name(name, fields)
    _check_keys(fields)
    return Tool(
        name=name,
        target=_target(fields),
        description=fields.text("description") or "",
        input_schema=fields.schema("input_schema"),
        output_schema=fields.schema("output_schema"),
        input_mapping=fields.object("input_mapping"),
        runs_async=fields.flag("async", default=False),
        once=fields.flag("once", default=False),
        exclusive=fields.flag("exclusive", default=False),
        untrusted=fields.flag("untrusted", default=False) if "untrusted" in fields else None,
        needs_approval=_approval(fields),
        retry=read_retry(fields, "retry"),
        timeout_ms=fields.integer("timeout_ms", at_least=1),
        max_result_bytes=fields.integer("max_result_bytes", at_least=1) or DEFAULT_RESULT_BYTES,
        tags=fields.texts("tags"),
    )


def _check_name(name: str, fields: Fields) -> None:
    """Check that a `name:` says the same as the key above it."""
    written = fields.text("name")
    if written is not None and written != name:
        problem = f"is {shown(written)}, and the key above it is {shown(name)}, which is the name"
        fields.report.error(fields.location("name"), "bad_name", problem, "remove it, or rename the tool")


def _check_keys(fields: Fields) -> None:
    targets = [key for key in TARGETS if key in fields]
    if not targets and not fields.unknown:
        problem, remedy = (
            "has no target, so calling it would do nothing",
            "add one of 'task', 'workflow', 'agent', 'mcp'",
        )
        fields.report.error(fields.here, "missing_key", problem, remedy)
    if len(targets) > 1:
        problem = f"has {len(targets)} targets, {listed(targets)}, and a tool has one"
        fields.report.error(fields.here, "two_targets", problem, "keep one, and make tools of the others")
    for key in AGENT_KEYS:
        if key in fields and "agent" not in fields:
            problem = f"'{key}' belongs to a tool that asks an agent, and this one asks none"
            fields.report.error(fields.location(key), "key_without_target", problem, "remove it")
    if fields.value("once") is True and "retry" in fields:
        problem = "has 'once: true' and 'retry', and what may be done once only cannot be tried again"
        fields.report.error(fields.here, "once_and_retry", problem, "remove one of the two")


def _target(fields: Fields) -> ToolTarget:
    """The target; the first, if there are several."""
    if "task" in fields:
        return TaskTool(fields.text("task") or "")
    if "workflow" in fields:
        return WorkflowTool(fields.text("workflow") or "")
    if "agent" in fields:
        return AgentTool(fields.text("agent") or "", fields.choice("mode", "delegate", "loop_in"))
    inner = fields.inner("mcp", ("server", "tool"), "'mcp'")
    if inner is None:
        return TaskTool("")
    inner.require("server", "tool")
    return McpTool(inner.name("server") or "", inner.text("tool") or "")


def _approval(fields: Fields) -> Approval | None:
    """`true`, `false`, a condition, or an object with who is asked."""
    match fields.value("needs_approval"):
        case None if "needs_approval" not in fields:
            return None
        case bool() as always:
            return Approval() if always else None
        case str() as when if when:
            return Approval(when)
        case dict():
            pass
        case _:
            remedy = "write 'true', an expression, or '{when: …, assignees: […]}'"
            fields.wrong("needs_approval", "true, false, an expression or an object", remedy)
            return None
    inner = fields.inner("needs_approval", APPROVAL_KEYS, "'needs_approval'")
    if inner is None:
        return None
    condition = inner.value("when", True)
    if not isinstance(condition, str | bool) or condition == "":
        inner.wrong("when", "an expression")
        condition = True
    return Approval(
        when=condition,
        title=inner.text("title"),
        assignees=inner.texts("assignees"),
        approvals=inner.integer("approvals", at_least=1) or 1,
        timeout_ms=inner.integer("timeout_ms", at_least=1),
        on_timeout=inner.choice("on_timeout", "refuse"),
    )

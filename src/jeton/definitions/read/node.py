"""Nodes: plain data into the model, with shorthands expanded."""

from jeton.definitions.read.action import read_action_or_name
from jeton.definitions.read.fields import Fields, check_name, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.task import one_step_task, read_task_or_name
from jeton.definitions.report import Report, listed
from jeton.model.definition.workflow import (
    AgentTarget,
    EndTarget,
    FailedEnd,
    GateTarget,
    Node,
    SignalSpec,
    Target,
    TaskTarget,
    WaitTarget,
    WorkflowTarget,
)
from jeton.model.json import Json

TARGETS = ("task", "action", "workflow", "agent", "gate", "wait", "end")
CALL_KEYS = ("on_failure", "timeout_ms", "inherit_artifacts")  # beside `workflow:`, which is only a name
NODE_KEYS = (*TARGETS, *CALL_KEYS, "input_mapping", "output_mapping", "fan_out", "fan_in")
GATE_KEYS = ("title", "schema", "assignees", "approvals", "timeout_ms", "on_timeout")
AGENT_KEYS = ("name", "output_schema", "conversation", "timeout_ms")
WAIT_KEYS = ("seconds", "until", "signal", "signals", "schema", "timeout_ms", "on_timeout", "label")
HINTS = {"human": "write 'gate: {title: …}'", "subworkflow": "write 'workflow: name'"}


def read_node(value: Json, name: str, location: SourceLocation, report: Report) -> Node:
    """Read a node. An empty one (`done:`) has no target."""
    fields = fields_of({} if value is None else value, location, report, NODE_KEYS, "a node", HINTS)
    if fields is None:
        return Node()
    _check_targets(fields)
    return Node(
        target=_target(fields, name),
        input_mapping=fields.object("input_mapping"),
        output_mapping=fields.object("output_mapping"),
        fan_out=fields.choice("fan_out", "all", "first_match"),
    )


def _check_targets(fields: Fields) -> None:
    targets = [key for key in TARGETS if key in fields]
    if len(targets) > 1:
        problem = f"has {len(targets)} targets, {listed(targets)}, and a node has at most one"
        remedy = "keep one, and give the others nodes of their own"
        fields.report.error(fields.here, "two_targets", problem, remedy)
    for key in CALL_KEYS:
        if key in fields and "workflow" not in fields:
            problem = f"'{key}' belongs to a call of a workflow, and this node calls none"
            remedy = "write it in the task" if {"task", "action"} & set(targets) else "remove it"
            fields.report.error(fields.location(key), "key_without_target", problem, remedy)
    if "end" in targets and "output_mapping" in fields:
        problem = "an 'end' node has no output to map: the run is over"
        remedy = "write the values in a node before it, or in the workflow's 'output_mapping'"
        fields.report.error(fields.location("output_mapping"), "key_without_target", problem, remedy)


def _target(fields: Fields, name: str) -> Target | None:
    """The target; the first, if there are several."""
    for key in TARGETS:
        if key in fields:
            return _READERS[key](fields, name)
    return None


def _task(fields: Fields, name: str) -> Target:
    return TaskTarget(read_task_or_name(fields.value("task"), fields.location("task"), fields.report))


def _action(fields: Fields, name: str) -> Target:
    action = read_action_or_name(fields.value("action"), fields.location("action"), fields.report)
    return TaskTarget(one_step_task(action, name))


def _workflow(fields: Fields, name: str) -> Target:
    return WorkflowTarget(
        workflow=fields.text("workflow") or "",
        on_failure=fields.choice("on_failure", "propagate", "catch"),
        timeout_ms=fields.count("timeout_ms"),
        inherit_artifacts=fields.flag("inherit_artifacts", False),
    )


def _agent(fields: Fields, name: str) -> Target:
    if isinstance(fields.value("agent"), str):
        return AgentTarget(fields.text("agent") or "")
    inner = fields.inner("agent", AGENT_KEYS, "an agent target")
    if inner is None:
        return AgentTarget("")
    inner.require("name")
    return AgentTarget(
        agent=inner.text("name") or "",
        output_schema=inner.schema("output_schema"),
        conversation=inner.text("conversation"),
        timeout_ms=inner.count("timeout_ms"),
    )


def _gate(fields: Fields, name: str) -> Target:
    inner = fields.inner("gate", GATE_KEYS, "a gate")
    return GateTarget("") if inner is None else read_gate(inner, name)


def read_gate(inner: Fields, name: str) -> GateTarget:
    """Read a gate. Without a title it has the name of its node."""
    return GateTarget(
        title=inner.text("title") or name,
        schema=inner.schema("schema"),
        assignees=inner.texts("assignees"),
        approvals=inner.integer("approvals", at_least=1) or 1,
        timeout_ms=inner.count("timeout_ms"),
        on_timeout=inner.value("on_timeout", "fail"),
    )


def _wait(fields: Fields, name: str) -> Target:
    inner = fields.inner("wait", WAIT_KEYS, "a wait")
    if inner is None:
        return WaitTarget()
    _check_wait(inner)
    seconds = inner.value("seconds")
    if "seconds" in inner and not isinstance(seconds, str):
        inner.number("seconds")
    return WaitTarget(
        seconds=seconds,
        until=inner.text("until"),
        signal=inner.name("signal"),
        schema=inner.schema("schema"),
        timeout_ms=inner.count("timeout_ms"),
        label=inner.text("label"),
        signals=_signals(inner),
        on_timeout=inner.value("on_timeout", "fail"),
    )


def _check_wait(fields: Fields) -> None:
    ways = [key for key in ("seconds", "until", "signal", "signals") if key in fields]
    if len(ways) != 1:
        problem = f"waits for {listed(ways)} at once" if ways else "has nothing to wait for"
        remedy = "write one of 'seconds', 'until', 'signal' and 'signals'"
        fields.report.error(fields.here, "wrong_type", problem, remedy)
    for key in ("schema", "timeout_ms", "on_timeout"):
        if key in fields and "signal" not in fields and (key == "schema" or "signals" not in fields):
            problem = f"'{key}' belongs to a wait for a signal"
            remedy = "write it at each of the signals" if "signals" in fields else "remove it"
            fields.report.error(fields.location(key), "key_without_target", problem, remedy)


def _signals(fields: Fields) -> dict[str, SignalSpec]:
    """The signals of a wait for the first of several: each with a schema, or with nothing."""
    written = fields.object("signals")
    if written is not None and not written:
        fields.wrong("signals", "an object with the names of signals", "write 'signals: {approved: {}, refused: {}}'")
    found: dict[str, SignalSpec] = {}
    for name, value in (written or {}).items():
        location = fields.location("signals") / name
        check_name(name, location, fields.report)
        inner = fields_of({} if value is None else value, location, fields.report, ("schema",), "a signal")
        found[name] = SignalSpec(None if inner is None else inner.schema("schema"))
    return found


def _end(fields: Fields, name: str) -> Target:
    if fields.value("end") == "completed":
        return EndTarget()
    if isinstance(fields.value("end"), str):
        remedy = "write 'completed', or '{failed: {type: …, message: …}}'"
        fields.report.error(fields.location("end"), "unknown_value", "is not a way to end a run", remedy)
        return EndTarget()
    inner = fields.inner("end", ("failed",), "an end")
    if inner is None or not inner.require("failed"):
        return EndTarget()
    failed = inner.inner("failed", ("type", "message"), "a failed end")
    if failed is None:
        return EndTarget()
    failed.require("type")
    return EndTarget(FailedEnd(failed.name("type") or "", failed.text("message") or ""))


_READERS = {
    "task": _task,
    "action": _action,
    "workflow": _workflow,
    "agent": _agent,
    "gate": _gate,
    "wait": _wait,
    "end": _end,
}

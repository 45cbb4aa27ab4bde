"""The inputs and context of a flow's node, and what a ready node does: compute at once, or ask for work."""

from typing import TypeAlias

import msgspec

from jeton.model.definition.flow import MAIN
from jeton.model.definition.workflow import AgentTarget, GateTarget, TaskTarget, WorkflowTarget
from jeton.model.failure import TaskFailed
from jeton.model.json import Json, JsonObject
from jeton.model.state.flow_run import Executed, FlowState, WaitingNode
from jeton.model.state.overlay import Overlay, merged
from jeton.planning.flow.control_keys import SplitResult, read_result, read_split_result
from jeton.planning.flow.readiness import connection_status
from jeton.planning.program.flow import BuiltinNode, CompiledConnection, FlowProgram, TriggerNode, UnknownNode


class NodeCall(msgspec.Struct, frozen=True):
    """Work outside planning. All values are copies, so the receiver may change them.

    Only nodes that can read a context get one, because copying it is costly.
    """

    work: TaskTarget | GateTarget | WorkflowTarget | AgentTarget
    inputs: JsonObject
    data: JsonObject
    context: JsonObject | None = None


BeginResult: TypeAlias = Executed | WaitingNode | TaskFailed | NodeCall


def begin_node(program: FlowProgram, state: FlowState, node: str, now: int, run: JsonObject) -> BeginResult:
    """Begin a ready node. The result of a `NodeCall` is read with `read_result` later."""
    compiled = program.nodes[node]
    inputs, context = inputs_of(program, state, node), context_before(program, state, node)
    match compiled.work:
        case TriggerNode():
            # the input is data and has no control keys; copied, because in a run that is loaded it is an object of its
            # own, and the keys of a context must come in the same order
            return Executed(dict(initial_context(state)))
        case BuiltinNode(compute):
            match compute(inputs, context, run):
                case TaskFailed() as failed:
                    return failed
                case SplitResult() as split:
                    return read_split_result(split, now)
                case result:
                    return read_result(result, now)
        case UnknownNode(type):
            return TaskFailed("unknown_node_type", f"no task, action, built-in or Python node is called '{type}'")
        case work:
            seen = _copied(context.plain()) if compiled.wants_context else None
            return NodeCall(work, _copied(inputs), _copied(compiled.definition.data), seen)


def inputs_of(program: FlowProgram, state: FlowState, node: str) -> JsonObject:
    """The inputs by handle: the literal, replaced by the run's override, replaced by what a connection delivered."""
    compiled = program.nodes[node]
    inputs: JsonObject = {**compiled.definition.inputs, **state.overrides.get(node, {})}
    lists: dict[str, list[Json]] = {}
    for connection in compiled.incoming:
        if connection_status(program, state, connection) != "delivered":
            continue
        value = delivered(state.executed[connection.source], connection)
        if connection.to_input in compiled.repeated:
            inputs[connection.to_input] = lists.setdefault(connection.to_input, [])
            lists[connection.to_input].append(value)
        else:
            inputs[connection.to_input] = value
    return inputs


def delivered(executed: Executed, connection: CompiledConnection) -> Json:
    """The value that a live connection carries: all outputs by `main`, else the output of its handle."""
    if executed.branch is None and connection.from_output == MAIN:
        return executed.outputs
    return executed.outputs.get(connection.from_output, executed.outputs)


def context_before(program: FlowProgram, state: FlowState, node: str) -> Overlay:
    """The context of a node: those of its sources, merged; the connection declared later wins for a shared key."""
    paths = [
        connection.source
        for connection in program.nodes[node].incoming
        if connection_status(program, state, connection) == "delivered"
    ]
    if not paths:
        return Overlay(initial_context(state))
    return merged([context_after(program, state, source) for source in paths])


def context_after(program: FlowProgram, state: FlowState, node: str) -> Overlay:
    """The context after an executed node: the context before it with its outputs on top. Cached."""
    asked = [node]
    while asked:
        name = asked[-1]
        open_sources = [
            connection.source
            for connection in program.nodes[name].incoming
            if connection.source in state.executed and connection.source not in state.contexts
        ]
        if open_sources:
            asked += open_sources
            continue
        if name not in state.contexts:
            into = context_before(program, state, name)
            state.contexts[name] = into.under(state.executed[name].outputs)
        asked.pop()
    return state.contexts[node]


def initial_context(state: FlowState) -> JsonObject:
    """The run's input as a context: an object as it is, any other value under `input`."""
    match state.input:
        case dict():
            return state.input
        case None:
            return {}
        case other:
            return {"input": other}


def _copied(value: JsonObject) -> JsonObject:
    return {key: _copy(item) for key, item in value.items()}


def _copy(value: Json) -> Json:
    match value:
        case dict():
            return _copied(value)
        case list():
            return [_copy(item) for item in value]
        case _:
            return value

"""What a ready node of a flow is given, and what becomes of it: worked out at once, or handed to somebody."""

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
    """Work for somebody else. All of it is copied: whoever gets it may do with it what they like.

    Only those who can read a context are given one: copying it costs all that came before.
    """

    work: TaskTarget | GateTarget | WorkflowTarget | AgentTarget
    inputs: JsonObject
    data: JsonObject
    context: JsonObject | None = None


BeginResult: TypeAlias = Executed | WaitingNode | TaskFailed | NodeCall


def begin_node(program: FlowProgram, state: FlowState, node: str, now: int) -> BeginResult:
    """What a ready node does. One that asks for work to be done is finished with `read_result` when it comes back."""
    compiled = program.nodes[node]
    inputs, context = inputs_of(program, state, node), context_before(program, state, node)
    match compiled.work:
        case TriggerNode():
            # what a run was given is plain data, whatever its keys are called; an object of its own, as it will be when
            # the run is read back, or the keys of a context would come in another order then
            return Executed(dict(initial_context(state)))
        case BuiltinNode(compute):
            match compute(inputs, context):
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
    """By input handle: the literal, over it the run's override, over both what was delivered. Absent is absent."""
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
    """What a live connection carries: by `main` all of it, by another handle, or a chosen one, what is under it."""
    if executed.branch is None and connection.from_output == MAIN:
        return executed.outputs
    return executed.outputs.get(connection.from_output, executed.outputs)


def context_before(program: FlowProgram, state: FlowState, node: str) -> Overlay:
    """What the paths into a node produced; where they meet, the later declared connection wins, key by key."""
    paths = [
        connection.source
        for connection in program.nodes[node].incoming
        if connection_status(program, state, connection) == "delivered"
    ]
    if not paths:
        return Overlay(initial_context(state))
    return merged([context_after(program, state, source) for source in paths])


def context_after(program: FlowProgram, state: FlowState, node: str) -> Overlay:
    """What an executed node passes on: what came to it, and its outputs laid over that. Worked out once for each."""
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
    """The run's input as a context: an object as it is, anything else under `input`."""
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

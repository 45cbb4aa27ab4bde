"""Compile a workflow or a flow of a library for planning."""

import msgspec

from jeton.model.definition.agent import agent_of
from jeton.model.definition.workflow import AgentTarget, GateTarget, Library, Node, TaskTarget, Workflow, WorkflowTarget
from jeton.model.failure import BrokenInvariant
from jeton.planning.credits import balance_of, prices_of
from jeton.planning.program.flow import FlowProgram, compile_flow
from jeton.planning.program.talk import FREE, compile_talk, talk_as_workflow
from jeton.planning.program.workflow import Program, compile_program


def compile_definition(library: Library, name: str) -> Program:
    """Compile the workflow or flow of this name. Both have compiled nodes, so tasks, gates and calls are the same."""
    agent = agent_of(name)
    if agent is not None:
        talk = compile_talk(library, agent)
        return _priced(msgspec.structs.replace(compile_program(talk_as_workflow(talk), library), talk=talk), library)
    if name in library.workflows:
        return _priced(compile_program(library.workflows[name], library), library)
    if name not in library.flows:
        raise BrokenInvariant("the bundle lacks its own definition", name=name)
    flow = compile_flow(library.flows[name], library)
    return _priced(msgspec.structs.replace(compile_program(_as_workflow(flow), library), flow=flow), library)


def _priced(program: Program, library: Library) -> Program:
    types = {} if program.flow is None else {name: node.type for name, node in program.flow.flow.nodes.items()}
    prices = prices_of(program.workflow, library, types)
    if program.talk is not None:
        prices |= {name: 0 for name in program.nodes if name.partition(":")[0] in FREE}
    return msgspec.structs.replace(program, prices=prices, metered=balance_of(library.settings) is not None)


def _as_workflow(program: FlowProgram) -> Workflow:
    """The nodes of a flow, with their targets, as a workflow without transitions."""
    flow = program.flow
    nodes = {
        name: Node(node.work if isinstance(node.work, TaskTarget | GateTarget | WorkflowTarget | AgentTarget) else None)
        for name, node in program.nodes.items()
    }
    return Workflow(
        name=flow.name,
        initial_node=next(iter(nodes), ""),
        nodes=nodes,
        input_schema=flow.input_schema,
        output_schema=flow.output_schema,
        timeout_ms=flow.timeout_ms,
    )

"""Tools as models are told of them."""

from jeton.model.chat import ToolSpec
from jeton.model.definition.agent import AgentTool, McpTool, TaskTool, Tool, WorkflowTool
from jeton.model.definition.workflow import Library
from jeton.model.json import Schema
from jeton.model.reference import name_of

ANY_OBJECT: Schema = {"type": "object"}
ASK: Schema = {
    "type": "object",
    "required": ["message"],
    "properties": {"message": {"type": "string", "description": "What you ask of the agent."}},
}


def tool_spec(tool: Tool, library: Library) -> ToolSpec:
    """The name, the description and the input schema: that of the tool, or of what it runs."""
    return ToolSpec(tool.name, tool.description, tool.input_schema or _target_schema(tool, library) or ANY_OBJECT)


def _target_schema(tool: Tool, library: Library) -> Schema | None:
    """The input schema of what the tool runs, unless it maps its input."""
    if tool.input_mapping is not None:
        return None
    match tool.target:
        case TaskTool(task):
            found = library.tasks.get(name_of(task))
            return None if found is None else found.input_schema
        case WorkflowTool(workflow):
            name = name_of(workflow)
            graph = library.workflows.get(name) or library.flows.get(name)
            return None if graph is None else graph.input_schema
        case AgentTool():
            return ASK
        case McpTool():
            return None

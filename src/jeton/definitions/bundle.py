"""Bundles: one workflow, flow or agent with everything it can reach, which a version stores and a run uses."""

from collections.abc import Iterable, Iterator

from jeton.model.definition.agent import AgentTool, McpTool, TaskTool, Tool, WorkflowTool, agent_bundle, agent_of
from jeton.model.definition.flow import Flow
from jeton.model.definition.task import Action, Task
from jeton.model.definition.workflow import AgentTarget, Library, TaskTarget, Workflow, WorkflowTarget
from jeton.model.json import Json, JsonObject
from jeton.model.reference import name_of


def bundle_of(library: Library, name: str) -> Library:
    """The bundle of a workflow or flow, or of an agent (`agent:bob`): all it can reach, with settings and profiles."""
    found = _Reached(library)
    agent = agent_of(name)
    if agent is None:
        found.call(name)
    else:
        found.ask(agent)
    bundle = found.bundle()
    return bundle if agent is None else _with_stand_ins(bundle, library)


def _with_stand_ins(bundle: Library, library: Library) -> Library:
    """The bundle with personas that a fork can put in the place of the agent's: they reach nothing that it lacks."""
    for name, persona in library.personas.items():
        workflows = (persona.context_assembly, persona.memory_extraction, persona.compaction)
        called = {name_of(each) for each in workflows if each is not None}
        tools = set(map(name_of, persona.tools))
        if bundle.tools.keys() >= tools and bundle.workflows.keys() | bundle.flows.keys() >= called:
            bundle.personas.setdefault(name, persona)
    return bundle


def deployable(library: Library) -> tuple[str, ...]:
    """The names under which bundles of a library are deployed: workflows, flows, and agents as `agent:NAME`."""
    return (*library.workflows, *library.flows, *(agent_bundle(agent) for agent in library.agents))


def joined(first: Library, second: Library) -> Library:
    """Both libraries in one. Where they share a name, the second's definition is taken."""
    return Library(
        workflows={**first.workflows, **second.workflows},
        tasks={**first.tasks, **second.tasks},
        actions={**first.actions, **second.actions},
        settings={**first.settings, **second.settings},
        flows={**first.flows, **second.flows},
        triggers={**first.triggers, **second.triggers},
        model_profiles={**first.model_profiles, **second.model_profiles},
        prompts={**first.prompts, **second.prompts},
        tools={**first.tools, **second.tools},
        personas={**first.personas, **second.personas},
        agents={**first.agents, **second.agents},
    )


class _Reached:
    """Collects what a definition can reach. Workflows, flows and agents wait in a list, because they form cycles."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._found = Library(
            settings=library.settings,
            model_profiles=library.model_profiles,  # all of them: a function may name any
        )
        self._waiting: list[str] = []

    def bundle(self) -> Library:
        while self._waiting:
            here = self._waiting.pop()
            agent = agent_of(here)
            if agent is not None:
                self._agent(agent)
            elif here in self._library.workflows and here not in self._found.workflows:
                self._workflow(self._library.workflows[here])
            elif here in self._library.flows and here not in self._found.flows:
                self._flow(self._library.flows[here])
        return self._found

    def call(self, workflow: str) -> None:
        self._waiting.append(name_of(workflow))

    def ask(self, agent: str) -> None:
        self._waiting.append(agent_bundle(name_of(agent)))

    def _workflow(self, workflow: Workflow) -> None:
        self._found.workflows[workflow.name] = workflow
        for node in workflow.nodes.values():
            match node.target:
                case TaskTarget(Task() as task):
                    self._steps(task)
                case TaskTarget(str() as task):
                    self._task(name_of(task))
                case WorkflowTarget(called):
                    self.call(called)
                case AgentTarget(agent):
                    self.ask(agent)
                case _:
                    pass

    def _flow(self, flow: Flow) -> None:
        self._found.flows[flow.name] = flow
        for node in flow.nodes.values():
            match node.type, node.data:
                case "workflow", {"workflow": str() as called}:
                    self.call(called)
                case "agent", {"agent": str() as agent}:
                    self.ask(agent)
                case "llm", data:
                    self._implementation(data)
                case _:
                    pass
            kind = name_of(node.type)
            self._task(kind)
            self._action(kind)

    def _task(self, name: str) -> None:
        if name in self._library.tasks and name not in self._found.tasks:
            self._found.tasks[name] = self._library.tasks[name]
            self._steps(self._library.tasks[name])

    def _steps(self, task: Task) -> None:
        for step in task.steps:
            if isinstance(step.action, str):
                self._action(step.action)
            elif step.action.kind == "llm":
                self._implementation(step.action.implementation)

    def _action(self, name: str) -> None:
        action: Action | None = self._library.actions.get(name)
        if action is not None and name not in self._found.actions:
            self._found.actions[name] = action
            if action.kind == "llm":
                self._implementation(action.implementation)

    def _implementation(self, implementation: JsonObject) -> None:
        """Follow the names in an `llm` action: a prompt, and tools."""
        prompt = implementation.get("prompt")
        if isinstance(prompt, str) and prompt in self._library.prompts:
            self._found.prompts[prompt] = self._library.prompts[prompt]
        self._tools(_texts(implementation.get("tools")))

    def _agent(self, name: str) -> None:
        if name not in self._library.agents or name in self._found.agents:
            return
        agent = self._found.agents[name] = self._library.agents[name]
        persona = self._library.personas.get(agent.persona)
        if persona is None or agent.persona in self._found.personas:
            return
        self._found.personas[agent.persona] = persona
        self._tools(persona.tools)
        for workflow in (persona.context_assembly, persona.memory_extraction, persona.compaction):
            if workflow is not None:
                self.call(workflow)

    def _tools(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._library.tools and name not in self._found.tools:
                tool = self._found.tools[name] = self._library.tools[name]
                self._target(tool)

    def _target(self, tool: Tool) -> None:
        match tool.target:
            case TaskTool(task):
                self._task(name_of(task))
            case WorkflowTool(workflow):
                self.call(workflow)
            case AgentTool(agent):
                self.ask(agent)
            case McpTool():
                pass


def _texts(value: Json) -> Iterator[str]:
    for each in value if isinstance(value, list) else ():
        if isinstance(each, str):
            yield each

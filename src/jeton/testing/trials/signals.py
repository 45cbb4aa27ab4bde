"""Signals that tasks of a simulated workflow send with the action `signal`."""

from collections.abc import Iterator, Mapping

import msgspec

from jeton.definitions.bundle import bundle_of
from jeton.executor.signals import SentSignal
from jeton.expression import ExpressionInvalid, compile_expression
from jeton.hosts.simulated.script import ScriptedCall
from jeton.hosts.simulated.signals import SimulatedSignals
from jeton.hosts.simulated.world import World
from jeton.model.definition.task import Action
from jeton.model.definition.workflow import Library
from jeton.model.json import Json
from jeton.model.reference import name_of
from jeton.planning.program.workflow import CompiledNode, Program


class TrialSignals:
    """The signals of one call. Fulfils `jeton.executor.signals.Signals`.

    A signal to a run that is not simulated goes nowhere, as any other message to the outside does."""

    def __init__(self, world: World, call: ScriptedCall) -> None:
        self._world = world
        self._call = call
        self._sending = SimulatedSignals(world)

    async def send(self, sent: SentSignal) -> None:
        """Send a signal. Raises Refused with the reason of a refusal."""
        if self._world.store.has(sent.run):
            # tasks of all runs of a workflow have the same keys, so that their results do not depend on the schedule
            await self._sending.send(msgspec.structs.replace(sent, key=f"{self._call.run}/{sent.key}"))

    def take(self) -> tuple[SentSignal, ...]:
        """The signals that were sent, to be delivered with the task's result."""
        return self._sending.take()


def signals_sent_by(library: Library, programs: Mapping[str, Program]) -> frozenset[str]:
    """The names of the signals that tasks of these workflows send. One that comes from data is not known beforehand."""
    found = (
        _name(action, _written_name(program, node, number))
        for program in programs.values()
        for node in program.nodes.values()
        for number, action in _actions(node, library)
        if action.kind == "signal"
    )
    return frozenset(name for name in found if name is not None)


def workflows_in(library: Library, workflow: str) -> tuple[str, ...]:
    """A workflow or flow, and all that it can call."""
    bundle = bundle_of(library, workflow)
    return (*bundle.workflows, *bundle.flows)


def _actions(node: CompiledNode, library: Library) -> Iterator[tuple[int, Action]]:
    for number, step in enumerate(() if node.task is None else node.task.steps):
        action = step.action
        if isinstance(action, str):
            known = library.actions.get(action) or library.actions.get(name_of(action))
            if known is not None:
                yield number, known
        else:
            yield number, action


def _written_name(program: Program, node: CompiledNode, step: int) -> Json:
    """The text that a definition writes as the input `name` of a step: at the step itself, or at its node."""
    mapping = None if node.task is None else node.task.steps[step].input_mapping
    if mapping is None and program.flow is not None:
        return program.flow.nodes[node.name].definition.inputs.get("name")
    written = (mapping or node.definition.input_mapping or {}).get("name")
    if not isinstance(written, str):
        return None
    try:
        value = compile_expression(written, ()).evaluate({})
    except ExpressionInvalid:  # it reads data
        return None
    return value if isinstance(value, str) else None


def _name(action: Action, written: Json) -> str | None:
    name = action.implementation.get("name", written)
    return name if isinstance(name, str) else None

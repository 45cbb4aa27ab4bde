"""A run of a flow driven by hand: what an actor does, with nothing around it."""

from collections.abc import Callable
from typing import Any

import msgspec

from jeton.definitions import library_from
from jeton.model.definition.task import Action
from jeton.model.definition.workflow import Library
from jeton.model.failure import RunError, TaskFailed
from jeton.model.json import Json, JsonObject
from jeton.model.state.flow_run import Executed, FlowState, FlowStatus, NodeView, Settled, WaitingNode
from jeton.planning.flow.control_keys import read_result
from jeton.planning.flow.node import NodeCall, begin_node
from jeton.planning.flow.output import FlowOutput, flow_output
from jeton.planning.flow.progress import handled_failure
from jeton.planning.flow.readiness import (
    limit_problem,
    remaining_of,
    settle_executed,
    settle_failed,
    start_flow,
    status_of,
)
from jeton.planning.flow.view import node_view
from jeton.planning.program.flow import FlowProgram, compile_flow

FUNCTIONS = ("work", "other")
NOW = 1_000_000
Object = dict[str, Any]


def program_of(**flow: object) -> FlowProgram:
    """The flow with these keys, checked and compiled; `work` and `other` are Python nodes."""
    loaded = library_from({"flows": {"f": {"limits": {"max_nodes": 500}, **flow}}})
    assert loaded.ok, loaded.problems
    return compiled_in(loaded.library)


def compiled_in(library: Library) -> FlowProgram:
    """The library's flow `f`, where `work` and `other` are Python nodes."""
    nodes = {name: Action("node", {"function": name}) for name in FUNCTIONS}
    return compile_flow(library.flows["f"], msgspec.structs.replace(library, actions=nodes))


class Driver:
    """One run. Python nodes wait in `calls` until `finish` or `fail` is called; everything else goes by itself."""

    def __init__(
        self,
        program: FlowProgram,
        given: Json = None,
        overrides: dict[str, JsonObject] | None = None,
        fired: str | None = None,
        facts: JsonObject | None = None,
    ) -> None:
        self.program = program
        self.facts: JsonObject = facts or {}
        self.state = FlowState(given, overrides)
        self.calls: dict[str, NodeCall] = {}
        self.begun: list[str] = []
        self.dead_ends: list[str] = []
        self.error: RunError | None = None
        self.now = NOW
        self._fold(start_flow(program, self.state, fired))

    def finish(self, node: str, result: Json) -> None:
        self.calls.pop(node)
        self._end(node, read_result(result, self.now))

    def fail(self, node: str, message: str = "boom") -> None:
        self.calls.pop(node)
        self._end(node, TaskFailed("failed", message))

    def wake(self, node: str) -> None:
        """The time a node waits for has come."""
        waiting = self.state.waiting.pop(node)
        self.now = max(self.now, waiting.due)
        self._executed(node, waiting.executed)

    def finish_all(self, result: Callable[[str, NodeCall], Json]) -> None:
        """Finish whatever is called, until nothing is."""
        while self.calls and self.ended is None:
            node = next(iter(self.calls))
            self.finish(node, result(node, self.calls[node]))

    @property
    def status(self) -> FlowStatus:
        return "failed" if self.error else status_of(self.program, self.state)

    @property
    def ended(self) -> FlowStatus | None:
        return None if self.status == "running" else self.status

    @property
    def output(self) -> JsonObject:
        found = flow_output(self.program, self.state, self.facts)
        assert isinstance(found, FlowOutput), found
        return found.value

    def view(self, node: str) -> NodeView:
        return node_view(self.program, self.state, node)

    def outputs(self) -> dict[str, JsonObject]:
        return {name: executed.outputs for name, executed in self.state.executed.items()}

    def _begin(self, node: str) -> None:
        self.error = self.error or limit_problem(self.program, self.state, node)
        if self.ended is not None:
            return
        self.begun.append(node)
        self.state.executing[node] = None
        begun = begin_node(self.program, self.state, node, self.now, self.facts)
        if isinstance(begun, NodeCall):
            self.calls[node] = begun
        else:
            self._end(node, begun)

    def _end(self, node: str, outcome: Executed | WaitingNode | TaskFailed) -> None:
        del self.state.executing[node]
        match outcome:
            case Executed():
                self._executed(node, outcome)
            case WaitingNode():
                self.state.waiting[node] = outcome
            case TaskFailed():
                handled = handled_failure(self.program, node, outcome, 1)
                if handled is not None:
                    return self._executed(node, handled)
                settled = settle_failed(self.program, self.state, node)
                self.state.errors[node] = outcome
                self._fold(settled)

    def _executed(self, node: str, executed: Executed) -> None:
        settled = settle_executed(self.program, self.state, node, executed)
        self.state.executed[node] = executed
        if settled.dead_end:
            self.dead_ends.append(node)
        self._fold(settled)

    def _fold(self, settled: Settled) -> None:
        for node in (*settled.ready, *settled.skipped):
            self.state.remaining.pop(node, None)
        self.state.remaining.update(settled.remaining)
        self.state.skipped.update(dict.fromkeys(settled.skipped))
        self._check()
        for node in settled.ready:
            self._begin(node)

    def _check(self) -> None:
        """The counters are what one would count."""
        if not self.state.errors or self.program.flow.on_error == "continue":
            assert self.state.remaining == remaining_of(self.program, self.state)


class Unchecked(Driver):
    """Without looking at the whole flow after every step: for those who measure."""

    def _check(self) -> None:
        pass


def run(
    flow: dict[str, object],
    given: Json = None,
    overrides: dict[str, JsonObject] | None = None,
    fired: str | None = None,
) -> Driver:
    """A run of a flow without Python nodes, from beginning to end."""
    return Driver(program_of(**flow), given, overrides, fired)


def constant(value: Json) -> Object:
    return {"type": "constant", "data": {"value": value}}


def wire(source: str, target: str, output: str = "main", input: str = "main") -> Object:
    return {"from": source, "from_output": output, "to": target, "to_input": input}


WORK: Object = {"type": "work"}
MERGE: Object = {"type": "merge"}
TRIGGER: Object = {"type": "trigger"}
CHAIN: Object = {
    "nodes": {
        "num1": constant(5),
        "add": {"type": "add", "inputs": {"b": 3}},
        "mult": {"type": "multiply", "inputs": {"b": 2}},
    },
    "connections": [wire("num1", "add", "value", "a"), wire("add", "mult", "result", "a")],
}
BRANCHES: Object = {
    "nodes": {"a": WORK, "b": MERGE, "c": MERGE, "d": MERGE},
    "connections": [wire("a", "b", "true"), wire("a", "c", "false"), wire("a", "d", "true")],
}

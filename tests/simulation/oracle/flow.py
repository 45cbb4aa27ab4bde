"""An interpreter of docs/semantics/flow-graphs.md: slow, obvious, and sharing no code with the planner.

It keeps what each node did and works out everything else again whenever it is asked. It cites the headings it follows.
"""

from __future__ import annotations

import copy
import re
from datetime import datetime
from typing import Any

from tests.simulation.oracle.expression import tiny_evaluate
from tests.simulation.oracle.model import ExpressionFault, MissingKey, Object, is_list, is_object

CONTROL = ("_branch", "_wait", "_wait_until", "_waitUntil")


class NodeFault(Exception):
    """A node that fails, with the type of its failure."""


class FlowOracle:
    """One run. `finish`, `fail` and `wake` tell it what happened; the other methods say how the run stands."""

    def __init__(
        self,
        flow: Object,
        given: Object,
        overrides: Object,
        fired: str | None,
        now: int,
        *,
        facts: Object | None = None,
        tasks: Object | None = None,
    ) -> None:
        self.facts, self.tasks = facts or {}, tasks or {}
        self.nodes: Object = flow["nodes"]
        self.on_error: str = flow.get("on_error", "continue")
        self.most: int = flow.get("limits", {}).get("max_nodes", 50)
        self.given, self.overrides, self.now = given, overrides, now
        self.output_mapping: Object | None = flow.get("output_mapping")
        declared = [dict({"from_output": "main", "to_input": "main"}, **each) for each in flow.get("connections", [])]
        self.connections: list[Object] = declared
        self.roots = [name for name in self.nodes if not any(each["to"] == name for each in declared)]
        if flow.get("cycles") == "ignore_back_edges":
            self.ignore_back_edges()
        self.started: list[str] = []
        self.executed: dict[str, Object] = {}
        self.branch: dict[str, str | None] = {}
        self.errors: set[str] = set()
        self.handled: set[str] = set()
        self.waiting: dict[str, tuple[int, str | None, Object]] = {}
        self.unanswered: set[str] = set()
        """token-graphs.md#gates: those that fail when nobody answered in time."""
        self.unfired = self.triggers_not_taken(fired)
        self.refused: str | None = None
        """token-graphs.md#numbers-from-data: the type of failure of a run whose own timeout is no count."""
        try:
            if "timeout_ms" in flow:
                self.counted(flow["timeout_ms"], {"input": given, "run": self.facts})
        except NodeFault as fault:
            self.refused = fault.args[0]
        self.go_on()

    # the graph

    def ignore_back_edges(self) -> None:
        """flow-graphs.md#cycles: connections that close a cycle (depth first, in declaration order) are ignored."""
        closing: list[Object] = []
        seen: list[str] = []

        def visit(node: str, path: list[str]) -> None:
            seen.append(node)
            for each in self.connections:
                if each["from"] == node and each["to"] in [*path, node]:
                    closing.append(each)
                elif each["from"] == node and each["to"] not in seen:
                    visit(each["to"], [*path, node])

        for node in [*self.roots, *self.nodes]:
            if node not in seen:
                visit(node, [])
        self.connections = [each for each in self.connections if not any(each is other for other in closing)]
        self.roots = [node for node in self.nodes if not self.incoming(node)]

    def triggers_not_taken(self, fired: str | None) -> list[str]:
        """flow-graphs.md#where-a-flow-begins: of several triggers the one that fired, else the first."""
        triggers = [node for node in self.roots if self.nodes[node]["type"] == "trigger"]
        taken = fired if fired in triggers else triggers[0] if triggers else None
        return [node for node in triggers if node != taken]

    def incoming(self, node: str) -> list[Object]:
        return [each for each in self.connections if each["to"] == node]

    def outgoing(self, node: str) -> list[Object]:
        return [each for each in self.connections if each["from"] == node]

    # how connections and nodes are settled

    def settled_as(self, connection: Object) -> str | None:
        """flow-graphs.md#readiness: delivered, dead or failed; nothing while it is not settled."""
        source = connection["from"]
        if source in self.errors or self.skipped(source) == "upstream_failure":
            return "failed"
        if self.skipped(source) == "branch_not_taken":
            return "dead"
        if source not in self.executed:
            return None
        return "delivered" if self.live(connection) else "dead"

    def live(self, connection: Object) -> bool:
        """flow-graphs.md#connections: without a branch, `main` and handles named after an output are live."""
        source, handle = connection["from"], connection["from_output"]
        if self.branch[source] is not None:
            return bool(handle == self.branch[source])
        return handle == "main" or handle in self.executed[source]

    def skipped(self, node: str) -> str | None:
        """flow-graphs.md#skipping: any connection failed, `upstream_failure`; all dead, `branch_not_taken`.

        flow-graphs.md#when-a-node-runs: `any` runs if one delivered, `settled` always."""
        if node in self.unfired:
            return "branch_not_taken"
        settled = [self.settled_as(each) for each in self.incoming(node)]
        run_when = self.nodes[node].get("run_when", "all")
        if not settled or None in settled or run_when == "settled":
            return None
        if "failed" in settled and not (run_when == "any" and "delivered" in settled):
            return "upstream_failure"
        return "branch_not_taken" if set(settled) == {"dead"} else None

    def blocked_by(self, node: str) -> list[str]:
        """flow-graphs.md#skipping: `blocked_by` names the direct causes."""
        cause_is = "failed" if self.skipped(node) == "upstream_failure" else "dead"
        causes = [each["from"] for each in self.incoming(node) if self.settled_as(each) == cause_is]
        return [cause for at, cause in enumerate(causes) if cause not in causes[:at]]

    def ready(self, node: str) -> bool:
        """flow-graphs.md#readiness: a node begins when each of its incoming connections is settled."""
        settled = [self.settled_as(each) for each in self.incoming(node)]
        return node not in self.started and None not in settled and self.skipped(node) is None

    # what a node is given

    def inputs(self, node: str) -> Object:
        """flow-graphs.md#inputs: literal, over it the run's override, over both what is delivered."""
        found: Object = dict(self.nodes[node].get("inputs", {}))
        found.update(self.overrides.get(node, {}))
        collected: dict[str, list[Any]] = {}
        for each in self.incoming(node):
            if self.settled_as(each) != "delivered":
                continue
            if each["to_input"] in self.nodes[node].get("repeated", []):
                collected.setdefault(each["to_input"], []).append(self.carried(each))
            else:
                found[each["to_input"]] = self.carried(each)
        found.update(collected)
        return copy.deepcopy(found)

    def carried(self, connection: Object) -> Any:
        """flow-graphs.md#connections: `main` carries all outputs, another handle the value under its name."""
        outputs, handle = self.executed[connection["from"]], connection["from_output"]
        if self.branch[connection["from"]] is None and handle == "main":
            return outputs
        return outputs.get(handle, outputs)

    def context(self, node: str) -> Object:
        """flow-graphs.md#context: where paths meet, the later declared connection wins, key by key."""
        delivered = [each for each in self.incoming(node) if self.settled_as(each) == "delivered"]
        if not delivered:
            return copy.deepcopy(self.given)
        found: Object = {}
        for each in delivered:
            found.update(self.context_after(each["from"]))
        return found

    def context_after(self, node: str) -> Object:
        """flow-graphs.md#context: each node's outputs are laid over it, key by key."""
        found = self.context(node)
        found.update(copy.deepcopy(self.executed[node]))
        return found

    # what happens

    def finish(self, node: str, result: Object) -> None:
        """A node gave something back: control keys are taken out, and a malformed one fails it."""
        try:
            self.take(node, result)
        except NodeFault as fault:
            self.broke(node, fault.args[0])
        self.go_on()

    def fail(self, node: str, type: str) -> None:
        self.broke(node, type)
        self.go_on()

    def broke(self, node: str, type: str) -> None:
        """flow-graphs.md#handled-failures: routed to `error`, replaced by a default, or an error of the run."""
        on_error = self.nodes[node].get("on_error")
        if on_error is None:
            self.errors.add(node)
            return
        outputs: Object = {} if on_error == "route" else copy.deepcopy(on_error["default"])
        chosen = outputs.pop("_branch", None)
        self.handled.add(node)
        self.branch[node] = "error" if on_error == "route" else chosen
        self.executed[node] = {**outputs, "error": {"node": node, "type": type, "attempts": 1}}

    def wake(self, node: str) -> None:
        """flow-graphs.md#control-keys: then the run goes on; the node is not run again."""
        due, _, outputs = self.waiting.pop(node)
        self.now = max(self.now, due)
        if node in self.unanswered:
            self.broke(node, "timed_out")
        else:
            self.executed[node] = outputs
        self.go_on()

    def go_on(self) -> None:
        """Begin whatever may begin, and everything that then may, until nobody is left."""
        while self.status == "running":
            begun = [node for node in self.nodes if self.ready(node)]
            if not begun:
                return
            for node in begun:
                if self.status != "running":
                    return
                self.started.append(node)
                if len(self.started) > self.most:
                    return
                try:
                    self.work(node)
                except NodeFault as fault:
                    self.broke(node, fault.args[0])

    def take(self, node: str, result: Object) -> None:
        outputs = {key: value for key, value in result.items() if key not in CONTROL}
        if "_branch" in result and (not isinstance(result["_branch"], str) or result["_branch"] == ""):
            raise NodeFault("bad_control_key")
        due, label = self.wait_of(result)
        self.branch[node] = result.get("_branch")
        if due is None:
            self.executed[node] = outputs
        else:
            self.waiting[node] = (due, label, outputs)

    def wait_of(self, result: Object) -> tuple[int | None, str | None]:
        waits = [key for key in CONTROL[1:] if key in result]
        if not waits:
            return None, None
        wait = result[waits[0]]
        field = "seconds" if waits[0] == "_wait" else "timestamp"
        if len(waits) > 1 or not is_object(wait) or field not in wait:
            raise NodeFault("bad_control_key")
        value: Any = wait[field]
        label: Any = wait.get("label")
        if field == "seconds":
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                raise NodeFault("bad_control_key")
            return self.now + int(value * 1000), label
        try:
            when = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            raise NodeFault("bad_control_key") from None
        if when.tzinfo is None:
            raise NodeFault("bad_control_key")
        return int(when.timestamp() * 1000), label

    def work(self, node: str) -> None:
        """flow-graphs.md#flow-nodes, type by type. A Python node waits until it is told what came of it."""
        kind, data, inputs = self.nodes[node]["type"], self.nodes[node].get("data", {}), self.inputs(node)
        scope: Object = {"inputs": inputs, "context": self.context(node), "run": self.facts}
        if kind in self.tasks:
            self.counted(self.tasks[kind]["timeout_ms"], {"input": plain_input(inputs), "run": self.facts})
            return
        match kind:
            case "work":
                return
            case "trigger":
                self.executed[node], self.branch[node] = copy.deepcopy(self.given), None
            case "constant":
                self.take(node, {"value": inputs.get("value", data.get("value"))})
            case "add" | "subtract" | "multiply" | "divide" | "sum":
                self.take(node, {"result": self.calculated(kind, inputs)})
            case "set":
                self.take(node, {key: self.evaluated(value, scope) for key, value in data.items()})
            case "if_else":
                chosen = "true" if self.evaluated(data["condition"], scope, condition=True) else "false"
                self.take(node, {"_branch": chosen, chosen: inputs.get("main")})
            case "switch":
                value = self.evaluated(data["value"], scope)
                chosen = str(value) if isinstance(value, str | int) and str(value) in data["cases"] else "default"
                self.take(node, {"_branch": chosen, chosen: inputs.get("main")})
            case "merge":
                self.take(node, inputs)
            case "wait":
                self.take(node, {**inputs, "_wait": {"seconds": self.evaluated(data["seconds"], scope)}})
            case "wait_until":
                self.take(node, {**inputs, "_wait_until": {"timestamp": self.moment(data["timestamp"], scope)}})
            case "template":
                self.take(node, {"text": self.rendered(data["template"], scope)})
            case "gate":
                self.open_gate(node, data, scope)
            case "fail":
                self.rendered(data["message"], scope)
                raise NodeFault(data["type"])
            case _:
                raise NodeFault("unknown_node_type")

    def rendered(self, template: str, scope: Object) -> str:
        """expressions.md#templates: a missing path fails the template."""

        def value(found: re.Match[str]) -> str:
            if found.group(2) not in scope[found.group(1)]:
                raise NodeFault("template_error")
            return str(scope[found.group(1)][found.group(2)])

        return re.sub(r"{{ (\w+)\.(\w+) }}", value, template)

    def moment(self, written: str, scope: Object) -> Any:
        """flow-graphs.md#flow-nodes: a literal or an expression."""
        return written if written[:1].isdigit() else self.evaluated(written, scope)

    def open_gate(self, node: str, data: Object, scope: Object) -> None:
        """token-graphs.md#gates, where nobody answers: a default, which is data and chooses no branch, or a failure."""
        self.rendered(data.get("title", ""), scope)
        due = self.now + self.counted(data["timeout_ms"], scope)
        given: Any = data["on_timeout"]
        if given == "fail":
            self.unanswered.add(node)
        outputs: Object = given if is_object(given) else {} if given is None else {"result": given}
        self.branch[node], self.waiting[node] = None, (due, None, copy.deepcopy(outputs))

    def calculated(self, kind: str, inputs: Object) -> Any:
        """flow-graphs.md#flow-nodes: fail on a missing or non-numeric input and on division by zero."""
        wanted = inputs.get("values") if kind == "sum" else [inputs.get("a"), inputs.get("b")]
        if not is_list(wanted):
            raise NodeFault("bad_input")
        numbers: list[Any] = wanted
        if any(isinstance(each, bool) or not isinstance(each, int | float) for each in numbers):
            raise NodeFault("bad_input")
        if kind == "sum":
            return sum(numbers)
        a, b = numbers
        if kind == "divide" and b == 0:
            raise NodeFault("bad_input")
        return {"add": a + b, "subtract": a - b, "multiply": a * b, "divide": a / b if b else None}[kind]

    def evaluated(self, source: Any, scope: Object, condition: bool = False) -> Any:
        """expressions.md#missing-keys: a missing key makes a condition false and a mapping null."""
        try:
            value = tiny_evaluate(source, scope)
        except MissingKey:
            return False if condition else None
        except ExpressionFault as fault:
            raise NodeFault("expression_error") from fault
        if condition and not isinstance(value, bool):
            raise NodeFault("expression_error")
        return copy.deepcopy(value)

    def counted(self, written: int | str, scope: Object) -> int:
        """token-graphs.md#numbers-from-data: a whole number of at least 1."""
        value = self.evaluated(written, scope)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise NodeFault("not_a_count")
        return value

    # how it stands

    @property
    def status(self) -> str:
        """flow-graphs.md#failed-nodes: running until every node is executed, skipped or failed."""
        if self.refused is not None or len(self.started) > self.most or (self.errors and self.on_error == "fail"):
            return "failed"
        for node in self.nodes:
            if node not in self.executed and node not in self.errors and self.skipped(node) is None:
                return "running"
        reasons = [self.skipped(node) for node in self.nodes]
        return "failed" if self.errors or "upstream_failure" in reasons else "completed"

    def executing(self) -> list[str]:
        ended = {*self.executed, *self.errors, *self.waiting}
        return [node for node in self.started if node not in ended]

    def output(self) -> Object:
        """flow-graphs.md#context: of all last nodes, in declaration order; or `output_mapping`."""
        last = [
            node
            for node in self.nodes
            if node in self.executed and not any(self.settled_as(each) == "delivered" for each in self.outgoing(node))
        ]
        found: Object = {} if last else dict(self.given)
        for node in last:
            found.update(self.context_after(node))
        if self.output_mapping is None:
            return found
        scope: Object = {"context": found, "run": self.facts}
        return {key: self.evaluated(value, scope) for key, value in self.output_mapping.items()}


def plain_input(inputs: Object) -> Any:
    """flow-graphs.md#flow-nodes: a task gets its inputs by handle, or the object on `main` if there is nothing else."""
    return inputs["main"] if list(inputs) == ["main"] and is_object(inputs["main"]) else inputs


def without_messages(value: Any) -> Any:
    """A value without the texts of failures in it, which the oracle does not know."""
    if is_object(value):
        told = {"node", "type", "message", "attempts"} == value.keys()
        return {key: without_messages(each) for key, each in value.items() if not told or key != "message"}
    return [without_messages(each) for each in value] if is_list(value) else value

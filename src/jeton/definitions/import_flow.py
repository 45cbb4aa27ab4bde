"""Import of graphs exported by other editors: nodes with ids, and connections or edges between them.

Two shapes are known. One has `connections` (`fromNodeId`, `fromOutput`, `toNodeId`, `toInput`), stops at the first
error and walks cycles once; the other has `edges` (`source`, `sourceOutput`, `target`, `targetInput`) and goes on after
errors. What is only for the eye (positions, colours) is left behind.
"""

import re
from typing import Any, NamedTuple, cast

import msgspec
import yaml

from jeton.definitions.checks.graph.cycles import components
from jeton.definitions.import_nodes import (
    Untranslatable,
    built_in,
    input_handle,
    request_task,
    translated,
    untranslated,
    variable_of,
)
from jeton.definitions.load import library_from
from jeton.definitions.read.fields import Fields, fields_of
from jeton.definitions.read.location import NAME, SourceLocation
from jeton.definitions.report import Report, did_you_mean, shown
from jeton.definitions.text.json import read_json
from jeton.model.definition.flow import DEFAULT_MAX_NODES, MAIN
from jeton.model.failure import DefinitionError
from jeton.model.json import Json, JsonObject

WRAPPERS = ("workflow", "flow", "graph")
HANDLES = {
    "from": ("fromNodeId", "source", "from"),
    "from_output": ("fromOutput", "sourceOutput", "sourceHandle", "from_output"),
    "to": ("toNodeId", "target", "to"),
    "to_input": ("toInput", "targetInput", "targetHandle", "to_input"),
}
UNNAMED = ("", MAIN, "source-1", "target-1")
"""Handles that editors give to the only output or input of a node."""

ONE_OUTPUT = ("trigger", "wait", "wait_until")
PLAIN_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
YAML_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))


class ImportedFlow(msgspec.Struct, frozen=True):
    """The flow's name, and the library as data and as YAML."""

    name: str
    library: JsonObject
    text: str


def import_flow(text: str, file: str, name: str = "imported") -> ImportedFlow:
    """Convert an export to a library file. Raises DefinitionError with every problem.

    `name` is what the flow is called if the export does not say.
    """
    report = Report()
    document = read_json(text, file, report)
    graph = None if document is None else _graph(document.value, SourceLocation(file, document.mark), report)
    if graph is None or report.error_count:
        raise DefinitionError(report.problems)
    tasks: JsonObject = {}
    flow = _flow(graph, tasks)
    if report.error_count:
        raise DefinitionError(report.problems)
    called = _name(graph.value("name"), graph.value("id"), name)
    library: JsonObject = {"flows": {called: flow}, **({"tasks": tasks} if tasks else {})}
    return ImportedFlow(called, library, library_text(library))


def library_text(library: JsonObject) -> str:
    """The library as YAML that reads back as the same data."""
    return str(yaml.dump(library, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120))


def _graph(value: Json, location: SourceLocation, report: Report) -> Fields | None:
    """The object with the nodes, which some exports wrap in another."""
    if isinstance(value, dict) and "nodes" not in value:
        for key in WRAPPERS:
            if isinstance(value.get(key), dict):
                return _graph(value[key], location / key, report)
    fields = fields_of(value, location, report, value if isinstance(value, dict) else (), "an exported graph")
    if fields is not None:
        fields.require("nodes")
        fields.list("nodes")
        if "connections" not in fields and "edges" not in fields:
            problem = "has neither 'connections' nor 'edges'"
            report.error(location, "missing_key", problem, "export the whole graph, or write '\"connections\": []'")
    return fields


class _Node(NamedTuple):
    """An exported node, before it is translated."""

    name: str
    type: str
    fields: Fields


def _flow(graph: Fields, tasks: JsonObject) -> JsonObject:
    """The flow. Tasks that its nodes need are added to `tasks`."""
    found = _nodes(graph)
    key = "connections" if "connections" in graph else "edges"
    locations: list[SourceLocation] = []
    connections: list[JsonObject] = []
    for index, written in enumerate(graph.list(key) or []):
        location = graph.location(key) / index
        connection = _connection(written, location, found, key, graph.report)
        if connection is not None:
            connections.append(connection)
            locations.append(location)
    if key == "connections":
        _unnamed_outputs(found, connections)
    nodes: JsonObject = {node.name: _node(node, connections, tasks) for node in found.values()}
    flow: JsonObject = {"nodes": nodes, "connections": list[Json](connections)}
    if key == "connections":
        flow["on_error"] = "fail"
        if _has_cycle(nodes, connections):
            flow["cycles"] = "ignore_back_edges"
    if len(nodes) > DEFAULT_MAX_NODES and key == "edges":
        flow["limits"] = {"max_nodes": len(nodes)}
    if not graph.report.error_count:
        _check_outputs(flow, tasks, found, locations, graph.report)
    return flow


def _nodes(graph: Fields) -> dict[str, _Node]:
    """The nodes by id."""
    found: dict[str, _Node] = {}
    taken: JsonObject = {}
    for index, written in enumerate(graph.list("nodes") or []):
        location = graph.location("nodes") / index
        keys = written if isinstance(written, dict) else ()
        fields = fields_of(written, location, graph.report, keys, "a node")
        if fields is None or not fields.require("id", "type"):
            continue
        node_id = _id(fields.value("id"))
        if node_id in found:
            problem = f"{shown(node_id)} is the id of an earlier node too"
            graph.report.error(location / "id", "duplicate_name", problem, "give each node an id of its own")
            continue
        name = _unused(_name(node_id, fields.value("name"), "node"), taken)
        taken[name] = None
        found[node_id] = _Node(name, fields.text("type") or "", fields)
    return found


def _node(node: _Node, connections: list[JsonObject], tasks: JsonObject) -> JsonObject:
    """Translate a node. What cannot be is reported, and left as it is.

    A request that keeps its answer under a name of its own becomes a task, which is added to `tasks`."""
    fields, incoming = node.fields, [each for each in connections if each["to"] == node.name]
    type = built_in(node.type, root=not incoming)
    inputs, repeated = _inputs(fields)
    data: Json = fields.value("data") or {}
    if not isinstance(data, dict):
        fields.wrong("data", "an object")
        data = {}
    if type is not None:
        try:
            variable = variable_of(node.type, data)
            data, inputs = translated(node.type, data, inputs, [str(each.get("to_input", MAIN)) for each in incoming])
            if variable is not None:
                type = _unused(f"request_{node.name}"[:60], tasks)
                tasks[type], data = request_task(data, variable), {}
        except Untranslatable as problem:
            given = fields.value("name")
            untranslated(fields, given if isinstance(given, str) and given else node.name, node.type, problem)
    made: JsonObject = {"type": _name(node.type, None, "node") if type is None else type}
    if inputs:
        made["inputs"] = inputs
    if data:
        made["data"] = data
    if repeated:
        made["repeated"] = repeated
    return made


def _unnamed_outputs(nodes: dict[str, _Node], connections: list[JsonObject]) -> None:
    """Lead from `main` where a node that chooses no branch has only one output, whatever the editor calls it."""
    for node in nodes.values():
        leaving = [each for each in connections if each["from"] == node.name]
        root = not any(each["to"] == node.name for each in connections)
        if (
            built_in(node.type, root=root) in ONE_OUTPUT
            and len({str(each.get("from_output")) for each in leaving}) == 1
        ):
            for each in leaving:
                each.pop("from_output", None)


def _check_outputs(
    flow: JsonObject, tasks: JsonObject, nodes: dict[str, _Node], locations: list[SourceLocation], report: Report
) -> None:
    """Report connections from outputs that their node never has: nothing behind them would run."""
    types = {node.name: node.type for node in nodes.values()}
    for problem in library_from({"flows": {"f": flow}, "tasks": tasks}).problems:
        index = re.match(r"flows\.f\.connections\[(\d+)\]", problem.path)
        if problem.code == "handle_without_output" and index is not None:
            connection = cast("list[JsonObject]", flow["connections"])[int(index[1])]
            source = str(connection["from"])
            text = f"node {shown(source)} ({types[source]}) has no output {shown(connection.get('from_output', MAIN))}"
            report.error(locations[int(index[1])], "not_translatable", text, problem.remedy)


def _inputs(fields: Fields) -> tuple[JsonObject, list[Json]]:
    """Literals by handle, from an object or from a list of `{name, value, repeated}`."""
    written = fields.value("inputs")
    if isinstance(written, dict):
        return written, []
    if written and not isinstance(written, list):
        fields.wrong("inputs", "an object or a list")
    inputs: JsonObject = {}
    repeated: list[Json] = []
    for each in written if isinstance(written, list) else []:
        handle = each.get("name") if isinstance(each, dict) else None
        if not isinstance(each, dict) or not isinstance(handle, str):
            continue
        if each.get("value") is not None:
            inputs[handle] = each["value"]
        if each.get("repeated") is True:
            repeated.append(handle)
    return inputs, repeated


def _connection(
    written: Json, location: SourceLocation, nodes: dict[str, _Node], shape: str, report: Report
) -> JsonObject | None:
    keys = written if isinstance(written, dict) else ()
    fields = fields_of(written, location, report, keys, "a connection")
    if fields is None:
        return None
    found: JsonObject = {}
    target: _Node | None = None
    for key, spellings in HANDLES.items():
        usual = spellings[shape == "edges"]
        spelling = next((each for each in spellings if each in fields), usual)
        value = fields.value(spelling)
        if key in ("from", "to"):
            if not fields.require(spelling):
                return None
            if _id(value) not in nodes:
                problem = f"leads {key} {shown(value)}, and no node has that id"
                report.error(location / spelling, "unknown_node", problem, did_you_mean(_id(value), nodes, "remove it"))
                return None
            found[key] = nodes[_id(value)].name
            target = nodes[_id(value)]
        elif isinstance(value, str) and value not in UNNAMED:
            handle = input_handle(target.type, value) if key == "to_input" and target is not None else value
            if handle != MAIN:
                found[key] = handle
    return found


def _id(value: Json) -> str:
    return (
        str(value)
        if isinstance(value, int) and not isinstance(value, bool)
        else value
        if isinstance(value, str)
        else ""
    )


def _name(first: Json, second: Json, otherwise: str) -> str:
    """The first of the texts that is a valid name, or can be converted to one."""
    texts = [each for each in (first, second) if isinstance(each, str) and each]
    for text in texts:
        if NAME.fullmatch(text):
            return text
    for text in reversed(texts):  # a given name reads better than an id
        made = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_")[:60]
        if made:
            return made if NAME.fullmatch(made) else f"_{made}"
    return otherwise


def _unused(name: str, taken: JsonObject) -> str:
    number = 1
    found = name
    while found in taken:
        number += 1
        found = f"{name[:58]}_{number}"
    return found


def _has_cycle(nodes: JsonObject, connections: list[JsonObject]) -> bool:
    steps: dict[str, list[str]] = {}
    for each in connections:
        steps.setdefault(str(each["from"]), []).append(str(each["to"]))
    return bool(components(nodes, steps))


class _Dumper(yaml.SafeDumper):
    """Quotes every text that is not a plain word, because YAML 1.1 and 1.2 differ in what is text."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    plain = PLAIN_WORD.fullmatch(text) and text.lower() not in YAML_WORDS
    return yaml.ScalarNode("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Dumper.add_representer(str, _represent_text)

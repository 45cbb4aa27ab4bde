"""Definitions back into the plain data of a library file, so that those from elsewhere can be read and checked."""

from typing import Any

import msgspec

from jeton.model.definition.workflow import Library
from jeton.model.json import JsonObject

_DERIVED = ("name", "declared")  # the key above it, and the order of the nodes


def written(library: Library) -> JsonObject:
    """The library as the content of one file. Reading it gives the same library."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(library))  # with lists, where a struct has tuples
    sections: JsonObject = {
        "workflows": {name: _workflow(each) for name, each in plain["workflows"].items()},
        "flows": {name: _flow(each) for name, each in plain["flows"].items()},
        "tasks": {name: _task(each) for name, each in plain["tasks"].items()},
        "actions": plain["actions"],
        "model_profiles": {name: _profile(each) for name, each in plain["model_profiles"].items()},
        "prompts": plain["prompts"],
        "tools": {name: _tool(each) for name, each in plain["tools"].items()},
        "personas": {name: _without(each, *_DERIVED) for name, each in plain["personas"].items()},
        "agents": {name: _without(each, *_DERIVED) for name, each in plain["agents"].items()},
        "project": {"settings": plain["settings"]} if plain["settings"] else None,
    }
    return {section: found for section, found in sections.items() if found}


def _workflow(plain: dict[str, Any]) -> JsonObject:
    return {**_without(plain, *_DERIVED), "nodes": {name: _node(node) for name, node in plain["nodes"].items()}}


def _flow(plain: dict[str, Any]) -> JsonObject:
    nodes = plain["nodes"]
    order = [name for name in plain.get("declared", ()) if name in nodes]
    return {**_without(plain, *_DERIVED), "nodes": {name: nodes[name] for name in dict.fromkeys([*order, *nodes])}}


def _node(plain: dict[str, Any]) -> JsonObject:
    """A node with its target under the key of its kind."""
    target = plain.get("target")
    if target is None:
        return plain
    kind, rest = target["type"], _without(target, "type")
    node = _without(plain, "target")
    match kind:
        case "task":
            return {**node, **_task_target(rest["task"])}
        case "workflow":
            return {**node, **rest}
        case "agent":
            return {**node, "agent": {"name": rest.pop("agent"), **rest}}
        case "end":
            return {**node, "end": rest or "completed"}
        case _:
            return {**node, kind: rest}


def _profile(plain: dict[str, Any]) -> JsonObject:
    """A profile with its key as a reference to a secret. A script always stands in it, wherever it was read from."""
    found: JsonObject = dict(plain)
    if "api_key" in plain:
        found["api_key"] = {"secret": plain["api_key"]}
    return {"script": [], **found} if plain["provider"] == "scripted" else found


def _tool(plain: dict[str, Any]) -> JsonObject:
    """A tool with its target under the key of its kind."""
    target = plain["target"]
    kind, rest = target["type"], _without(target, "type")
    tool = _without(plain, "target", "runs_async", *_DERIVED)
    if plain.get("runs_async"):
        tool["async"] = True
    return {**tool, **({"mcp": rest} if kind == "mcp" else rest)}


def _task_target(task: str | dict[str, Any]) -> JsonObject:
    if isinstance(task, str):
        return {"task": task}
    if task.get("of_action"):
        return {"action": task["steps"][0]["action"]}
    return {"task": _task(task)}


def _task(plain: dict[str, Any]) -> JsonObject:
    return _without(plain, "of_action")


def _without(plain: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in plain.items() if key not in keys}

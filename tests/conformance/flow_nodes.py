"""Python nodes and short ways to write flows down."""

from collections.abc import Mapping
from typing import Any, TypedDict

import jeton
from tests.conformance.case import Case, Data


class Page(TypedDict):
    scan: bytes


@jeton.node
async def gives(data: dict[str, Any]) -> dict[str, Any]:
    """Back what it is configured with, control keys and all."""
    return data


@jeton.node
async def sees(inputs: dict[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """What it was given."""
    return {"saw": {"inputs": inputs, "context": dict(context)}}


@jeton.node
async def must_have(a: float, b: float) -> dict[str, Any]:
    return {"result": a + b}


@jeton.node
async def may_have(a: float, b: float | None) -> dict[str, Any]:
    return {"result": None if b is None else a + b}


@jeton.node
async def breaks(data: dict[str, Any]) -> dict[str, Any]:
    raise ValueError(data.get("why", "broken"))


@jeton.node
async def naps(step: jeton.Steps, seconds: float, times: int = 1, catches: str = "") -> dict[str, Any]:
    """Sleeps between two steps, and says what they gave, and which attempt it is."""
    call = jeton.current_call()
    before = await step.run("before", lambda: f"{call.node} before")
    for number in range(times):
        try:
            await step.sleep(seconds, f"nap {number}")
        except Exception:
            return {"caught": "an error"}
        except BaseException:
            if catches != "everything":
                raise
    after = await step.run("after", lambda: f"{call.node} after")
    return {"slept": [before, after], "attempt": call.attempt}


@jeton.node
async def draws(animal: str, times: int) -> dict[str, Any]:
    """A picture, and pages that lie deeper."""
    pages = [{"scan": bytearray(b"page" * 2)}, {"scan": memoryview(b"page" * 3)}]
    return {"picture": animal.encode() * times, "pages": pages}


@jeton.node
async def draws_once(step: jeton.Steps, animal: str, times: int) -> dict[str, Any]:
    """A picture from a step: what the step gave is bytes, also when it is asked for again, after a sleep."""
    picture = await step.run("draw", lambda: animal.encode() * times)
    await step.sleep(0.2, "dry")
    return {"picture": picture, "kind": type(picture).__name__}


@jeton.node
async def measures(picture: bytes, pages: list[Page] | None) -> dict[str, Any]:
    """What it is given as content."""
    return {"length": len(picture), "first": picture[:5].decode(), "pages": [len(page["scan"]) for page in pages or ()]}


@jeton.node
async def spoils(inputs: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """Changes all it was given, for nobody but itself."""
    inputs["main"]["list"].append("spoiled")
    data["list"] = "spoiled"
    return {}


def node(type: str, data: Data | None = None, repeated: tuple[str, ...] = (), **inputs: Any) -> Data:
    made: Data = {"type": type, "inputs": inputs, "data": data or {}}
    return {**made, "repeated": list(repeated)} if repeated else made


def given(**data: Any) -> Data:
    """A node that gives this back."""
    return node("gives", data)


def constant(value: Any) -> Data:
    return node("constant", {"value": value})


TRIGGER = node("trigger")
SEES = node("sees")
MERGE = node("merge")


def wire(source: str, target: str, output: str | None = None, into: str | None = None) -> Data:
    made: Data = {"from": source, "to": target}
    if output is not None:
        made["from_output"] = output
    return made if into is None else {**made, "to_input": into}


def flow(nodes: Data, *connections: Data, **rest: Any) -> Data:
    return {"nodes": nodes, "connections": list(connections), **rest}


def case(id: str, graph: Data, **rest: Any) -> Case:
    return Case(id, {}, flow=graph, **rest)

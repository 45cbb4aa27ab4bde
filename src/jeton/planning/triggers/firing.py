"""Firing triggers: the start of a run, or the reason why there is none.

Runs that trigger runs could go on without end, so each run knows its depth, and the depth is limited.
"""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from jeton.expression import Failed, Missing, compile_expression
from jeton.expression.schema import compile_schema
from jeton.model.codes import RefusalCode
from jeton.model.definition.trigger import OnEvent, Trigger
from jeton.model.definition.workflow import Library
from jeton.model.json import Json, JsonObject, Schema
from jeton.model.message import StartRun
from jeton.model.reference import Reference
from jeton.model.state.run import FiredBy
from jeton.model.times import rfc3339
from jeton.planning.schema_problem import schema_problem

MAX_DEPTH = 3
NAMES_OF_AN_EVENT = frozenset(("event",))


class Delivery(msgspec.Struct, frozen=True):
    """One occasion for a trigger to fire, identified by `id`."""

    id: str
    type: str
    at: int
    brings: Json = None
    source: str | None = None
    from_depth: int | None = None  # of the run that caused it, if one did


class Startable(msgspec.Struct, frozen=True):
    """The workflow or flow that a trigger starts, as deployed."""

    workflow: str
    version: int
    input_schema: Schema | None
    settings: Mapping[str, Json]


class Refusal(msgspec.Struct, frozen=True):
    """Why nothing was started."""

    code: RefusalCode
    problem: str
    remedy: str


Firing: TypeAlias = StartRun | Refusal


class Planned(msgspec.Struct, frozen=True):
    """A delivery with the firing it leads to."""

    trigger: Trigger
    delivery: Delivery
    firing: Firing


def plan_event(trigger: Trigger, on: OnEvent, delivery: Delivery, startable: Startable | None) -> Planned | None:
    """Plan the firing for a published event. None if the event does not match."""
    held = event_matches(on, delivery.brings)
    if held is False:
        return None
    return Planned(trigger, delivery, plan_firing(trigger, delivery, startable) if held is True else held)


def plan_firing(trigger: Trigger, delivery: Delivery, startable: Startable | None) -> Firing:
    """Plan the start of a run, or a refusal. The store decides whether the delivery is a repetition."""
    if startable is None:
        problem = f"trigger '{trigger.name}' starts '{trigger.start}', which is not deployed"
        return Refusal("unknown_workflow", problem, "deploy it")
    limit = max_depth(startable.settings)
    if delivery.from_depth is not None and delivery.from_depth >= limit:
        problem = f"a run at depth {delivery.from_depth} triggers no other run: the limit is {limit}"
        return Refusal(
            "too_deep", problem, "check whether runs trigger each other in a cycle, or set triggers.max_depth"
        )
    given = merged_input(trigger.input, delivery.brings)
    wrong = schema_problem(compile_schema(startable.input_schema), given, "input")
    if wrong is not None:
        return Refusal(
            "input_invalid", f"'{startable.workflow}' does not accept this input: {wrong}", "correct the input"
        )
    depth = firing_depth(delivery)
    given["_trigger"] = {
        "type": delivery.type,
        "depth": depth,
        "fired_at": rfc3339(delivery.at),
        "source": delivery.source,
    }
    fired = FiredBy(delivery.type, depth, trigger.name, trigger.node, delivery.source)
    return StartRun(delivery.at, given, str(Reference(startable.workflow, startable.version)), trigger=fired)


def startable_in(bundle: Library, name: str, version: int) -> Startable | None:
    """The workflow or flow of a bundle, as a trigger starts it."""
    definition = bundle.workflows.get(name) or bundle.flows.get(name)
    return None if definition is None else Startable(name, version, definition.input_schema, bundle.settings)


def firing_depth(delivery: Delivery) -> int:
    """The depth of the run that a delivery starts."""
    return 0 if delivery.from_depth is None else delivery.from_depth + 1


def max_depth(settings: Mapping[str, Json]) -> int:
    """The depth from which nothing is triggered."""
    found = settings.get("triggers")
    limit = found.get("max_depth") if isinstance(found, dict) else None
    return limit if isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0 else MAX_DEPTH


def merged_input(below: JsonObject, brings: Json) -> JsonObject:
    """The trigger's input with the data of the cause merged over it; data other than an object is under `payload`."""
    if brings is None:
        return dict(below)
    return {**below, **(brings if isinstance(brings, dict) else {"payload": brings})}


def event_matches(on: OnEvent, data: Json) -> bool | Refusal:
    """Whether a published event meets the trigger's condition. A missing key makes it false."""
    if not isinstance(on.condition, str):
        return bool(on.condition)
    match compile_expression(on.condition, NAMES_OF_AN_EVENT).holds({"event": data}):
        case Missing():
            return False
        case Failed(problem, position, values):
            message = f"the condition {on.condition!r} fails at {position}: {problem}, with {values}"
            return Refusal("expression_error", message, "correct the condition")
        case held:
            return held

"""The variables of expressions: the run's context, and in a branch its slot and the items around it."""

from msgspec import UNSET, UnsetType

from jeton.model.ids import SlotId
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunState, Token
from jeton.planning.program.workflow import Program


def scope_of(
    program: Program, state: RunState, token: Token, result: Json | UnsetType = UNSET, error: JsonObject | None = None
) -> JsonObject:
    """The variables of a token, see docs/semantics/expressions.md#scopes."""
    error = error or token.error
    names: JsonObject = {
        "input": state.input,
        "state": state.state if error is None else {**state.state, "_last_error": error},
        "output": state.output,
    }
    if result is not UNSET:
        names["result"] = result
    if token.slot is not None:
        names["_branch"] = _branch(state, token.slot)
        _add_items(program, state, token.slot, names)
        names.setdefault("run", state.facts)  # an item variable may have this name
    else:
        names["run"] = state.facts
    return names


def scope_of_fan_in(state: RunState, outer: SlotId | None) -> JsonObject:
    """The variables of a quorum and of a fan-in's timeout: the context, and the branch around the group."""
    names: JsonObject = {"input": state.input, "state": state.state, "output": state.output, "run": state.facts}
    if outer is not None:
        names["_branch"] = _branch(state, outer)
    return names


def _branch(state: RunState, slot_id: SlotId) -> JsonObject:
    group = state.groups[slot_id[0]]
    return {
        "index": slot_id[1],
        "total": group.total,
        "item": group.item(slot_id[1]),
        "fan_out_node_id": group.node,
        "output": state.slots[slot_id].output,
        "outer": None if group.outer is None else _branch(state, group.outer),
    }


def _add_items(program: Program, state: RunState, slot_id: SlotId, names: JsonObject) -> None:
    """Item variables of all enclosing branches; the inner ones shadow the outer."""
    at: SlotId | None = slot_id
    while at is not None:
        group = state.groups[at[0]]
        segment = group.segments[group.segment_of(at[1])]
        item_var = program.transitions[segment.transition].item_var
        if item_var is not None and item_var not in names:
            names[item_var] = group.item(at[1])
        at = group.outer

"""What an expression sees, and where a mapping writes (expressions.md#scopes, token-graphs.md#fan-out)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tests.simulation.oracle.model import (
    ExpressionFault,
    MissingKey,
    NodeFailed,
    Object,
    Run,
    RunFailed,
    Slot,
    Token,
    chain,
    is_object,
)

ABSENT: Any = object()


def branch_view(slot: Slot | None) -> Object | None:
    """token-graphs.md#branches: `_branch = {index, total, item, fan_out_node_id, output, outer}`."""
    if slot is None:
        return None
    return {
        "index": slot.index,
        "total": len(slot.group.slots),
        "item": slot.item,
        "fan_out_node_id": slot.group.fan_out.node,
        "output": slot.output,
        "outer": branch_view(slot.group.outer),  # "`outer`: the enclosing slot's `_branch`, or null"
    }


def scope_of(run: Run, token: Token, result: Any = ABSENT) -> Object:
    # token-graphs.md#branches: `state` reads stay those of the run, also after an inner merge; no branch sees another.
    # expressions.md#run: an item variable called `run` hides it.
    scope: Object = {"input": run.input, "state": dict(run.state), "output": run.out, "run": run.facts}
    # token-graphs.md#failures: it belongs to the lineage; expressions.md#scopes: `_last_error` is readable under
    # `state`.
    if token.last_error is not None:
        scope["state"]["_last_error"] = token.last_error
    if token.slot is not None:
        scope["_branch"] = branch_view(token.slot)
    # expressions.md#scopes: the item variables of all enclosing branches (inner shadows outer).
    for slot in reversed(chain(token.slot)):
        if slot.item_var is not None:
            scope[slot.item_var] = slot.item
    # expressions.md#scopes: `result` of the node just finished (absent after a failure).
    if result is not ABSENT:
        scope["result"] = result
    return deepcopy(scope)


def value_of(run: Run, source: Any, scope: Object) -> Any:
    """expressions.md#missing-keys: a missing key makes a mapping null; any other evaluation error fails the node."""
    try:
        return deepcopy(run.evaluate(source, scope))
    except MissingKey:
        return None
    except ExpressionFault as fault:
        raise NodeFailed("expression_error", f"{source}: {fault.message}") from fault


def count_in(run: Run, what: str, written: int | str, scope: Object) -> int:
    """token-graphs.md#numbers-from-data: a whole number of at least 1; anything else fails what asked for it."""
    try:
        value = run.evaluate(written, scope)
    except MissingKey as missing:
        raise NodeFailed("not_a_count", f"{what}: nothing is at {missing.path}") from missing
    except ExpressionFault as fault:
        raise NodeFailed("expression_error", f"{what}: {fault.message}") from fault
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise NodeFailed("not_a_count", f"{what}: {value!r} is no count")
    return value


def condition_holds(run: Run, token: Token, condition: Any, scope: Object) -> tuple[bool, str]:
    """expressions.md#missing-keys: a missing key makes a condition false; any other error fails the run."""
    try:
        value = run.evaluate(condition, scope)
        if not isinstance(value, bool):
            raise ExpressionFault(f"{value!r} is not true or false")
    except MissingKey as missing:
        return False, f"missing: {missing.path}"
    except ExpressionFault as fault:
        message = f"{condition}: {fault.message}"
        error = {"type": "expression_error", "message": message, "node": token.node, "token": token.path}
        raise RunFailed(error) from fault
    return value, "true" if value else "false"


def mapped(run: Run, mapping: Object, scope: Object) -> Object:
    """The object a mapping makes: every expression is evaluated before anything is written."""
    values = [(target, value_of(run, source, scope)) for target, source in mapping.items()]
    made: Object = {}
    for target, value in values:
        put(made, target.split("."), value)
    return made


def put(root: Object, keys: list[str], value: Any) -> None:
    if not keys:
        root.clear()
        root.update(value if is_object(value) else {"result": value})
        return
    for key in keys[:-1]:
        if not isinstance(root.get(key), dict):
            root[key] = {}
        root = root[key]
    root[keys[-1]] = deepcopy(value)


def write(run: Run, slot: Slot | None, target: str, value: Any) -> None:
    """Write to a context path as seen from a slot, or from no slot at all."""
    keys = target.split(".")
    if keys[0] == "_branch":
        keys = keys[1:]
    if slot is not None:
        # token-graphs.md#branches: `state.x` and `output.x` both land at `_branch.output.x`; token-graphs.md#merge:
        # Nested, a target `state.p` lands in the enclosing slot at `_branch.output.p`.
        put(slot.output, keys[1:], value)
    else:
        put(run.state if keys[0] == "state" else run.out, keys[1:], value)


def node_input(run: Run, token: Token, node: Object) -> Any:
    # expressions.md#defaults-of-mappings: Left out: a node's `input_mapping` passes the workflow's input.
    if node.get("input_mapping") is None:
        return deepcopy(run.input)
    return mapped(run, node["input_mapping"], scope_of(run, token))


def write_result(run: Run, token: Token, node: Object, result: Any, *, has_target: bool) -> None:
    mapping = node.get("output_mapping")
    if mapping is not None:
        scope = scope_of(run, token, result)
        values = [(target, value_of(run, source, scope)) for target, source in mapping.items()]
        for target, value in values:
            write(run, token.slot, target, value)
    elif token.slot is not None and has_target:
        # expressions.md#defaults-of-mappings: in a branch the result of a node with a target is merged into
        # `_branch.output`.
        # expressions.md#defaults-of-mappings: A result that is not an object lands, in a branch without
        # `output_mapping`, at `_branch.output.result`.
        token.slot.output.update(deepcopy(result) if is_object(result) else {"result": deepcopy(result)})

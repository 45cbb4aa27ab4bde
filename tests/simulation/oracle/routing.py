"""What happens when a token's node has finished or failed: which transitions it follows, and the fan-out of that."""

from __future__ import annotations

from typing import Any

from tests.simulation.oracle.graph import (
    always_makes_slots,
    first_match_only,
    joins_of,
    mentions_last_error,
    node_of,
    outgoing,
    tiers,
    transitions,
)
from tests.simulation.oracle.model import (
    FanIn,
    Group,
    NodeFailed,
    Object,
    Run,
    RunFailed,
    Slot,
    Token,
    abandoned,
    chain,
    is_list,
)
from tests.simulation.oracle.scope import ABSENT, condition_holds, count_in, scope_of, value_of, write_result
from tests.simulation.oracle.slots import leave_unhandled, start_slots, travel

TARGETS = ("task", "action", "workflow", "agent", "gate", "wait", "end")


def target_of(node: Object) -> str | None:
    # token-graphs.md#nodes: A node has at most one target.
    return next((target for target in TARGETS if node.get(target) is not None), None)


def finish_node(run: Run, token: Token, result: Any) -> None:
    if abandoned(token.slot):
        # token-graphs.md#abandoned-slots: left to finish with their results ignored; an abandoned slot does not route
        # on.
        token.status = "completed"
        return
    node = node_of(run.workflow, token.node)
    try:
        write_result(run, token, node, result, has_target=target_of(node) is not None)
        # token-graphs.md#failures: the next success on the path clears it after that node's output mapping, before
        # routing.
        token.last_error = None
        followed, rejected = choose(run, token, result, outgoing(run.workflow, token.node))
        if rejected and not followed and run.workflow.get("on_no_match") != "complete":
            # token-graphs.md#no-match: Transitions but no match: the run fails with `no_matching_transition`, naming
            # the node, the token and each rejected condition with its reason; `on_no_match: complete` … ends the token
            # instead.
            message = f"no transition of {token.node} matches"
            error = {"type": "no_matching_transition", "message": message, "node": token.node, "token": token.path}
            raise RunFailed({**error, "rejected": rejected})
        extents = {place: extent_of(run, token, place) for place in followed}
    except NodeFailed as failed:
        fail_node(run, token, failed.failure, "failed")
        return
    except RunFailed:
        token.status = "failed"
        raise
    # token-graphs.md#no-match: No outgoing transitions: the node is terminal and the token ends.
    token.status = "completed"
    follow(run, token, followed, extents)


def fail_node(run: Run, token: Token, failure: Object, status: str) -> None:
    """The node failed for good (no retry is left): failure routing, or a failure nobody handles."""
    token.status = status
    if abandoned(token.slot):
        return  # token-graphs.md#fan-in: Anything that arrives late, result or error, is ignored and recorded.
    # token-graphs.md#failures: `{node, step, type, message, attempts}`.
    token.last_error = {
        "node": token.node,
        "step": failure.get("step"),
        "type": failure.get("type"),
        "message": failure.get("message"),
        "attempts": token.attempt,
    }
    # token-graphs.md#failures: only transitions whose condition mentions `state._last_error` are considered; an
    # unconditional transition never swallows a failure.
    leaving = outgoing(run.workflow, token.node)
    considered = [place for place in leaving if mentions_last_error(transitions(run.workflow)[place])]
    followed, _ = choose(run, token, ABSENT, considered)
    error = {**token.last_error, "token": token.path}
    if not followed:
        # "If none does, the failure is unhandled".
        leave_unhandled(run, token.slot, error)
        return
    try:
        extents = {place: extent_of(run, token, place) for place in followed}
    except NodeFailed as again:
        raise RunFailed({**error, **again.failure}) from again
    # "If a transition matches, the failure is handled and the token goes on."
    follow(run, token, followed, extents)


def choose(run: Run, token: Token, result: Any, places: list[int]) -> tuple[list[int], list[Object]]:
    """token-graphs.md#routing: the transitions to follow, and those rejected with the reason."""
    rejected: list[Object] = []
    scope = scope_of(run, token, result)
    for tier in tiers(run.workflow, places):
        matches: list[int] = []
        for place in tier:
            transition = transitions(run.workflow)[place]
            described = {"to": transition["to"], "condition": transition.get("condition")}
            # 1: "A transition whose `loop_config.max_iterations` is used up **for this token's lineage** is out; its
            # condition is not evaluated."
            loop: Object = transition.get("loop_config") or {}
            most: int | None = loop.get("max_iterations")
            if most is not None and token.loops.get(place, 0) >= most:
                rejected.append({**described, "reason": "max_iterations is used up"})
                continue
            if transition.get("condition") is not None:
                holds, reason = condition_holds(run, token, transition["condition"], scope)
                if not holds:
                    rejected.append({**described, "reason": reason})
                    continue
            matches.append(place)
            if first_match_only(run.workflow, token.node):
                break  # 2: "`fan_out: first_match` follows only the first declared"
        if matches:
            return matches, rejected  # 2: "The first tier with any match wins, and **all** matches in it are followed"
    return [], rejected


def items_of(run: Run, token: Token, place: int) -> list[Any]:
    """One item per token the transition makes."""
    transition = transitions(run.workflow)[place]
    if transition.get("foreach") is not None:
        items = value_of(run, transition["foreach"]["collection"], scope_of(run, token))
        if not is_list(items):
            # token-graphs.md#fan-out: `foreach` over something that is not a list fails the node with a clear error.
            raise NodeFailed("not_a_list", f"foreach over {items!r}, which is not a list")
        return items
    if transition.get("spawn_count") is not None:
        count = value_of(run, transition["spawn_count"], scope_of(run, token))
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise NodeFailed("not_a_count", f"spawn_count is {count!r}, which is not a count")
        return [None] * count
    return [None]


def extent_of(run: Run, token: Token, place: int) -> tuple[list[Any], int | None]:
    """The items of a transition, and how many of them may be in flight."""
    items = items_of(run, token, place)
    foreach: Object = transitions(run.workflow)[place].get("foreach") or {}
    written: int | str | None = foreach.get("max_parallel")
    if written is None:
        return items, None
    # token-graphs.md#numbers-from-data: `max_parallel` at the fan-out, reading what `foreach.collection` reads.
    return items, count_in(run, "max_parallel", written, scope_of(run, token))


def group_names(run: Run, token: Token, followed: list[int]) -> dict[int, str | None]:
    """The group each followed transition puts its tokens in; None: it makes no slot."""
    named = {place: transitions(run.workflow)[place].get("sibling_group") for place in followed}
    unnamed = [place for place in followed if named[place] is None]
    # token-graphs.md#fan-out: `foreach`, `spawn_count` … always make slots, even one; plain transitions only when two
    # or more of them match; unnamed matches share the node-named one; one plain match beside an unnamed `foreach` in
    # the same tier shares its group; beside named groups only, it makes no slot.
    slots = len(unnamed) >= 2 or any(always_makes_slots(transitions(run.workflow)[place]) for place in unnamed)
    return {place: named[place] or (token.node if slots else None) for place in followed}


def follow(run: Run, token: Token, followed: list[int], extents: dict[int, tuple[list[Any], int | None]]) -> None:
    names = group_names(run, token, followed)
    groups: dict[str, Group] = {}
    for place in followed:
        name = names[place]
        if name is None:
            continue
        if name not in groups:
            # token-graphs.md#fan-out: In one tier each group name is its own group with its own total.
            groups[name] = Group(id=len(run.groups), name=name, fan_out=token)
            run.groups.append(groups[name])
        foreach: Object = transitions(run.workflow)[place].get("foreach") or {}
        items, groups[name].bounds[place] = extents[place]
        for item in items:
            # "Indices run 0…total-1 in transition order, then item order; transitions naming the same group share one
            # numbering."
            slots = groups[name].slots
            slots.append(Slot(groups[name], len(slots), item, foreach.get("item_var"), place))
    around = [slot.group.name for slot in reversed(chain(token.slot))]
    for name, group in groups.items():
        made_by = [place for place in followed if names[place] == name]
        joins = joins_of(run.workflow, name, made_by, around)
        group.fan_ins = [FanIn(group=group, target=target, sync=sync) for target, sync in joins]
    for place in followed:
        name = names[place]
        if name is None:
            # token-graphs.md#branches: A token stays in its slot over any transition until its slot is joined or ends.
            travel(run, token, place, token.slot, token.path)
        else:
            start_slots(run, groups[name], place)

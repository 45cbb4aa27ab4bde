"""What the definition alone says: transitions by tier, `synchronization` with its defaults, the joins of a group."""

from __future__ import annotations

from typing import Any

from tests.simulation.oracle.model import Object, Sync, is_object


def transitions(workflow: Object) -> list[Object]:
    return list(workflow.get("transitions") or [])


def node_of(workflow: Object, name: str) -> Object:
    return dict(workflow["nodes"].get(name) or {})


def outgoing(workflow: Object, node: str) -> list[int]:
    """The places of the transitions that leave the node, in declared order."""
    return [place for place, transition in enumerate(transitions(workflow)) if transition["from"] == node]


def priority(workflow: Object, place: int) -> int:
    # token-graphs.md#routing: grouped by `priority` (default 1, ascending).
    return int(transitions(workflow)[place].get("priority", 1))


def tiers(workflow: Object, places: list[int]) -> list[list[int]]:
    levels = sorted({priority(workflow, place) for place in places})
    return [[place for place in places if priority(workflow, place) == level] for level in levels]


def first_match_only(workflow: Object, node: str) -> bool:
    return bool(node_of(workflow, node).get("fan_out", "all") == "first_match")


def mentions_last_error(transition: Object) -> bool:
    # token-graphs.md#failures: only transitions whose condition mentions `state._last_error` are considered.
    return "state._last_error" in str(transition.get("condition", ""))


def always_makes_slots(transition: Object) -> bool:
    # token-graphs.md#fan-out: `foreach`, `spawn_count` and an explicit `sibling_group` always make slots, even one.
    return any(transition.get(key) is not None for key in ("foreach", "spawn_count", "sibling_group"))


def synchronization(workflow: Object, place: int) -> Sync | None:
    """The transition's own `synchronization`, or its target's `fan_in:`."""
    transition = transitions(workflow)[place]
    written: Any = transition.get("synchronization")
    if written is None:
        # token-graphs.md#nodes: `fan_in:`, sugar for the same `synchronization` on every transition into it.
        written = node_of(workflow, transition["to"]).get("fan_in")
    if written is None:
        return None
    # token-graphs.md#fan-in: Defaults: `strategy: all`, `on_timeout: fail`, `on_early_complete: cancel`,
    # `on_branch_failure: fail`, no merge.
    strategy = written.get("strategy", "all")
    return Sync(
        strategy="m_of_n" if is_object(strategy) else strategy,
        needed=strategy["m_of_n"] if is_object(strategy) else 0,
        group=written.get("sibling_group"),
        merge=written.get("merge"),
        timeout_ms=written.get("timeout_ms"),
        on_timeout=written.get("on_timeout", "fail"),
        on_early_complete=written.get("on_early_complete", "cancel"),
        on_branch_failure=written.get("on_branch_failure", "fail"),
    )


def joined_group(sync: Sync, names: list[str]) -> int | None:
    """Which of the groups around a token (`names`, outermost first) the synchronization is about; None: of none."""
    # token-graphs.md#fan-in: `sibling_group` … left out: the innermost group the token is in; and a token that is not
    # in the named group passes straight through.
    fitting = [at for at, name in enumerate(names) if sync.group is None or name == sync.group]
    return fitting[-1] if fitting else None


def joins_of(workflow: Object, name: str, made_by: list[int], around: list[str]) -> list[tuple[str, Sync]]:
    """The joins the definition leads a group to, nearest first: (target node, synchronization).

    made_by: the transitions whose slots the group has; around: the names of the groups around it, outermost first.
    A walk breadth first over all transitions, whatever their conditions, that remembers the groups entered inside."""
    found: list[tuple[str, Sync]] = []
    seen: list[tuple[int, tuple[str, ...]]] = []
    ahead: list[tuple[int, tuple[str, ...]]] = [(place, ()) for place in made_by]
    mine = len(around)
    while ahead:
        place, inner = ahead.pop(0)
        if (place, inner) in seen:
            continue
        seen.append((place, inner))
        target = transitions(workflow)[place]["to"]
        sync = synchronization(workflow, place)
        joined = None if sync is None else joined_group(sync, [*around, name, *inner])
        if sync is not None and joined is not None:
            if joined == mine:
                if target not in [known for known, _ in found]:
                    found.append((target, sync))
                continue
            if joined < mine:
                continue  # it leaves this group outwards
            # token-graphs.md#branches: the continuation after an inner join is back in the outer slot.
            inner = inner[: joined - mine - 1]
        for tier in tiers(workflow, outgoing(workflow, target)):
            for following in tier:
                for entered in groups_entered(workflow, following, tier):
                    if entered is None:
                        ahead.append((following, inner))
                    elif entered not in inner:  # a fan-out inside itself leads nowhere new
                        ahead.append((following, (*inner, entered)))
    return found


def groups_entered(workflow: Object, place: int, tier: list[int]) -> list[str | None]:
    """The names of the group this transition may put its tokens in; None: it makes no slot. Both, if it depends."""
    transition = transitions(workflow)[place]
    node: str = transition["from"]
    if transition.get("sibling_group") is not None:
        return [transition["sibling_group"]]
    if always_makes_slots(transition):
        return [node]
    rivals = [
        transitions(workflow)[other]
        for other in tier
        if other != place
        and transitions(workflow)[other].get("sibling_group") is None
        and mentions_last_error(transitions(workflow)[other]) == mentions_last_error(transition)
    ]
    if not rivals or first_match_only(workflow, node):
        return [None]
    if any("condition" not in rival and "loop_config" not in rival for rival in rivals):
        return [node]
    return [None, node]

"""Explanations with few of each kind: what is alike is listed so many times, and the rest is counted."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import msgspec

from jeton.engine.views.explain.views import (
    Cancelled,
    Explanation,
    MissingPaths,
    Routing,
    RunExplained,
    TransitionExplained,
    Wait,
)

_Counted = TypeVar("_Counted", Wait, Routing, Cancelled, MissingPaths)


def condensed(explanation: Explanation, most: int) -> Explanation:
    """The explanation with at most so many of what is alike. The last of them has in `alike` how many were left out."""
    match explanation:
        case RunExplained():
            return msgspec.structs.replace(
                explanation,
                waits=_few(explanation.waits, _same_wait, most),
                routings=_few(explanation.routings, same_routing, most),
                cancelled=_few(explanation.cancelled, _same_end, most),
                missing=_few(explanation.missing, lambda each: (each.node, each.paths), most),
            )
        case TransitionExplained():
            return msgspec.structs.replace(explanation, routings=_few(explanation.routings, same_routing, most))
        case _:
            return explanation


def same_routing(routing: Routing) -> Hashable:
    """What makes two routings alike: the node, the verdicts, and what became of the token."""
    verdicts = tuple((seen.transition, seen.verdict) for seen in routing.considered)
    return routing.node, routing.after, verdicts, routing.parked_at, routing.ends, bool(routing.created)


def _same_wait(wait: Wait) -> Hashable:
    alone = wait.token if wait.kind in ("gate", "subworkflow", "agent") else None  # each asks for something else
    return wait.node, wait.kind, alone


def _same_end(end: Cancelled) -> Hashable:
    return end.entry, end.status, end.reason, end.request, end.by_run


def _few(values: Sequence[_Counted], same: Callable[[_Counted], Hashable], most: int) -> tuple[_Counted, ...]:
    many: dict[Hashable, int] = {}
    kept: dict[Hashable, int] = {}  # where the last that is listed is
    listed: list[_Counted] = []
    for value in values:
        kind = same(value)
        many[kind] = many.get(kind, 0) + 1
        if many[kind] <= most:
            kept[kind] = len(listed)
            listed.append(value)
    for kind, at in kept.items():
        if many[kind] > most:
            listed[at] = msgspec.structs.replace(listed[at], alike=many[kind] - most)
    return tuple(listed)

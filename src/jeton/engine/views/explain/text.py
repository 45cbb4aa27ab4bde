"""Explanations as text."""

from collections.abc import Callable, Hashable, Iterator
from datetime import datetime
from itertools import groupby
from typing import TypeVar, assert_never

import msgspec

from jeton.engine.views.explain.views import (
    Cancelled,
    ConsideredTransition,
    Explanation,
    FanInView,
    MissingPaths,
    NodeExplained,
    Routing,
    RunExplained,
    TokenExplained,
    TransitionExplained,
    Wait,
)
from jeton.engine.views.fan_outs import losses
from jeton.engine.views.record import stack_of
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.times import text_of

MAX_VALUE = 200  # characters
MAX_ALIKE = 3
MAX_PARTS = 20

_Value = TypeVar("_Value")


def explained(explanation: Explanation) -> str:
    """The explanation as lines of text."""
    match explanation:
        case RunExplained():
            lines = _run(explanation)
        case TokenExplained():
            lines = _token(explanation)
        case TransitionExplained():
            lines = _transition(explanation)
        case _:
            assert_never(explanation)
    return "\n".join(lines)


def _run(run: RunExplained) -> Iterator[str]:
    yield f"run {run.run_id} of {run.workflow}@{run.version} is {run.status}"
    if run.error is not None:
        where = f" at '{run.error.node}'" if run.error.node else ""
        yield f"  because of {run.error.type}{where}: {run.error.message}"
        yield from (f"    {line}" for line in (stack_of(run.error) or "").splitlines())
    yield from (f"  {line}" for line in losses(run.fan_outs))
    if run.needs_app is not None:
        yield f"  it needs an app: {run.needs_app}"
    if run.due is not None:
        yield f"  it must end by {text_of(run.due)}"
    yield from _listed("nodes", [line for node in run.nodes for line in _node(node)])
    yield from _listed("waits for", list(_waits(run.waits)))
    yield from _listed("fan-ins", [_fan_in(fan_in) for fan_in in run.fan_ins])
    yield from _listed("routing", list(_routings(run.routings)))
    yield from _listed("stopped", list(_stopped(run.cancelled)))
    yield from _listed("no value at", list(_missing_paths(run.missing)))


def _waits(waits: tuple[Wait, ...]) -> Iterator[str]:
    def alike(wait: Wait) -> tuple[str, str]:
        return wait.node, wait.kind

    for first, rest in _summarised(waits, alike):
        for wait in first:
            yield from _wait(wait)
        if rest:
            yield f"and {len(rest):,} more at '{rest[0].node}' waiting for {awaited(rest[0])}"


def _routings(routings: tuple[Routing, ...]) -> Iterator[str]:
    def alike(routing: Routing) -> Hashable:
        return routing.node, _verdicts(routing), routing.parked_at, routing.ends, bool(routing.created)

    for first, rest in _summarised(routings, alike):
        for routing in first:
            yield from _routing(routing)
        if rest:
            tokens = _tokens(tuple(routing.token for routing in rest))
            yield f"and {len(rest):,} more routed the same way at '{rest[0].node}': {tokens}"


def _missing_paths(missing: tuple[MissingPaths, ...]) -> Iterator[str]:
    for first, rest in _summarised(missing, lambda each: (each.node, each.paths)):
        yield from map(_missing, first)
        if rest:
            yield f"and {len(rest):,} more of the same at '{rest[0].node}'"


def _summarised(
    values: tuple[_Value, ...], alike: Callable[[_Value], Hashable]
) -> Iterator[tuple[list[_Value], list[_Value]]]:
    """Values that are alike, in the order of the first: a few of them, and the rest."""
    groups: dict[Hashable, list[_Value]] = {}
    for value in values:
        groups.setdefault(alike(value), []).append(value)
    for group in groups.values():
        few = len(group) if len(group) <= MAX_ALIKE + 1 else MAX_ALIKE
        yield group[:few], group[few:]


def _node(node: NodeExplained) -> Iterator[str]:
    """The node, and the incoming connections that delivered nothing."""
    chose = "" if node.branch is None else f", by '{node.branch}'"
    why = {
        "upstream_failure": f" because of {', '.join(node.blocked_by)}",
        "branch_not_taken": " because no branch led to it" + _from(node.blocked_by),
        None: "" if node.error is None else f": {node.error}",
    }[node.skip_reason]
    yield f"'{node.node}' is {node.status}{chose}{why}"
    if node.handled is not None:
        yield f"  its failure was handled: {node.handled}"
    if node.inputs:
        yield f"  it was given {', '.join(f'{handle} = {_brief(value)}' for handle, value in node.inputs.items())}"
    for each in node.incoming:
        if each.fate != "delivered":
            what = "is waited for" if each.fate == "open" else f"is {each.fate}"
            yield f"  '{each.source}' ({each.from_output}) → {each.to_input} {what}"


def _from(nodes: tuple[str, ...]) -> str:
    return f" from {', '.join(nodes)}" if nodes else ""


def _brief(value: Json) -> str:
    """A value as JSON, cut if it is long."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


def _token(explanation: TokenExplained) -> Iterator[str]:
    token = explanation.token
    yield f"token {token.id} of run {explanation.run_id}, at '{token.node}' on {token.path}, is {token.status}"
    born = "the run's first" if token.parent is None else f"created by token {token.parent}"
    yield f"  {born}, {text_of(token.created_at)}"
    if token.branch_index is not None:
        yield f"  branch {token.branch_index} of group {token.group}"
    if token.error is not None:
        yield f"  its node failed: {token.error.get('type')}: {token.error.get('message')}"
    if explanation.waits is not None:
        yield from _listed("waits for", list(_wait(explanation.waits)))
    if explanation.routing is not None:
        yield from _listed("routing", list(_routing(explanation.routing)))
    if explanation.cancelled is not None:
        yield from _listed("stopped", list(_stopped((explanation.cancelled,))))
    yield from _listed("no value at", [_missing(missing) for missing in explanation.missing])


def _transition(explanation: TransitionExplained) -> Iterator[str]:
    condition = "always" if explanation.condition is None else f"if {explanation.condition}"
    route = f"{explanation.source} → {explanation.to}, priority {explanation.priority}"
    yield f"transition {explanation.transition}: {route}, {condition}"
    if not explanation.routings:
        yield f"  never considered: no token has left '{explanation.source}'"
    for first, rest in _summarised(explanation.routings, _verdicts):
        for routing in first:
            yield f"  token {routing.token}, {text_of(routing.at)}, after {routing.after}:"
            for seen in routing.considered:
                mark = "▸" if seen.transition == explanation.transition else " "
                yield f"  {mark} {_considered_transition(seen)}"
        if rest:
            yield f"  and {len(rest):,} more with the same verdicts: {_tokens(tuple(each.token for each in rest))}"


def _verdicts(routing: Routing) -> tuple[object, ...]:
    return routing.after, *((seen.transition, seen.verdict) for seen in routing.considered)


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
        yield from (f"  {line}" for line in lines)


def _wait(wait: Wait) -> Iterator[str]:
    again = f", delivery {wait.deliveries}" if wait.deliveries > 1 else ""
    attempt = f" (attempt {wait.attempt}{again})" if wait.kind == "worker" else ""
    times = f"since {text_of(wait.since)}{_until(wait.due)}"
    yield f"token {wait.token} at '{wait.node}': {awaited(wait)}, {times}{attempt}"
    if wait.fan_in is not None:
        yield f"  {_fan_in(wait.fan_in)}"


def awaited(wait: Wait) -> str:
    """What a token waits for, as a noun phrase."""
    match wait.kind:
        case "worker":
            return "a worker"
        case "sleep":
            return f"the end of its sleep '{wait.label}'"
        case "timer":
            return f"a time ({wait.label})" if wait.label else "a time"
        case "retry":
            return f"attempt {wait.attempt}"
        case "subworkflow":
            return f"run {wait.child} ({wait.label})"
        case "agent":
            return f"an answer of agent '{wait.label}'"
        case "gate":
            return f'an answer to "{wait.label}"'
        case "signal":
            names = (wait.label or "").replace(", ", "' or '")  # a name has no comma
            return f"the signal '{names}'"
        case "siblings":
            return "its siblings"
        case "branch":
            return f"the rest of its branch ({_tokens(wait.waits_for)})"
        case "turn":
            return "its turn"


def _until(due: datetime | None) -> str:
    return "" if due is None else f", until {text_of(due)}"


def _fan_in(fan_in: FanInView) -> str:
    held_by = f", waits for {_tokens(fan_in.waits_for)}" if fan_in.waits_for else ""
    return (
        f"fan-in at '{fan_in.node}' ({fan_in.strategy}, group '{fan_in.name}'): {fan_in.arrived} of {fan_in.needed} "
        f"needed arrived, {fan_in.live} live, {fan_in.lost} lost of {fan_in.total}, "
        f"since {text_of(fan_in.since)}{_until(fan_in.due)}{held_by}"
    )


def _tokens(tokens: tuple[TokenId, ...]) -> str:
    """Token numbers, with three or more in a row as a range."""
    parts: list[str] = []
    for _, numbered in groupby(enumerate(sorted(tokens)), key=lambda each: each[1] - each[0]):
        row = [str(token) for _, token in numbered]
        parts += row if len(row) < 3 else [f"{row[0]} to {row[-1]}"]
    more = f" and {len(parts) - MAX_PARTS:,} more ranges" if len(parts) > MAX_PARTS else ""
    return f"token{'' if len(tokens) == 1 else 's'} {', '.join(parts[:MAX_PARTS])}{more}"


def _routing(routing: Routing) -> Iterator[str]:
    if not routing.considered:
        yield f"token {routing.token} ended at '{routing.node}', {text_of(routing.at)}: no transition leaves it"
        return
    outcome = f"ended {routing.ends}" if routing.ends else ""
    if routing.parked_at is not None:
        outcome = f"went to the fan-in at '{routing.parked_at}'"
    elif routing.created:
        outcome = f"created {_tokens(routing.created)}"
    yield f"token {routing.token} left '{routing.node}' after {routing.after}, {text_of(routing.at)}: {outcome}"
    yield from (f"  {_considered_transition(seen)}" for seen in routing.considered)


def _considered_transition(seen: ConsideredTransition) -> str:
    condition = "" if seen.condition is None else f" if {seen.condition}"
    return f"→ {seen.to}{condition}: {_verdict(seen)}"


def _verdict(seen: ConsideredTransition) -> str:
    match seen.verdict:
        case "matched" | "false":
            return f"{seen.verdict}{_with(seen.values)}"
        case "missing":
            return f"false, no value at {seen.missing}{_with(seen.values)}"
        case "loop_limit_reached":
            return f"at its limit, taken {seen.iterations} of {seen.max_iterations} times"
        case "not_first":
            return "not evaluated, an earlier one matched"
        case "not_reached":
            return "not evaluated, the run failed before it"
        case "tier_decided":
            return "not evaluated, a higher priority matched"
        case "not_for_failures":
            return "not evaluated, it does not read state._last_error"
        case "error":
            return f"error, {seen.problem}{_with(seen.values)}"


def _with(values: dict[str, Json]) -> str:
    shown = ", ".join(f"{path} = {msgspec.json.encode(value).decode()}" for path, value in values.items())
    return f" ({shown})" if shown else ""


def _stopped(cancelled: tuple[Cancelled, ...]) -> Iterator[str]:
    """One line for all tokens that the same decision stopped."""
    for (entry, status, reason, request, by_run), group in groupby(cancelled, key=_cause):
        found = list(group)
        details = f" (asked: {request})" if request else ""
        if by_run is not None:
            details = f" (by run {by_run}, which called this one: {request or 'it stopped waiting'})"
        tokens = _tokens(tuple(each.token for each in found))
        yield f"{tokens} {status} in entry {entry}, {text_of(found[0].at)}: {reason}{details}"


def _cause(cancelled: Cancelled) -> tuple[int, str, str, str | None, RunId | None]:
    return cancelled.entry, cancelled.status, cancelled.reason, cancelled.request, cancelled.by_run


def _missing(missing: MissingPaths) -> str:
    where = "the workflow's output_mapping" if missing.token is None else f"token {missing.token} at '{missing.node}'"
    return f"{', '.join(missing.paths)} ({where}, entry {missing.entry})"

"""An explanation in sentences, for people."""

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from typing import assert_never

import msgspec

from jeton.engine.views.explain.views import (
    Cancelled,
    Considering,
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
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.times import text_of


def explained(explanation: Explanation) -> str:
    """The whole explanation, line by line."""
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
    if run.needs_app is not None:
        yield f"  it needs an app: {run.needs_app}"
    if run.due is not None:
        yield f"  it must end by {text_of(run.due)}"
    yield from _listed("nodes", [line for node in run.nodes for line in _node(node)])
    yield from _listed("waits for", [line for wait in run.waits for line in _wait(wait)])
    yield from _listed("fan-ins", [_fan_in(fan_in) for fan_in in run.fan_ins])
    yield from _listed("routing", [line for routing in run.routings for line in _routing(routing)])
    yield from _listed("stopped", list(_stopped(run.cancelled)))
    yield from _listed("found nothing at", [_missing(missing) for missing in run.missing])


def _node(node: NodeExplained) -> Iterator[str]:
    """The node, and below it only the connections that say something: those that brought nothing."""
    chose = "" if node.branch is None else f", by '{node.branch}'"
    why = {
        "upstream_failure": f" because of {', '.join(node.blocked_by)}",
        "branch_not_taken": " because no branch led to it",
        None: "" if node.error is None else f": {node.error}",
    }[node.skip_reason]
    yield f"'{node.node}' is {node.status}{chose}{why}"
    for each in node.incoming:
        if each.fate != "delivered":
            what = "is waited for" if each.fate == "open" else f"is {each.fate}"
            yield f"  '{each.source}' ({each.from_output}) → {each.to_input} {what}"


def _token(told: TokenExplained) -> Iterator[str]:
    token = told.token
    yield f"token {token.id} of run {told.run_id}, at '{token.node}' on {token.path}, is {token.status}"
    born = "the run's first" if token.parent is None else f"made by token {token.parent}"
    yield f"  {born}, {text_of(token.created_at)}"
    if token.branch_index is not None:
        yield f"  branch {token.branch_index} of group {token.group}"
    if token.error is not None:
        yield f"  its node failed: {token.error.get('type')}: {token.error.get('message')}"
    if told.waits is not None:
        yield from _listed("waits for", list(_wait(told.waits)))
    if told.routing is not None:
        yield from _listed("routing", list(_routing(told.routing)))
    if told.cancelled is not None:
        yield from _listed("stopped", list(_stopped((told.cancelled,))))
    yield from _listed("found nothing at", [_missing(missing) for missing in told.missing])


def _transition(told: TransitionExplained) -> Iterator[str]:
    condition = "always" if told.condition is None else f"if {told.condition}"
    yield f"transition {told.transition}: {told.source} → {told.to}, priority {told.priority}, {condition}"
    if not told.routings:
        yield f"  never considered: no token has left '{told.source}'"
    for routing in told.routings:
        yield f"  token {routing.token}, {text_of(routing.at)}, after {routing.after}:"
        for seen in routing.considered:
            mark = "▸" if seen.transition == told.transition else " "
            yield f"  {mark} {_considering(seen)}"


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
        yield from (f"  {line}" for line in lines)


def _wait(wait: Wait) -> Iterator[str]:
    who = f"token {wait.token} at '{wait.node}'"
    since = f"since {text_of(wait.since)}"
    match wait.kind:
        case "worker":
            again = f", delivery {wait.deliveries}" if wait.deliveries > 1 else ""
            yield f"{who}: a worker, {since} (attempt {wait.attempt}{again}{_until(wait.due)})"
        case "sleep":
            yield f"{who}: the end of its own sleep '{wait.label}', {since}{_until(wait.due)}"
        case "timer":
            label = f" ({wait.label})" if wait.label else ""
            yield f"{who}: a time{label}, {since}{_until(wait.due)}"
        case "retry":
            yield f"{who}: attempt {wait.attempt}, {since}{_until(wait.due)}"
        case "subworkflow":
            yield f"{who}: run {wait.child} ({wait.label}), {since}{_until(wait.due)}"
        case "gate":
            yield f'{who}: an answer to "{wait.label}", {since}{_until(wait.due)}'
        case "signal":
            yield f"{who}: the signal '{wait.label}', {since}{_until(wait.due)}"
        case "siblings":
            yield f"{who}: its siblings, {since}{_until(wait.due)}"
            if wait.fan_in is not None:
                yield f"  {_fan_in(wait.fan_in)}"
        case "branch":
            yield f"{who}: the rest of its branch ({_tokens(wait.waits_for)}), {since}"
        case "turn":
            yield f"{who}: its turn, {since}"


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
    return f"token{'' if len(tokens) == 1 else 's'} {', '.join(map(str, tokens))}"


def _routing(routing: Routing) -> Iterator[str]:
    if not routing.considered:
        yield f"token {routing.token} ended at '{routing.node}', {text_of(routing.at)}: no transition leads on"
        return
    outcome = f"ended {routing.ends}" if routing.ends else ""
    if routing.parked_at is not None:
        outcome = f"went to the fan-in at '{routing.parked_at}'"
    elif routing.created:
        outcome = f"made {_tokens(routing.created)}"
    yield f"token {routing.token} left '{routing.node}' after {routing.after}, {text_of(routing.at)}: {outcome}"
    yield from (f"  {_considering(seen)}" for seen in routing.considered)


def _considering(seen: Considering) -> str:
    condition = "" if seen.condition is None else f" if {seen.condition}"
    return f"→ {seen.to}{condition}: {_verdict(seen)}"


def _verdict(seen: Considering) -> str:
    match seen.verdict:
        case "matched" | "false":
            return f"{seen.verdict}{_with(seen.values)}"
        case "missing":
            return f"false, nothing is at {seen.missing}{_with(seen.values)}"
        case "loop_limit_reached":
            return f"out, followed {seen.iterations} of {seen.max_iterations} times"
        case "not_first":
            return "not looked at, an earlier one matched"
        case "tier_decided":
            return "not looked at, a better priority matched"
        case "not_for_failures":
            return "not looked at, it does not speak of state._last_error"
        case "error":
            return f"error, {seen.problem}{_with(seen.values)}"


def _with(values: dict[str, Json]) -> str:
    shown = ", ".join(f"{path} = {msgspec.json.encode(value).decode()}" for path, value in values.items())
    return f" ({shown})" if shown else ""


def _stopped(cancelled: tuple[Cancelled, ...]) -> Iterator[str]:
    """Tokens that one decision stopped share a line."""
    for (entry, status, reason, request, by_run), group in groupby(cancelled, key=_cause):
        found = list(group)
        words = f" (asked: {request})" if request else ""
        if by_run is not None:
            words = f" (by run {by_run}, which called this one: {request or 'it stopped waiting'})"
        tokens = _tokens(tuple(each.token for each in found))
        yield f"{tokens} {status} in entry {entry}, {text_of(found[0].at)}: {reason}{words}"


def _cause(cancelled: Cancelled) -> tuple[int, str, str, str | None, RunId | None]:
    return cancelled.entry, cancelled.status, cancelled.reason, cancelled.request, cancelled.by_run


def _missing(missing: MissingPaths) -> str:
    where = "the workflow's output_mapping" if missing.token is None else f"token {missing.token} at '{missing.node}'"
    return f"{', '.join(missing.paths)} ({where}, entry {missing.entry})"

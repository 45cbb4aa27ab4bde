"""Explanations of a run, of one of its tokens, and of one of its transitions."""

from collections.abc import Iterator, Sequence

import msgspec

from jeton.actor.advance import LiveRun
from jeton.actor.replay import replay
from jeton.apply.draft import Draft
from jeton.apply.fold import fold
from jeton.engine.views.explain.nodes import nodes_explained
from jeton.engine.views.explain.routings import routings
from jeton.engine.views.explain.views import (
    Cancelled,
    MissingPaths,
    RunExplained,
    TokenExplained,
    TransitionExplained,
)
from jeton.engine.views.explain.waits import fan_ins, waits
from jeton.engine.views.fan_outs import fan_out_views
from jeton.engine.views.tokens import token_views
from jeton.model import decision as d
from jeton.model.entry import Entry
from jeton.model.failure import Refused
from jeton.model.ids import TokenId
from jeton.model.json import JsonObject
from jeton.model.message import CancelRun
from jeton.model.note import MissingNote
from jeton.model.state.ranges import numbers_in
from jeton.model.state.run import Head, RunState
from jeton.model.times import maybe_moment, moment
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.scope import scope_of


class RunHistory(msgspec.Struct, frozen=True):
    """What explanations are made from: the compiled workflow of the run's version, and the run's journal."""

    program: Program
    head: Head
    entries: Sequence[Entry]


def explain_run(history: RunHistory, needs_app: str | None = None) -> RunExplained:
    """Explain a run: what it waits for, how it was routed, and what was stopped."""
    state = replay(history.head, history.entries).state
    views = {view.id: view for view in token_views(history.entries)}
    return RunExplained(
        run_id=history.head.run,
        workflow=history.head.workflow,
        version=history.head.version,
        status=state.head.status,
        error=state.head.error,
        due=None if state.head.ended else maybe_moment(state.head.deadline),
        fan_outs=fan_out_views(history.entries),
        waits=tuple(waits(history.program, state, views)),
        fan_ins=fan_ins(history.program, state),
        routings=tuple(routings(history.program, history.head, history.entries)),
        cancelled=tuple(_cancelled(history.entries)),
        missing=tuple(_missing(history.entries)),
        needs_app=needs_app,
        nodes=() if history.program.flow is None else nodes_explained(history.program.flow, state),
    )


def explain_token(history: RunHistory, token: int) -> TokenExplained:
    """Explain a token. Raises Refused if the run has no such token."""
    state = replay(history.head, history.entries).state
    views = {view.id: view for view in token_views(history.entries)}
    wanted = TokenId(token)
    if wanted not in views:
        raise _no_token(history, token, len(views))
    return TokenExplained(
        run_id=history.head.run,
        token=views[wanted],
        waits=next((w for w in waits(history.program, state, views) if w.token == wanted), None),
        routing=next(routings(history.program, history.head, history.entries, token=wanted), None),
        cancelled=next((c for c in _cancelled(history.entries) if c.token == wanted), None),
        missing=tuple(m for m in _missing(history.entries) if m.token == wanted),
    )


def explain_transition(history: RunHistory, transition: int) -> TransitionExplained:
    """Explain a transition: every routing where it was considered or skipped. Raises Refused if there is none."""
    written = history.program.workflow.transitions
    if history.program.flow is not None:
        problem = f"'{history.head.workflow}' is a flow, and has connections instead of transitions"
        raise Refused("transition_not_found", problem, "explain the run instead: it lists the connections of each node")
    if not 0 <= transition < len(written):
        problem = f"workflow '{history.head.workflow}' has no transition {transition}"
        raise Refused("transition_not_found", problem, f"its transitions are 0 to {len(written) - 1}")
    asked = written[transition]
    found = routings(history.program, history.head, history.entries, node=asked.source)
    return TransitionExplained(
        run_id=history.head.run,
        transition=transition,
        source=asked.source,
        to=asked.target,
        priority=asked.priority,
        condition=None if asked.condition is True else str(asked.condition),
        routings=tuple(found),
    )


def scope_of_token(history: RunHistory, token: int) -> JsonObject:
    """The variables of a token's expressions, as they are now or were last. Raises Refused if there is no token."""
    wanted, found = TokenId(token), None
    state = RunState(Head(history.head.run, history.head.workflow, history.head.version))
    run = LiveRun(state)
    for entry in history.entries:
        draft = Draft(state, run.timers)
        for decision in entry.decisions:
            if wanted in state.tokens:
                found = scope_of(history.program, state, state.tokens[wanted])
            elif found is not None:
                return found
            fold(draft, decision)
    if wanted in state.tokens:
        return scope_of(history.program, state, state.tokens[wanted])
    if found is None:
        raise _no_token(history, token, state.head.next_token)
    return found


def _no_token(history: RunHistory, token: int, count: int) -> Refused:
    problem = f"run {history.head.run} has no token {token}"
    return Refused("token_not_found", problem, f"its tokens are 0 to {count - 1}")


def _cancelled(entries: Sequence[Entry]) -> Iterator[Cancelled]:
    parent = None
    for entry in entries:
        begin = next((each for each in entry.decisions if isinstance(each, d.BeginRun)), None)
        parent = begin.parent.run if begin is not None and begin.parent is not None else parent
        asked = next((m for m in entry.messages if isinstance(m, CancelRun)), None)
        request = None if asked is None or not asked.reason else asked.reason
        by = parent if asked is not None and asked.by_parent else None
        for decision in entry.decisions:
            if isinstance(decision, d.EndTokens):
                for number in numbers_in(decision.tokens):
                    at = moment(entry.at)
                    yield Cancelled(TokenId(number), decision.status, decision.reason, entry.number, at, request, by)


def _missing(entries: Sequence[Entry]) -> Iterator[MissingPaths]:
    for entry in entries:
        for decision in entry.decisions:
            match decision:
                case (
                    d.FinishNode(token, node, missing=(_, *_))
                    | d.DispatchToken(token, node, missing=(_, *_))
                    | d.WaitForTimer(token, node, missing=(_, *_))
                    | d.CallWorkflow(token, node, missing=(_, *_))
                    | d.OpenGate(token, node, missing=(_, *_))
                    | d.WaitForSignal(token, node, missing=(_, *_))
                ):
                    yield MissingPaths(token, node, entry.number, decision.missing)
                case d.NoteTask(token, node, note=MissingNote(paths=paths)):
                    yield MissingPaths(token, node, entry.number, paths)
                case d.EndRun(missing=(_, *_)):
                    yield MissingPaths(None, None, entry.number, decision.missing)
                case _:
                    pass

"""The part of a run's history that a fork shares.

A history with the run's end is cut just before what ended it, so that the fork can go on: a failed node is run again, a
cancelled or timed out run continues, a completed one produces its output again.
"""

from collections.abc import Sequence

import msgspec

from jeton.model.decision import (
    BeginNode,
    BeginTurn,
    BreakNode,
    CreateToken,
    CreateTokens,
    Decision,
    EndChild,
    EndRun,
    EndTokens,
    FailNode,
    FinishNode,
    RouteToken,
    StopChild,
    TakeAnswer,
    TimeOutFanIn,
    TimeOutGate,
)
from jeton.model.entry import Entry
from jeton.model.failure import Refused

_ENDS_NODE = (FinishNode, FailNode, BreakNode, RouteToken, EndChild, StopChild, TakeAnswer, TimeOutGate)


def shared_history(entries: Sequence[Entry], at: int) -> list[Entry]:
    """The entries up to and including number `at`, without the end of the run."""
    if not 0 <= at < len(entries):
        problem = f"the run has entries 0 to {len(entries) - 1}, and none is number {at}"
        raise Refused("unknown_entry", problem, "name one of them")
    shared = list(entries[: at + 1])
    last = shared[-1]
    end = next((d for d in last.decisions if isinstance(d, EndRun)), None)
    if end is not None:
        shared.pop()
        kept = last.decisions[: _before_end(last.decisions, end)]
        if kept:
            shared.append(msgspec.structs.replace(last, decisions=kept))
    if not any(isinstance(d, CreateToken | CreateTokens) for entry in shared for d in entry.decisions):
        raise Refused("nothing_shared", "the run ended before anything of it began", "start a new run")
    return shared


def history_before(entries: Sequence[Entry], turn: int) -> list[Entry]:
    """The entries of a conversation up to the beginning of a turn."""
    shared = list[Entry]()
    for entry in entries:
        for index, decision in enumerate(entry.decisions):
            if isinstance(decision, BeginTurn) and decision.turn == turn:
                kept = entry.decisions[:index]
                return [*shared, msgspec.structs.replace(entry, decisions=kept)] if kept else shared
        shared.append(entry)
    raise Refused("unknown_turn", f"the conversation has no turn {turn} that has begun", "see its turns with show")


def _before_end(decisions: tuple[Decision, ...], end: EndRun) -> int:
    """The index of the first decision that belongs to the end of the run."""
    if not end.broken:
        failing = end.ended_by if end.ended_by is not None or end.error is None else end.error.token
        for index, decision in enumerate(decisions):
            if isinstance(decision, _ENDS_NODE) and decision.token == failing:
                # a node of a flow that failed as soon as it began is cut with its beginning
                return index - (index > 0 and isinstance(decisions[index - 1], BeginNode))
            if failing is None and isinstance(decision, FailNode | TimeOutFanIn) and end.status == "failed":
                return index
    index = decisions.index(end)
    while not end.broken and index > 0 and isinstance(decisions[index - 1], EndTokens | StopChild):
        index -= 1
    return index

"""Journal entries as a list shows them."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import msgspec

from jeton.model import decision as d
from jeton.model.entry import Entry
from jeton.model.times import moment

MOST_PHRASES = 4


class EntryView(msgspec.Struct, frozen=True):
    """One journal entry: the types of its messages, the kinds of its decisions, and what happened in words."""

    number: int
    at: datetime
    first_event: int
    messages: tuple[str, ...]
    decisions: tuple[str, ...]
    text: str


def entry_view(entry: Entry) -> EntryView:
    """An entry as a list shows it."""
    messages, decisions = (tuple(map(_tag, each)) for each in (entry.messages, entry.decisions))
    return EntryView(entry.number, moment(entry.at), entry.first_event, messages, decisions, text_of(entry))


def text_of(entry: Entry) -> str:
    """What happened in an entry, in order: the first few things, and the last."""
    phrases = Counter(phrase for decision in entry.decisions for phrase in _phrases(decision))
    said = [f"{phrase} ({count} times)" if count > 1 else phrase for phrase, count in phrases.items()]
    left_out = len(said) - MOST_PHRASES
    if left_out > 0:  # the last may be the end of the run
        said[MOST_PHRASES - 1 : -1] = [f"{left_out} more"]
    return "; ".join(said)


def _tag(value: msgspec.Struct) -> str:
    return str(value.__struct_config__.tag)


def _phrases(decision: d.Decision) -> Iterator[str]:
    match decision:
        case d.BeginRun():
            yield "the run began"
        case d.EndRun(status=status, error=error):
            yield f"the run ended: {status.replace('_', ' ')}{'' if error is None else f', {error.type}'}"
        case d.SetPaused(paused):
            yield "the run was paused" if paused else "the run was unpaused"
        case d.ForkHistory(run=run, entry=entry):
            yield f"the run continues {run} from entry {entry}"
        case d.DispatchToken(node=node, attempt=attempt):
            yield f"'{node}' was dispatched" + (f", attempt {attempt}" if attempt > 1 else "")
        case d.RedeliverToken(node=node):
            yield f"'{node}' was dispatched again"
        case d.FinishNode(node=node):
            yield f"'{node}' finished"
        case d.ExecuteNode(node=node):
            yield f"'{node}' finished"
        case d.FailNode(node=node, error=error):
            yield f"'{node}' failed: {error.get('type')}"
        case d.BreakNode(node=node, failure=failure):
            yield f"'{node}' failed: {failure.type}"
        case d.RetryToken(node=node, attempt=attempt):
            yield f"'{node}' will be retried, attempt {attempt}"
        case d.EndTokens(status=status, reason=reason):
            yield f"tokens were {status.replace('_', ' ')}: {reason}"
        case _:
            yield from _other_phrases(decision)


def _other_phrases(decision: d.Decision) -> Iterator[str]:
    match decision:
        case d.OpenGroup(name=name, total=total):
            yield f"'{name}' fanned out into {total:,}"
        case d.OpenFanIn(node=node):
            yield f"the fan-in at '{node}' opened"
        case d.TimeOutFanIn(node=node):
            yield f"the fan-in at '{node}' timed out"
        case d.WaitForTimer(node=node) | d.WaitForSignal(node=node) | d.HoldNode(node=node):
            yield f"'{node}' waits"
        case d.SuspendToken(node=node, sleep=sleep):
            yield f"'{node}' sleeps: {sleep}"
        case d.OpenGate(node=node, title=title) | d.AskInput(node=node, title=title):
            yield f"'{node}' asks: {title}"
        case d.TakeAnswer(node=node):
            yield f"'{node}' was answered"
        case d.TimeOutGate(node=node):
            yield f"the gate at '{node}' timed out"
        case d.KeepSignal(name=name):
            yield f"the signal '{name}' came"
        case d.CallWorkflow(node=node, workflow=workflow):
            yield f"'{node}' called '{workflow}'"
        case d.EndChild(child=child, status=status):
            yield f"run {child} ended: {status.replace('_', ' ')}"
        case d.CallAgent(node=node, agent=agent):
            yield f"'{node}' asked '{agent}'"
        case d.BeginTurn(turn=turn):
            yield f"turn {turn} began"
        case d.AddMove(turn=turn):
            yield f"the model answered in turn {turn}"
        case d.EndTurn(turn=turn, status=status):
            yield f"turn {turn} ended: {status}"
        case _:
            pass

"""Recovery of a run after its process has died: lost tasks, tokens that can move, a due alarm."""

from collections.abc import Callable

import msgspec

from jeton.actor.advance import LiveRun
from jeton.model.ids import TokenId
from jeton.model.message import AlarmRang, ContinueRun, Message, TaskLost
from jeton.model.state.phase import Dispatched, Executing, Pending


class RecoveryPlan(msgspec.Struct, frozen=True):
    """Messages for the run, and the name of a Python function that it needs and that is not here, if any."""

    messages: tuple[Message, ...]
    needs_app: str | None


def plan_recovery(run: LiveRun, now: int, wall: int, missing: Callable[[TokenId], str | None]) -> RecoveryPlan:
    """The messages that a run needs to go on. Delivering them twice changes nothing.

    `missing` gives the name of a function that a token's task needs and that is not here. The run counts lost tasks, so
    one that kills its worker is not started for ever. A paused run does not start a task that no worker had begun."""
    messages, needs_app, pending = list[Message](), None, False
    for token in run.state.tokens.values():
        match token.phase:
            case Dispatched() if run.state.head.paused:
                pass
            case Dispatched() | Executing():
                function = missing(token.id)
                needs_app = needs_app or function
                if function is None:
                    messages.append(TaskLost(now, token.id, token.attempt))
            case Pending():
                pending = True
            case _:
                pass
    if pending:
        messages.append(ContinueRun(now))
    if run.timers.next_each().is_due(now, wall):
        messages.append(AlarmRang(now, wall))
    return RecoveryPlan(tuple(messages), needs_app)

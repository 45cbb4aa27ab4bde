"""What an unfinished run is owed after its process has died: tasks no worker has, tokens that may move, a due alarm."""

from collections.abc import Callable

import msgspec

from jeton.model.message import AlarmRang, ContinueRun, Message, TaskLost
from jeton.model.state.phase import Dispatched, Executing, Pending
from jeton.model.state.run import RunState


class Owed(msgspec.Struct, frozen=True):
    """Messages for the run, and the name of a Python function that it needs and that is not here, if any."""

    messages: tuple[Message, ...]
    needs_app: str | None


def owed_to(state: RunState, wake: int | None, now: int, missing: Callable[[str], str | None]) -> Owed:
    """Work it out from what is stored; doing so twice changes nothing.

    `missing` names a function that the task of a node needs and nobody here has. Lost deliveries are counted by the
    run, so that a task that kills its worker does not do so for ever."""
    owed, lacking, pending = list[Message](), None, False
    for token in state.tokens.values():
        match token.phase:
            case Dispatched() | Executing():
                function = missing(token.node)
                lacking = lacking or function
                if function is None:
                    owed.append(TaskLost(now, token.id, token.attempt))
            case Pending():
                pending = True
            case _:
                pass
    if pending:
        owed.append(ContinueRun(now))
    if wake is not None and wake <= now:
        owed.append(AlarmRang(now))
    return Owed(tuple(owed), lacking)

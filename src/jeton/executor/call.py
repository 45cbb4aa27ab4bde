"""Which call this is: what a task is asked to do, and what a Python function can find out about itself."""

from contextvars import ContextVar

import msgspec

from jeton.model.failure import Refused
from jeton.model.ids import RunId, TokenId, idempotency_key
from jeton.model.json import Json


class TaskCall(msgspec.Struct, frozen=True):
    """One attempt at the task of a node."""

    run: RunId
    token: TokenId
    node: str
    attempt: int
    input: Json

    def step_key(self, step: str) -> str:
        """The same over infrastructure retries and redelivery, new for a business retry."""
        return f"{idempotency_key(self.run, self.token, self.attempt)}:{step}"


class Call(msgspec.Struct, frozen=True):
    """One attempt at an action. `attempt` counts business attempts of the task, `action_attempt` those in the step."""

    run: RunId
    token: TokenId
    node: str
    attempt: int
    step: str
    action_attempt: int
    idempotency_key: str


_current: ContextVar[Call] = ContextVar("jeton_call")

enter_call = _current.set
leave_call = _current.reset


def current_call() -> Call:
    """The call that the running function answers, on the event loop and in a thread alike."""
    call = _current.get(None)
    if call is None:
        problem = "no action is running here"
        raise Refused("no_call", problem, "ask for the call inside a function that a workflow runs")
    return call

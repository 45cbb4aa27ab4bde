"""Which call this is: what a task is asked to do, and what a Python function can find out about itself."""

import math
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from typing import TypeAlias

import msgspec

from jeton.model.definition.profile import MOST_TOKENS, ModelProfile
from jeton.model.failure import Refused
from jeton.model.ids import RunId, TokenId, idempotency_key
from jeton.model.json import Json
from jeton.model.note import CostNote, LogNote, Note, ProgressNote, TokensNote
from jeton.model.storable import valid_text

MOST_CREDITS = (1 << 53) - 1  # what every JSON reader can take
NO_PROFILES: Mapping[str, ModelProfile] = {}


class TaskCall(msgspec.Struct, frozen=True):
    """One attempt at the task of a node."""

    run: RunId
    token: TokenId
    node: str
    attempt: int
    input: Json
    at: int = 0  # when it was given out

    def step_key(self, step: str) -> str:
        """The same over infrastructure retries and redelivery, new for a business retry."""
        return f"{idempotency_key(self.run, self.token, self.attempt)}:{step}"


class CurrentCall(msgspec.Struct, frozen=True):
    """One attempt at an action. `attempt` counts business attempts of the task, `action_attempt` those in the step."""

    run: RunId
    token: TokenId
    node: str
    attempt: int
    step: str
    action_attempt: int
    idempotency_key: str

    def progress(self, done: float | None = None, text: str = "") -> None:
        """Say how far the function is, from 0 to 1, in the run's events. A whole percent is the least that shows."""
        if done is not None and not (math.isfinite(done) and 0 <= done <= 1):
            raise ValueError(f"progress goes from 0 to 1, and this is {done}")
        _entered().tell(ProgressNote(self.step, None if done is None else float(done), valid_text(str(text))))

    def log(self, text: str) -> None:
        """Keep a text in the run's events. Secrets of the project are redacted."""
        _entered().tell(LogNote(self.step, "log", valid_text(str(text))))

    def cost(self, credits: int) -> None:
        """Say that the function used so many credits. Said more than once, they add up."""
        if not _is_count(credits, MOST_CREDITS):
            raise ValueError(f"a cost is a whole number of credits, and this is {credits!r}")
        _entered().tell(CostNote(self.step, credits))

    def tokens(self, profile: str, *, input: int = 0, output: int = 0) -> None:
        """Say what a model call used: so many tokens, at the prices of a model profile of the project.

        What several calls cost adds up, with what `cost` says, and is rounded up to whole credits at the end."""
        entered = _entered()
        known = entered.profiles.get(profile)
        if known is None:
            have = ", ".join(sorted(entered.profiles)) or "none"
            problem = f"no model profile is called '{profile}'"
            raise Refused("unknown_profile", problem, f"write it under model_profiles, which has: {have}")
        for count in (input, output):
            if not _is_count(count, MOST_TOKENS):
                raise ValueError(f"tokens come in whole numbers up to {MOST_TOKENS}, and this is {count!r}")
        millionths = None if known.prices is None else known.prices.millionths(input, output)
        entered.tell(TokensNote(self.step, profile, input, output, millionths))


class _ActiveCall(msgspec.Struct, frozen=True):
    """The call a function answers, and who hears what it says meanwhile."""

    call: CurrentCall
    tell: Callable[[Note], None]
    profiles: Mapping[str, ModelProfile]


CallToken: TypeAlias = Token[_ActiveCall]

_current: ContextVar[_ActiveCall] = ContextVar("jeton_call")


def enter_call(
    call: CurrentCall, tell: Callable[[Note], None], profiles: Mapping[str, ModelProfile] = NO_PROFILES
) -> CallToken:
    """From here on `current_call` gives this one; hand the answer to `leave_call`."""
    return _current.set(_ActiveCall(call, tell, profiles))


leave_call = _current.reset


def current_call() -> CurrentCall:
    """The call that the running function answers, on the event loop and in a thread alike."""
    return _entered().call


def _entered() -> _ActiveCall:
    entered = _current.get(None)
    if entered is None:
        problem = "no action is running here"
        raise Refused("no_call", problem, "ask for the call inside a function that a workflow runs")
    return entered


def _is_count(value: object, most: int) -> bool:
    """A number that says how many."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most

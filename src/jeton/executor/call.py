"""The call that is being made: what a task is started with, and what a running function can ask about itself."""

import math
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from typing import TypeAlias

import msgspec

from jeton.model.chat import Speaker
from jeton.model.definition.agent import MemoryPolicy
from jeton.model.definition.profile import MOST_TOKENS, ModelProfile
from jeton.model.failure import Refused
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.note import CostNote, LogNote, Note, ProgressNote, TokensNote
from jeton.model.state.phase import Continuation
from jeton.model.storable import valid_text

MAX_CREDITS = (1 << 53) - 1  # the largest integer every JSON reader keeps exact
NO_PROFILES: Mapping[str, ModelProfile] = {}
NO_MEMORIES: Mapping[str, MemoryPolicy] = {}


class TaskCall(msgspec.Struct, frozen=True):
    """One attempt at the task of a node."""

    run: RunId
    token: TokenId
    node: str
    attempt: int
    input: Json
    at: int = 0  # when it was started
    facts: JsonObject = {}  # what expressions read as `run`
    delivery: int = 1
    speaker: Speaker | None = None  # the agent it works for
    continuation: Continuation | None = None  # what the attempt left behind when it gave its worker back


class CurrentCall(msgspec.Struct, frozen=True):
    """The call a function is running for. `attempt` counts those of the task, `action_attempt` those in the step."""

    run: RunId
    token: TokenId
    node: str
    attempt: int
    step: str
    action_attempt: int
    idempotency_key: str

    def progress(self, done: float | None = None, text: str = "") -> None:
        """Report progress from 0 to 1 as an event of the run. Changes of less than one percent are dropped."""
        if done is not None and not (math.isfinite(done) and 0 <= done <= 1):
            raise ValueError(f"progress must be between 0 and 1, not {done}")
        _active().report(ProgressNote(self.step, None if done is None else float(done), valid_text(str(text))))

    def log(self, text: str) -> None:
        """Add a log line to the run's events. Secrets of the project are redacted."""
        _active().report(LogNote(self.step, "log", valid_text(str(text))))

    def cost(self, credits: int) -> None:
        """Report credits that the function used. Several reports add up."""
        if not _is_count(credits, MAX_CREDITS):
            raise ValueError(f"a cost must be a whole number of credits from 0 to {MAX_CREDITS}, not {credits!r}")
        _active().report(CostNote(self.step, credits))

    def tokens(self, profile: str, *, input: int = 0, output: int = 0) -> None:
        """Report the tokens of a model call, priced by a model profile of the project.

        Costs of several calls, and those reported by `cost`, add up; the sum is rounded up to whole credits."""
        active = _active()
        known = active.profiles.get(profile)
        if known is None:
            names = ", ".join(sorted(active.profiles)) or "none"
            problem = f"there is no model profile '{profile}'"
            raise Refused("unknown_profile", problem, f"add it to model_profiles, which has: {names}")
        for count in (input, output):
            if not _is_count(count, MOST_TOKENS):
                raise ValueError(f"a token count must be a whole number from 0 to {MOST_TOKENS}, not {count!r}")
        millionths = None if known.prices is None else known.prices.millionths(input, output)
        active.report(TokensNote(self.step, profile, input, output, millionths))


class _ActiveCall(msgspec.Struct, frozen=True):
    """A call in progress, and where its reports go."""

    call: CurrentCall
    report: Callable[[Note], None]
    profiles: Mapping[str, ModelProfile]


CallToken: TypeAlias = Token[_ActiveCall]

_current: ContextVar[_ActiveCall] = ContextVar("jeton_call")


def enter_call(
    call: CurrentCall, report: Callable[[Note], None], profiles: Mapping[str, ModelProfile] = NO_PROFILES
) -> CallToken:
    """Make `current_call` return this call, until the returned token is passed to `leave_call`."""
    return _current.set(_ActiveCall(call, report, profiles))


leave_call = _current.reset


def current_call() -> CurrentCall:
    """The call that the current function is running for, on the event loop or in a thread."""
    return _active().call


def _active() -> _ActiveCall:
    active = _current.get(None)
    if active is None:
        remedy = "use current_call only in a function that a workflow runs"
        raise Refused("no_call", "no action is running here", remedy)
    return active


def _is_count(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most

"""The outcome of a simulated run."""

from datetime import timedelta

import msgspec

from jeton.engine.views.record import RunRecord
from jeton.model.failure import RunError
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunStatus
from jeton.testing.calls import SimulatedCall
from jeton.testing.trials.story import LEFT_OUT

LONGEST_LIST = 12
LONGEST_TEXT = 300
LONGEST_STORY = 40


class Simulation(msgspec.Struct, frozen=True, repr_omit_defaults=True):
    """A run as `simulate` left it: ended, or waiting for what nobody gave it."""

    record: RunRecord
    state: JsonObject
    events: tuple[JsonObject, ...]  # of the run and of the runs it called
    calls: tuple[SimulatedCall, ...]  # every call of an action, in order
    waits: tuple[str, ...]  # what an unfinished run waits for
    seed: int
    took: timedelta  # virtual time

    @property
    def status(self) -> RunStatus:
        return self.record.status

    @property
    def output(self) -> Json:
        return self.record.output

    @property
    def error(self) -> RunError | None:
        return self.record.error

    @property
    def called(self) -> list[str]:
        """The nodes whose actions were called, in order; once for each call."""
        return [call.node for call in self.calls]

    def calls_of(self, name: str) -> list[SimulatedCall]:
        """The calls at a node, or of an action."""
        return [call for call in self.calls if name in (call.node, call.action)]

    def completed(self) -> Json:
        """The output. Raises AssertionError, with all that happened, if the run has not completed."""
        if self.status != "completed":
            raise AssertionError(str(self))
        return self.output

    def __repr__(self) -> str:
        parts = [self._outcome(), *self.waits]
        if self.calls:
            parts.append(f"called {_listed(self.called)}")
        if self.seed:
            parts.append(f"seed {self.seed}")
        return f"<{self.record.workflow}: {'; '.join(parts)}>"

    def __str__(self) -> str:
        shown = [_line(event) for event in self.events if event["type"] not in LEFT_OUT]
        left_out = len(shown) - LONGEST_STORY
        if left_out > 0:
            shown = [f"… {left_out} more", *shown[left_out:]]
        stack = [] if self.record.error_stack is None else [self.record.error_stack.rstrip()]
        return "\n".join([repr(self), *(f"  {line}" for line in shown), *stack])

    def _outcome(self) -> str:
        error = self.error
        if error is None:
            return f"{self.status} {_short(self.output)}" if self.status == "completed" else self.status
        where = "" if error.node is None else f" at '{error.node}'"
        return f"{self.status}{where}: {error.type}: {_cut(error.message)}"


def _listed(names: list[str]) -> str:
    more = len(names) - LONGEST_LIST
    return ", ".join(names[:LONGEST_LIST]) + (f" and {more} more" if more > 0 else "")


def _line(event: JsonObject) -> str:
    left_out = ("run_id", "seq", "at", "type", "node", "token", "entry")
    fields = {**event, "error": _error(event["error"])} if isinstance(event.get("error"), dict) else event
    rest: JsonObject = {key: value for key, value in fields.items() if key not in left_out and value is not None}
    return f"{event['type']!s:<18} {event.get('node') or '':<12} {_short(rest) if rest else ''}".rstrip()


def _error(error: Json) -> Json:
    return f"{error.get('type')}: {error.get('message')}" if isinstance(error, dict) else error


def _short(value: Json) -> str:
    return _cut(msgspec.json.encode(value).decode())


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"

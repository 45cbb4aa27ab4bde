"""Calls that a test makes fail."""

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from jeton.executor.action import ActionCall, ActionFailed, failure_from
from jeton.model.failure import Refused

OneFailure: TypeAlias = "str | BaseException | type[BaseException] | bool | None"
Failing: TypeAlias = "int | str | BaseException | type[BaseException] | Sequence[OneFailure]"
"""Which calls fail: the first so many; every one (True, a message or an exception); or a list, call by call."""


class Failures:
    """Which calls under one name fail. A call that is repeated after a crash does what it did before."""

    def __init__(self, name: str, given: Failing) -> None:
        self._name = name
        self._given = _checked(name, given)
        self._numbers: dict[tuple[str, int], int] = {}

    def of(self, call: ActionCall, is_transient: Callable[[BaseException], bool]) -> ActionFailed | None:
        """The failure of a call, if it is to fail. `is_transient` is the action's own rule for exceptions."""
        made = call.call
        number = self._numbers.setdefault((made.idempotency_key, made.action_attempt), len(self._numbers))
        found = self._failure(number)
        if isinstance(found, type):
            found = found()
        if isinstance(found, BaseException):
            return failure_from(found, is_transient)
        if isinstance(found, str):
            return ActionFailed("simulated_failure", found)
        if not found:
            return None
        message = f"call {number + 1} of '{self._name}' was made to fail"
        return ActionFailed("simulated_failure", message, transient=True)

    def _failure(self, number: int) -> OneFailure:
        given = self._given
        if isinstance(given, int) and not isinstance(given, bool):
            return number < given
        if isinstance(given, bool | str | BaseException | type):
            return given
        return given[number] if number < len(given) else None


def _checked(name: str, given: Failing) -> Failing:
    parts = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    if cast("object", given) is None or not all(_is_failure(part) for part in parts):
        problem = f"fail['{name}'] is {given!r}"
        remedy = "write how many calls fail, True, a message, an exception, or a list of these"
        raise Refused("bad_argument", problem, remedy)
    return given


def _is_failure(given: object) -> bool:
    if isinstance(given, type):
        return issubclass(given, BaseException)
    return given is None or isinstance(given, int | str | BaseException)

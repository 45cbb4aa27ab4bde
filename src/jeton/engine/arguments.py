"""Checks of arguments, before anything is stored."""

from jeton.model.codes import RefusalCode
from jeton.model.definition.agent import agent_of
from jeton.model.failure import Refused
from jeton.model.storable import is_valid_text

MOST_ROWS = 1 << 31
MOST_CREDITS = 1 << 53


def check_texts(**given: object) -> None:
    """Raise Refused unless each argument is a text that can be stored."""
    for name, value in given.items():
        if not isinstance(value, str):
            raise _refused(name, f"must be a text, and is {_shown(value)}", "give a text")
        if not is_valid_text(value):
            raise _refused(name, "has an unpaired surrogate, which is not a character", "give whole characters")


def check_maybe_texts(**given: object) -> None:
    """Raise Refused unless each argument is None or a text that can be stored."""
    check_texts(**{name: value for name, value in given.items() if value is not None})


def check_whole(name: str, value: object, least: int, most: int, code: RefusalCode = "bad_argument") -> None:
    """Raise Refused unless an argument is a whole number within these bounds; `True` is none."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        problem = f"must be a whole number from {least} to {most}, and is {_shown(value)}"
        raise _refused(name, problem, "give such a number", code)


def check_startable(name: str) -> None:
    """Raise Refused for the bundle of an agent, which is talked to and not started."""
    agent = agent_of(name)
    if agent is not None:
        problem = f"'{agent}' is an agent, and only workflows and flows are started"
        raise Refused("unknown_workflow", problem, f"write engine.converse('{agent}')")


def check_credits(name: str, value: object, least: int = 0) -> None:
    """Raise Refused unless an argument is an amount of credits."""
    check_whole(name, value, least, MOST_CREDITS - 1, "bad_amount")


def _refused(name: str, problem: str, remedy: str, code: RefusalCode = "bad_argument") -> Refused:
    return Refused(code, f"'{name}' {problem}", remedy)


def _shown(value: object) -> str:
    return (
        f"{str(value)[:40]} ({type(value).__name__})"
        if isinstance(value, int | float)
        else f"of type {type(value).__name__}"
    )

"""How verbs speak: one JSON object for machines, short lines for people, and an exit code for both."""

import json
import os
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from jeton.cli.options import Exit

if TYPE_CHECKING:
    from jeton.model.failure import Problem, Refused

EXITS = {
    "input_invalid": Exit.BAD_USAGE,
    "app_not_loaded": Exit.BAD_USAGE,
    "which_workflow": Exit.BAD_USAGE,
    "bad_reference": Exit.BAD_USAGE,
    "ambiguous": Exit.BAD_USAGE,
    "bad_path": Exit.BAD_USAGE,
    "state_invalid": Exit.BAD_USAGE,
    "unknown_run": Exit.NOT_FOUND,
    "unknown_gate": Exit.NOT_FOUND,
    "unknown_entry": Exit.NOT_FOUND,
    "no_fan_in": Exit.NOT_FOUND,
    "token_not_found": Exit.NOT_FOUND,
    "transition_not_found": Exit.NOT_FOUND,
    "unknown_workflow": Exit.NOT_FOUND,
    "unknown_trigger": Exit.NOT_FOUND,
    "no_store": Exit.NOT_FOUND,
}
STATUS_COLOURS = {
    "completed": "green",
    "running": "blue",
    "submitted": "blue",
    "executing": "blue",
    "dispatched": "blue",
    "waiting": "yellow",
    "failed": "red",
    "timed_out": "red",
    "exhausted": "red",
    "cancelled": "bright_black",
}


def echo(text: str = "", *, err: bool = False) -> None:
    """A line for people. What comes from a run's data goes through `printable` first."""
    _put(text, err=err)


def echo_json(value: object) -> None:
    """One object for machines."""
    import msgspec

    _put(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def echo_data(value: object) -> None:
    """Data for people: laid out, and with nothing in it that a terminal would act on."""
    import msgspec

    for line in msgspec.json.format(msgspec.json.encode(value), indent=2).decode().split("\n"):
        echo(printable(line))


def echo_json_line(value: object) -> None:
    """One object of several, on a line of its own, at once."""
    import msgspec

    _put(msgspec.json.encode(value).decode())


def _put(text: str, *, err: bool = False) -> None:
    """Write a line. A reader who has gone away does not change what the run came to, or the exit code that says it."""
    try:
        click.echo(text, err=err, color=_colour())
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), (sys.stderr if err else sys.stdout).fileno())


def _colour() -> bool | None:
    return False if os.environ.get("NO_COLOR") else None  # None: as the terminal can


def styled_status(status: str) -> str:
    """A status in its colour."""
    colour = STATUS_COLOURS.get(status, "yellow" if status.startswith("waiting") else None)
    return click.style(status, fg=colour)


def printable(text: str) -> str:
    """The text on one line, with anything a terminal would act on made visible."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def short_json(value: object) -> str:
    """Data on one line, for people."""
    return printable(json.dumps(value, ensure_ascii=False, default=str))


def table(titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Columns as wide as their widest cell; the last one may be as long as it likes."""
    widths = [max(len(cells[i]) for cells in (titles, *rows)) for i in range(len(titles))]
    yield _cells(titles, widths, lambda cell, _: click.style(cell, bold=True))
    for row in rows:
        yield _cells(row, widths, lambda cell, title: styled_status(cell) if title == "STATUS" else cell, titles)


def _cells(
    cells: tuple[str, ...],
    widths: list[int],
    style: Callable[[str, str], str],
    titles: tuple[str, ...] | None = None,
) -> str:
    parts = [
        style(cell, title) + " " * (width - len(cell))
        for cell, width, title in zip(cells, widths, titles or cells, strict=True)
    ]
    return "  ".join(parts).rstrip()


@contextmanager
def reporting_errors(as_json: bool) -> Generator[None, None, None]:
    """Turns what is refused into an answer the caller can act on, and its exit code."""
    from jeton.model.failure import DefinitionError, Refused

    try:
        yield
    except DefinitionError as error:
        sys.exit(echo_problems(error.problems, as_json))
    except Refused as refused:
        sys.exit(echo_refusal(refused, as_json))


def echo_problems(problems: "tuple[Problem, ...]", as_json: bool) -> Exit:
    """What is wrong with definitions: on standard output for machines, on standard error for people."""
    import msgspec

    if as_json:
        echo_json({"ok": False, "problems": msgspec.to_builtins(problems)})
    for problem in () if as_json else problems:
        where = f"{problem.file}:{problem.line}: " if problem.file else ""
        echo(f"{where}{problem.severity} {problem.code} {problem.path}: {problem.problem}", err=True)
        echo(f"    {problem.remedy}", err=True)
    missing = any(problem.code == "file_not_found" for problem in problems)
    return Exit.NOT_FOUND if missing else Exit.BAD_USAGE


def echo_refusal(refused: "Refused", as_json: bool) -> Exit:
    """What was refused, why, and what can be done."""
    if as_json:
        answer: dict[str, Any] = {"code": refused.code, "problem": refused.problem, "remedy": refused.remedy}
        found = getattr(refused, "problems", None)
        echo_json({**answer, "problems": found} if found else answer)
    else:
        echo(f"{printable(refused.problem)}", err=True)
        if refused.remedy:
            echo(f"    {printable(refused.remedy)}", err=True)
    return EXITS.get(refused.code, Exit.REFUSED)

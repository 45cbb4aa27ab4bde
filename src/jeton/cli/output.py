"""Output of verbs: one JSON value for machines, short lines for people, and an exit code for both."""

import json
import os
import re
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from datetime import datetime

import click
import msgspec

from jeton.cli.options import Exit
from jeton.cli.problems import refusal_of
from jeton.engine.views.plain import plain
from jeton.model.codes import RefusalCode
from jeton.model.failure import DefinitionError, Problem, Refused

EXITS: dict[RefusalCode, Exit] = {
    "input_invalid": Exit.BAD_USAGE,
    "app_not_loaded": Exit.BAD_USAGE,
    "which_workflow": Exit.BAD_USAGE,
    "bad_reference": Exit.BAD_USAGE,
    "ambiguous": Exit.BAD_USAGE,
    "bad_amount": Exit.BAD_USAGE,
    "bad_query": Exit.BAD_USAGE,
    "not_a_conversation": Exit.BAD_USAGE,
    "not_a_flow": Exit.BAD_USAGE,
    "unknown_handle": Exit.BAD_USAGE,
    "bad_path": Exit.BAD_USAGE,
    "state_invalid": Exit.BAD_USAGE,
    "bad_argument": Exit.BAD_USAGE,
    "key_missing": Exit.BAD_USAGE,
    "unknown_key": Exit.NOT_FOUND,
    "file_not_found": Exit.NOT_FOUND,
    "unknown_run": Exit.NOT_FOUND,
    "unknown_gate": Exit.NOT_FOUND,
    "unknown_group": Exit.NOT_FOUND,
    "unknown_entry": Exit.NOT_FOUND,
    "no_fan_in": Exit.NOT_FOUND,
    "token_not_found": Exit.NOT_FOUND,
    "transition_not_found": Exit.NOT_FOUND,
    "unknown_workflow": Exit.NOT_FOUND,
    "unknown_trigger": Exit.NOT_FOUND,
    "unknown_memory": Exit.NOT_FOUND,
    "unknown_agent": Exit.NOT_FOUND,
    "unknown_server": Exit.NOT_FOUND,
    "unknown_tool": Exit.NOT_FOUND,
    "unknown_turn": Exit.NOT_FOUND,
    "unknown_persona": Exit.NOT_FOUND,
    "unknown_profile": Exit.NOT_FOUND,
    "unknown_query": Exit.NOT_FOUND,
    "unknown_artifact": Exit.NOT_FOUND,
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
MAX_SHOWN = 2000
# Control characters but for line breaks, tabs and our own colours (ESC), and those that change the direction of text.
# Escaped as JSON does, so that printed JSON keeps its value.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
SEVERITY_COLOURS = {"error": "red", "warning": "yellow"}


def echo(text: str = "", *, err: bool = False) -> None:
    """Print a line. Text from a run's data must go through `printable` first, which escapes line breaks and ESC too."""
    text = without_controls(text)
    colour = False if os.environ.get("NO_COLOR") else None  # None: only if the terminal has colours
    try:
        click.echo(text, err=err, color=colour)
    except BrokenPipeError:  # the reader is gone; the exit code must still be the verb's
        os.dup2(os.open(os.devnull, os.O_WRONLY), (sys.stderr if err else sys.stdout).fileno())


def without_controls(text: str) -> str:
    """The text with control and bidi characters escaped, but for line breaks, tabs and colours."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def echo_json(value: object) -> None:
    """Print one value as indented JSON."""
    echo(_indented(value))


def echo_json_line(value: object) -> None:
    """Print one value as JSON on a single line."""
    echo(msgspec.json.encode(value).decode())


def echo_data(value: object) -> None:
    """Print data for people: indented, with control characters escaped."""
    for line in _indented(value).split("\n"):
        echo(printable(line))


def _indented(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def echo_table(titles: tuple[str, ...], rows: Sequence[tuple[str, ...]], empty: str) -> None:
    """Print aligned columns, with the cells of STATUS in colour; without rows, print `empty`."""
    if not rows:
        echo(empty)
        return
    widths = [max(len(cells[i]) for cells in (titles, *rows)) for i in range(len(titles))]
    _echo_cells([(title, click.style(title, bold=True)) for title in titles], widths)
    for row in rows:
        cells = zip(titles, row, strict=True)
        _echo_cells([(cell, styled_status(cell) if title == "STATUS" else cell) for title, cell in cells], widths)


def _echo_cells(cells: list[tuple[str, str]], widths: list[int]) -> None:
    """Each cell as text and as styled text: styles have no width."""
    parts = [styled + " " * (width - len(text)) for (text, styled), width in zip(cells, widths, strict=True)]
    echo("  ".join(parts).rstrip())


def plain_list(values: Iterable[msgspec.Struct]) -> list[object]:
    """Records or views as plain JSON objects."""
    return [plain(value) for value in values]


def styled_status(status: str) -> str:
    """A status in its colour."""
    colour = STATUS_COLOURS.get(status, "yellow" if status.startswith("waiting") else None)
    return click.style(status, fg=colour)


def printable(text: str) -> str:
    """The text on one line, with control characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def echo_stack(stack: str | None) -> None:
    """Print a traceback line by line."""
    for line in (stack or "").splitlines():
        echo(f"    {printable(line)}")


def cut(text: str) -> str:
    """The text, with its end left out if it is very long."""
    left_out = len(text) - MAX_SHOWN
    return text if left_out <= 0 else f"{text[:MAX_SHOWN]}… ({left_out:,} more characters; --json has all)"


def short_json(value: object) -> str:
    """Data as printable JSON on one line."""
    return printable(json.dumps(value, ensure_ascii=False, default=str))


def local_time(time: datetime) -> str:
    """A time in the local zone, to the second."""
    return time.astimezone().isoformat(" ", "seconds")[:19]


def counted(count: int, noun: str) -> str:
    """`1 problem`, `2 problems`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


@contextmanager
def reporting_errors(as_json: bool) -> Generator[None]:
    """Print definition errors, refusals and errors of the system, and exit with their code."""
    try:
        yield
    except DefinitionError as error:
        if as_json:
            echo_json({"ok": False, "problems": error.problems})
        else:
            echo_problems(error.problems, err=True)
        sys.exit(exit_for(error.problems))
    except click.UsageError as error:
        if not as_json:
            raise
        _echo_refusal(_usage_refusal(error), None, as_json)
        sys.exit(Exit.BAD_USAGE)
    except Exception as error:
        refused = refusal_of(error)
        if refused is None:
            raise
        _echo_refusal(refused, getattr(error, "problems", None), as_json)  # InputInvalid has several problems
        sys.exit(EXITS.get(refused.code, Exit.REFUSED))


def _usage_refusal(error: click.UsageError) -> Refused:
    """An option that cannot be used, as a refusal: the one that it comes from, if there is one."""
    if isinstance(error.__cause__, Refused):
        return error.__cause__
    context = click.get_current_context(silent=True)
    verb = "jeton" if context is None else context.command_path
    return Refused("bad_argument", error.format_message(), f"see `{verb} --help`")


def echo_problems(problems: tuple[Problem, ...], *, err: bool = False) -> None:
    """Print problems of definitions, two lines each."""
    for problem in problems:
        where = problem.file + (f":{problem.line}" if problem.line else "")
        severity = click.style(problem.severity, fg=SEVERITY_COLOURS[problem.severity], bold=True)
        path = f" {problem.path}" if problem.path else ""
        where, rest = printable(f"{where}: " if where else ""), printable(f"{problem.code}{path}: {problem.problem}")
        echo(f"{where}{severity} {rest}", err=err)
        echo(click.style(f"    {printable(problem.remedy)}", dim=True), err=err)


def exit_for(problems: tuple[Problem, ...]) -> Exit:
    """The exit code for problems of definitions; warnings alone are none."""
    if any(problem.code == "file_not_found" for problem in problems):
        return Exit.NOT_FOUND
    return Exit.BAD_USAGE if any(problem.severity == "error" for problem in problems) else Exit.DONE


def _echo_refusal(refused: Refused, problems: object, as_json: bool) -> None:
    if as_json:
        answer: dict[str, object] = {"code": refused.code, "problem": refused.problem, "remedy": refused.remedy}
        echo_json({**answer, "problems": problems} if problems else answer)
        return
    echo(printable(refused.problem), err=True)
    if refused.remedy:
        echo(f"    {printable(refused.remedy)}", err=True)


def removal(trigger: str, file: str) -> str:
    """The line that reports a removed trigger."""
    return f"removed the trigger '{trigger}', which {printable(file)} no longer has"

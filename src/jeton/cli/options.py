"""Options that verbs share, and the exit codes of all verbs."""

import sys
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any, TypeVar

import click

DEFAULT_STORE = "jeton.db"

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Exit(IntEnum):
    """Exit codes, for scripts."""

    DONE = 0
    RUN_FAILED = 1  # failed, cancelled, timed out or exhausted
    BAD_USAGE = 2  # or a definition error
    NOT_FOUND = 3
    STILL_WAITING = 4
    REFUSED = 5


def store_option(command: _Command) -> _Command:
    """`--store PATH`."""
    return click.option(
        "--store",
        envvar="JETON_STORE",
        default=DEFAULT_STORE,
        show_default=True,
        show_envvar=True,
        type=click.Path(dir_okay=False),
        help="The SQLite file with the runs.",
    )(command)


def json_option(command: _Command) -> _Command:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON only.")(command)


def app_option(command: _Command) -> _Command:
    """`--app`."""
    text = "Import the module or file that defines the Python actions."
    return click.option("--app", metavar="MODULE[:NAME]|FILE.py", help=text)(command)


def wait_option(command: _Command) -> _Command:
    """`--wait`."""
    text = "Follow the run for at most S seconds."
    return click.option("--wait", "wait_s", type=click.FloatRange(min=0), metavar="S", help=text)(command)


def read_text(given: str, option: str) -> str:
    """The text of an option's value: the value itself, a file (`@FILE`) or standard input (`@-`)."""
    if not given.startswith("@"):
        return given
    try:
        data = sys.stdin.buffer.read() if given == "@-" else Path(given[1:]).read_bytes()
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{given[1:]} cannot be read: {error}", param_hint=option) from None

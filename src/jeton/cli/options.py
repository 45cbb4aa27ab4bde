"""What verbs have in common: the options each of them takes, and what they exit with."""

import sys
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any, TypeVar

import click

DEFAULT_STORE = "jeton.db"

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Exit(IntEnum):
    """How a verb ended, for scripts."""

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
        help="The file that keeps the runs.",
    )(command)


def json_option(command: _Command) -> _Command:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for machines, and nothing else.")(command)


def app_option(command: _Command) -> _Command:
    """`--app`."""
    return click.option("--app", metavar="MODULE:NAME|FILE.py", help="What defines the Python actions.")(command)


def input_text(given: str) -> str:
    """What `--input` stands for: itself, or a file's content."""
    if not given.startswith("@"):
        return given
    try:
        data = sys.stdin.buffer.read() if given == "@-" else Path(given[1:]).read_bytes()
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{given[1:]} cannot be read: {error}", param_hint="--input") from None

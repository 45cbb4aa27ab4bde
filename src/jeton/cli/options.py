"""Options that verbs share, and the exit codes of all verbs."""

import sys
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from shlex import quote
from typing import Any, ClassVar, TypeVar

import click
from click.core import ParameterSource

from jeton.model.state.run import RunStatus

DEFAULT_STORE = "jeton.db"
MAX_TEXT_BYTES = 64_000_000
UNFINISHED: tuple[RunStatus, ...] = ("submitted", "running", "waiting")
ENDED: tuple[RunStatus, ...] = ("completed", "failed", "cancelled", "timed_out", "exhausted")

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Exit(IntEnum):
    """Exit codes, for scripts."""

    DONE = 0
    RUN_FAILED = 1  # failed, cancelled, timed out or exhausted
    BAD_USAGE = 2  # or a definition error
    NOT_FOUND = 3
    STILL_WAITING = 4
    REFUSED = 5


def at_option(command: _Command) -> _Command:
    """`--at ENTRY`."""
    return click.option(
        "--at", type=click.IntRange(min=0), metavar="ENTRY", help="Show it as it was after this journal entry."
    )(command)


def store_option(command: _Command) -> _Command:
    """`--store PATH`, and `--url URL` in its place: the verb then has the URL as its store."""
    return click.option(
        "--url",
        expose_value=False,
        is_eager=True,
        metavar="URL",
        callback=_remember_url,
        help="Ask the server at this address instead; its key is taken from $JETON_KEY.",
    )(_store_only(command))


URL = "jeton.url"


def _remember_url(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Keep the URL for the option `--store`, which is read next."""
    if value is None:
        return
    if not value.startswith(("http://", "https://")):
        raise click.BadParameter("an address begins with http:// or https://", ctx=context, param=option)
    context.meta[URL] = value


def _store_or_url(context: click.Context, option: click.Parameter, value: str) -> str:
    url: str | None = context.meta.get(URL)
    if url is not None and context.get_parameter_source("store") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--store and --url exclude each other", ctx=context)
    return value if url is None else url


def _store_only(command: _Command) -> _Command:
    return click.option(
        "--store",
        envvar="JETON_STORE",
        default=DEFAULT_STORE,
        show_default=True,
        show_envvar=True,
        type=click.Path(dir_okay=False),
        callback=_store_or_url,
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


def given_options(app: str | None = None) -> str:
    """`--store`, `--url` and `--app` as they were given to this command, for commands that people may paste."""
    context = click.get_current_context(silent=True)
    if context is None:
        return ""
    given = [name for name in ("store", "app") if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    values = {**({"app": app} if app is not None else {}), **{name: context.params[name] for name in given}}
    if URL in context.meta:
        values["url"] = context.meta[URL]
    return "".join(f" --{name} {quote(values[name])}" for name in ("store", "url", "app") if name in values)


class Duration(click.ParamType[int]):
    """A number with a unit, such as `30d`, converted to milliseconds."""

    name = "duration"
    units: ClassVar = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        number, unit = text[:-1], text[-1:]
        if not (number.isascii() and number.isdigit() and unit in self.units):
            self.fail(f"{text!r} is not a number with a unit: write 90s, 45m, 12h, 30d or 4w", param, ctx)
        return int(number) * self.units[unit]


DURATION = Duration()


def read_text(given: str, option: str) -> str:
    """The text of an option's value: the value itself, a file (`@FILE`) or standard input (`@-`)."""
    if not given.startswith("@"):
        return given
    name = "standard input" if given == "@-" else given[1:]
    try:
        if given == "@-":
            data = sys.stdin.buffer.read(MAX_TEXT_BYTES + 1)
        else:
            with Path(given[1:]).open("rb") as file:
                data = file.read(MAX_TEXT_BYTES + 1)
        if len(data) > MAX_TEXT_BYTES:
            problem = f"{name} is larger than {MAX_TEXT_BYTES // 1_000_000} MB"
            raise click.BadParameter(problem, param_hint=option)
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{name} cannot be read: {error}", param_hint=option) from None

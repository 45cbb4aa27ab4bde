"""Sharing the terminal with what actions print: their lines are printed above the live view."""

import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # rich is slow to import, and only a terminal needs it
    from rich.console import Console

DRAIN_S = 1.0
PRINTING = threading.Lock()
"""Held to print a line, and to start or stop a view: in the middle of that, a line would be printed into the view."""


@contextmanager
def shared_terminal(as_json: bool) -> Generator["Console | None"]:
    """A console for a live view; None for machines, and where there is no terminal.

    Standard output and standard error, also of worker processes that are started meanwhile, go through a pipe, and come
    out line by line above the view."""
    if as_json or not sys.stdout.isatty():
        yield None
        return
    from rich.console import Console

    shared = [fd for fd in (1, 2) if os.isatty(fd)]
    kept = {fd: os.dup(fd) for fd in shared}
    reading, writing = os.pipe()
    with os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace") as screen:
        console = Console(file=screen)
        printer = threading.Thread(target=_print_lines, args=(reading, console), daemon=True)
        _flush()
        for fd in shared:
            os.dup2(writing, fd)
        os.close(writing)
        printer.start()
        try:
            yield console
        finally:
            _flush()
            for fd, original in kept.items():
                os.dup2(original, fd)
                os.close(original)
            printer.join(DRAIN_S)  # a process that still has the pipe must not hold us up


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()


def _print_lines(reading: int, console: "Console") -> None:
    rest = b""
    while found := os.read(reading, 65_536):
        *lines, rest = (rest + found).split(b"\n")
        for line in lines:
            _print(line, console)
    if rest:
        _print(rest, console)
    os.close(reading)


def _print(line: bytes, console: "Console") -> None:
    from rich.text import Text

    from jeton.cli.output import without_controls

    text = Text.from_ansi(without_controls(line.decode(errors="backslashreplace").rstrip("\r")))
    with PRINTING:
        console.print(text, soft_wrap=True)

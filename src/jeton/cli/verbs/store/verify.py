"""`jeton verify`: whether a store is whole, and which runs are concerned if it is not."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jeton.cli.options import Exit, json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors

if TYPE_CHECKING:
    from jeton.hosts.sqlite.tools.verify import Verified


@click.command("verify")
@store_option
@json_option
def command(store: str, as_json: bool) -> None:
    """Look for damage that SQLite's own check does not see. The store may be in use.

    Exits with 0 if the store is whole, with 1 if it is not.
    """
    from jeton.hosts.sqlite.tools.verify import verify

    with reporting_errors(as_json):
        found = verify(Path(store).absolute())
    if as_json:
        echo_json(found)
    else:
        _echo(found)
    sys.exit(Exit.DONE if found.ok else Exit.RUN_FAILED)


def _echo(found: "Verified") -> None:
    for problem in found.problems:
        where = "the store" if problem.run_id is None else f"run {problem.run_id}"
        echo(f"{click.style(printable(where), bold=True)}: {printable(problem.problem)}")
    count = len(found.problems)
    if found.ok:
        echo(click.style("no problems", fg="green"))
    else:
        echo(click.style(f"{count} problem{'' if count == 1 else 's'}", fg="red", bold=True))

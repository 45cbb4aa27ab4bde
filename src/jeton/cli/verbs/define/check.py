"""`jeton check FILE…`: every problem in definition files."""

import sys

import click

from jeton.cli.library import load_file
from jeton.cli.options import app_option, store_option
from jeton.cli.output import counted, echo, echo_json, echo_problems, exit_for, reporting_errors
from jeton.cli.store import is_url
from jeton.model.failure import Problem


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path())
@app_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON only: {ok, problems}.")
@store_option
def command(files: tuple[str, ...], app: str | None, as_json: bool, store: str) -> None:
    """Report every problem in definition files and folders, and in Python files that build workflows.

    With --url, the server checks them, with the Python functions that it has. Exits with 0 if there are no errors
    (there may be warnings), with 2 if there are, with 3 if a file was not found.
    """
    with reporting_errors(as_json):
        ok, problems = _checked_there(store, files) if is_url(store) else _checked(files, app)
    if as_json:
        echo_json({"ok": ok, "problems": problems})
    else:
        echo_problems(problems)
        echo(_summary(problems))
    sys.exit(exit_for(problems))


def _checked(files: tuple[str, ...], app: str | None) -> tuple[bool, tuple[Problem, ...]]:
    loaded = load_file(*files, app=app)
    return loaded.ok, loaded.problems


def _checked_there(url: str, files: tuple[str, ...]) -> tuple[bool, tuple[Problem, ...]]:
    from jeton.cli.remote import at_server, check_at  # the client is loaded for a server only

    found = at_server(url, lambda engine: check_at(engine, *files))
    return found.ok, found.problems


def _summary(problems: tuple[Problem, ...]) -> str:
    if not problems:
        return click.style("no problems", fg="green")
    errors = sum(problem.severity == "error" for problem in problems)
    counts = ((errors, "error"), (len(problems) - errors, "warning"))
    text = ", ".join(counted(count, noun) for count, noun in counts if count)
    return click.style(text, fg="red" if errors else "yellow", bold=True)

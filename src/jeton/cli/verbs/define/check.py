"""`jeton check FILE…`: every problem in definition files."""

import sys

import click

from jeton.cli.library import load_file
from jeton.cli.options import app_option
from jeton.cli.output import counted, echo, echo_json, echo_problems, exit_for, reporting_errors
from jeton.model.failure import Problem


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path())
@app_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON only: {ok, problems}.")
@click.option("--store", hidden=True, help="Accepted by every verb; not used.")
@click.option("--url", hidden=True, help="Accepted by every verb; not used.")
def command(files: tuple[str, ...], app: str | None, as_json: bool, store: str | None, url: str | None) -> None:
    """Report every problem in definition files and folders, and in Python files that build workflows.

    Exits with 0 if there are no errors (there may be warnings), with 2 if there are, with 3 if a file was not found.
    """
    with reporting_errors(as_json):
        loaded = load_file(*files, app=app)
    if as_json:
        echo_json({"ok": loaded.ok, "problems": loaded.problems})
    else:
        echo_problems(loaded.problems)
        echo(_summary(loaded.problems))
    sys.exit(exit_for(loaded.problems))


def _summary(problems: tuple[Problem, ...]) -> str:
    if not problems:
        return click.style("no problems", fg="green")
    errors = sum(problem.severity == "error" for problem in problems)
    counts = ((errors, "error"), (len(problems) - errors, "warning"))
    text = ", ".join(counted(count, noun) for count, noun in counts if count)
    return click.style(text, fg="red" if errors else "yellow", bold=True)

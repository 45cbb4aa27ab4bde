"""`jeton verify`: check a store for damage."""

import sys

import click

from jeton.cli.options import Exit, json_option, store_option
from jeton.cli.output import counted, echo, echo_json, printable, reporting_errors
from jeton.cli.problems import refusal_of
from jeton.cli.store import is_url
from jeton.engine.stores import Finding, Verified, verify_store


@click.command("verify")
@store_option
@json_option
def command(store: str, as_json: bool) -> None:
    """Check everything in a store for damage, including damage that SQLite's own check does not find.

    The store may be in use. A problem names the run, or the table and the row, and what to do.

    Exits with 0 if the store is intact, with 1 if not.
    """
    with reporting_errors(as_json):
        found = _verified_there(store) if is_url(store) else _verified(store)
    if as_json:
        echo_json(found)
    else:
        _echo(found)
    sys.exit(Exit.DONE if found.ok else Exit.RUN_FAILED)


def _verified(store: str) -> Verified:
    """What is wrong with the store. One that is too damaged to be read has this problem alone."""
    try:
        return verify_store(store)
    except Exception as error:
        refused = refusal_of(error)
        if refused is None or refused.code != "store_damaged":
            raise
        return Verified(ok=False, problems=(Finding(None, refused.problem),))


def _verified_there(url: str) -> Verified:
    from jeton.cli.remote import at_server  # the client is loaded for a server only

    return at_server(url, lambda engine: engine.connection.post("/store/verify", Verified))


def _echo(found: Verified) -> None:
    for problem in found.problems:
        where = "the store" if problem.run_id is None else f"run {problem.run_id}"
        echo(f"{click.style(printable(where), bold=True)}: {printable(problem.problem)}")
    if found.ok:
        echo(click.style("no problems", fg="green"))
    else:
        echo(click.style(counted(len(found.problems), "problem"), fg="red", bold=True))

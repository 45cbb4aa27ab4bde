"""`jeton explain RUN`: why a run did what it did."""

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors
from jeton.cli.store import ask
from jeton.engine.views.explain import explained
from jeton.engine.views.plain import plain


@click.command("explain")
@click.argument("run")
@click.option("--token", type=int, metavar="ID", help="Explain one token.")
@click.option("--transition", type=int, metavar="INDEX", help="Explain one transition, by its index in the definition.")
@store_option
@json_option
def command(run: str, token: int | None, transition: int | None, store: str, as_json: bool) -> None:
    """Explain why a run, a token or a transition did what it did.

    Shows the transitions considered at each routing, the values each condition read, what tokens wait for and since
    when, and what was stopped and why.
    """
    with reporting_errors(as_json):
        explanation = ask(store, lambda engine: engine.explain(run, token=token, transition=transition))
        if as_json:
            echo_json(plain(explanation))
        else:
            for line in explained(explanation).split("\n"):
                echo(printable(line))

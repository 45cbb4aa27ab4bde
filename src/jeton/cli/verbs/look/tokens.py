"""`jeton tokens RUN`: every token of a run, past and present."""

import click

from jeton.cli.options import at_option, json_option, store_option
from jeton.cli.output import echo_json, echo_table, local_time, plain_list, printable, reporting_errors
from jeton.cli.store import ask
from jeton.engine.views.tokens import TokenView


@click.command("tokens")
@click.argument("run")
@at_option
@store_option
@json_option
def command(run: str, at: int | None, store: str, as_json: bool) -> None:
    """List a run's tokens, including those that have ended."""
    with reporting_errors(as_json):
        tokens = ask(store, lambda engine: engine.tokens(run, at=at))
        if as_json:
            echo_json({"tokens": plain_list(tokens)})
        else:
            titles = ("TOKEN", "NODE", "STATUS", "PATH", "PARENT", "ATTEMPT", "NOTE")
            echo_table(titles, [_row(token) for token in tokens], "no tokens")


def _row(token: TokenView) -> tuple[str, ...]:
    parent = "" if token.parent is None else str(token.parent)
    return str(token.id), token.node, token.status, token.path, parent, str(token.attempt), printable(_note(token))


def _note(token: TokenView) -> str:
    if token.reason is not None:
        return token.reason
    if token.status == "waiting_for_siblings":
        return f"at the fan-in of '{token.waits_at}'"
    if token.status == "waiting_for_subworkflow":
        return f"for run {token.child}"
    if token.due is not None or token.status in ("waiting_for_gate", "waiting_for_signal"):
        until = "" if token.due is None else f"until {local_time(token.due)}"
        signal = f"the signal '{token.signal}'" if token.status == "waiting_for_signal" else None
        return ", ".join(filter(None, (signal, token.label, until)))
    return str(token.error.get("message", "")) if token.error is not None else ""

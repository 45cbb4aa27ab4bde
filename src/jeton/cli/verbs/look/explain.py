"""`jeton explain RUN`: why a run did what it did."""

import click

from jeton.cli.chatting.show import echo_move
from jeton.cli.options import at_option, json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors
from jeton.cli.store import ask
from jeton.engine.engine import Engine
from jeton.engine.talk.looking_back import MoveExplanation
from jeton.engine.views.explain import explained
from jeton.engine.views.plain import plain


@click.command("explain")
@click.argument("run")
@click.option("--token", type=int, metavar="ID", help="Explain one token.")
@click.option("--transition", type=int, metavar="INDEX", help="Explain one transition, by its index in the definition.")
@click.option("--turn", type=click.IntRange(min=1), metavar="ID", help="Of a conversation: explain this turn.")
@click.option(
    "--move", type=click.IntRange(min=0), default=0, metavar="N", help="With --turn: this answer of the model."
)
@at_option
@store_option
@json_option
def command(
    run: str,
    token: int | None,
    transition: int | None,
    turn: int | None,
    move: int,
    at: int | None,
    store: str,
    as_json: bool,
) -> None:
    """Explain why a run, a token or a transition did what it did.

    Shows the transitions considered at each routing, the values each condition read, what tokens wait for and since
    when, and what was stopped and why. Of a conversation, --turn shows what the model was given for an answer.
    """
    with reporting_errors(as_json):
        if turn is not None:
            number = turn

            async def read(engine: Engine) -> MoveExplanation:
                return await (await engine.converse("", conversation=run)).explain(number, move)

            given = ask(store, read)
            echo_json(plain(given)) if as_json else echo_move(given)
            return
        explanation = ask(store, lambda engine: engine.explain(run, token=token, transition=transition, at=at))
        if as_json:
            echo_json(plain(explanation))
        else:
            for line in explained(explanation).split("\n"):
                echo(printable(line))

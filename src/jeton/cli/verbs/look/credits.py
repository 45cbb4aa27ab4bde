"""`jeton credits`: the project's account, and what was used."""

from collections import Counter

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, echo_table, plain_list, reporting_errors
from jeton.cli.store import ask
from jeton.engine.credits import CreditsView, UsageView
from jeton.engine.engine import Engine
from jeton.engine.views.plain import plain


@click.command("credits")
@click.option("--top-up", "amount", type=int, metavar="N", help="Add N credits to the account first.")
@click.option("--run", metavar="RUN", help="Show what this run used.")
@click.option("--tree", is_flag=True, help="With --run: include the runs it called, at any depth.")
@click.option("--workflow", metavar="NAME", help="Show what runs of this workflow used.")
@click.option("--day", metavar="YYYY-MM-DD", help="Show what was used on this day (UTC).")
@store_option
@json_option
def command(
    amount: int | None, run: str | None, tree: bool, workflow: str | None, day: str | None, store: str, as_json: bool
) -> None:
    """Show the project's account, credits used by workflow and day, and tokens used by model profile.

    Exits with 5 if --top-up is given and the project has no account.
    """

    async def read(engine: Engine) -> tuple[CreditsView, tuple[UsageView, ...]]:
        account = await engine.credits() if amount is None else await engine.top_up(amount)
        return account, await engine.usage(run, workflow=workflow, day=day, tree=tree)

    with reporting_errors(as_json):
        account, usage = ask(store, read)
        if as_json:
            echo_json({**plain(account), "usage": plain_list(usage)})
        else:
            _echo(account, usage)


def _echo(account: CreditsView, usage: tuple[UsageView, ...]) -> None:
    unlimited = account.balance is None
    echo("no limit" if unlimited else f"{account.balance} left, {account.granted} reserved by unfinished runs")
    days = Counter[tuple[str, str, str]]()
    profiles = Counter[tuple[str, str, str]]()
    for each in usage:
        days[each.day, each.workflow, "used"] += each.credits
        days[each.day, each.workflow, "shortfall"] += each.shortfall
        for profile, tokens in each.tokens.items():
            profiles[each.day, profile, "input"] += tokens.input
            profiles[each.day, profile, "output"] += tokens.output
    _echo_sums(("DAY", "WORKFLOW", "USED", "SHORTFALL"), days)
    _echo_sums(("DAY", "PROFILE", "INPUT", "OUTPUT"), profiles)


def _echo_sums(titles: tuple[str, str, str, str], sums: Counter[tuple[str, str, str]]) -> None:
    """Print a table with two sums per day and name."""
    keys = dict.fromkeys((day, name) for day, name, _ in sums)
    rows = [(day, name, *(str(sums[day, name, title.lower()]) for title in titles[2:])) for day, name in keys]
    if rows:
        echo_table(titles, rows, "")

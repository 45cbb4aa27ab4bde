"""`jeton ls`: the runs of a store, newest first."""

import click

from jeton.cli.options import ENDED, UNFINISHED, json_option, store_option
from jeton.cli.output import echo, echo_json, echo_table, local_time, printable, reporting_errors
from jeton.cli.store import ask, is_url, remote_engine, set_aside_remedy, set_aside_sentences
from jeton.engine.engine import Engine
from jeton.engine.views.plain import plain
from jeton.engine.views.record import RunRecord
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from jeton.model.state.run import RunStatus

FLAWS = {"run_damaged": ", damaged", "run_set_aside": ", set aside"}


@click.command("ls")
@click.option("--workflow", metavar="NAME", help="List runs of this workflow only.")
@click.option("--status", type=click.Choice(UNFINISHED + ENDED), help="List runs with this status only.")
@click.option("--after", metavar="RUN", help="List runs older than this one: the last run of the previous page.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 10_000), help="List at most this many.")
@click.option("--query", "saved", metavar="NAME", help="List runs that a saved query finds.")
@click.option("--search", "q", metavar="QUERY", help="List runs that fit: `error:timeout state.order.amount:12`, …")
@click.option("--conversations", is_flag=True, help="List conversations with agents, and no runs.")
@click.option("--agent", metavar="NAME", help="With --conversations: of this agent only.")
@store_option
@json_option
def command(
    workflow: str | None,
    status: RunStatus | None,
    after: str | None,
    limit: int,
    saved: str | None,
    q: str | None,
    conversations: bool,
    agent: str | None,
    store: str,
    as_json: bool,
) -> None:
    """List runs, newest first."""
    if agent is not None and not conversations:
        raise click.UsageError("--agent goes with --conversations")
    if conversations and (saved is not None or q is not None):
        raise click.UsageError("--query and --search find runs, and no conversations")
    with reporting_errors(as_json):
        if conversations:
            _list_conversations(store, agent, after, limit, as_json)
            return

        async def runs_and_set_aside(engine: Engine) -> tuple[tuple[RunRecord, ...], dict[RunId, str]]:
            queries = ([] if saved is None else [await _saved(engine, saved)]) + ([] if q is None else [q])
            both = " ".join(queries) if queries else None
            found = await engine.list(workflow=workflow, status=status, after=after, limit=limit, q=both)
            return found, _listed_aside(found) if is_url(store) else set_aside_sentences(engine)

        runs, set_aside = ask(store, runs_and_set_aside)
        if as_json:
            shown = {"runs": [_without_firings(plain(run)) for run in runs]}
            echo_json({**shown, "set_aside": set_aside} if set_aside else shown)
            return
        echo_table(("RUN", "WORKFLOW", "STATUS", "SUBMITTED", "TOOK"), [_row(run) for run in runs], "no runs")
        for sentence in set_aside.values():
            echo(printable(sentence), err=True)


async def _saved(engine: Engine, name: str) -> str:
    """The query that somebody saved under a name, in the store or at a server."""
    there = remote_engine(engine)
    if there is None:
        found = next((query.q for query in await engine.access.queries() if query.name == name), None)
    else:
        from jeton.cli.remote import saved_query  # the client is loaded for a server only

        found = await saved_query(there, name)
    if found is None:
        raise Refused("unknown_query", f"there is no saved query '{name}'", "save it on the page, or use --search")
    return found


def _listed_aside(runs: tuple[RunRecord, ...]) -> dict[RunId, str]:
    """The listed runs that are set aside, each with the problem and what to do."""
    aside = {run.run_id: run.error for run in runs if run.error is not None and run.error.type == "run_set_aside"}
    return {run: f"{error.message}: {set_aside_remedy(run)}" for run, error in aside.items()}


def _list_conversations(store: str, agent: str | None, after: str | None, limit: int, as_json: bool) -> None:
    found = ask(store, lambda engine: engine.conversations(agent=agent, after=after, limit=limit))
    if as_json:
        echo_json({"conversations": [plain(each) for each in found]})
        return
    rows = [(each.id, each.agent, each.status, str(each.turns), local_time(each.since)) for each in found]
    echo_table(("CONVERSATION", "AGENT", "STATUS", "TURNS", "SINCE"), rows, "no conversations")


def _without_firings(run: JsonObject) -> JsonObject:
    """Lists leave `fired` unset: it is looked up for single runs only."""
    return {key: value for key, value in run.items() if key != "fired"}


def _row(run: RunRecord) -> tuple[str, ...]:
    took = "" if run.completed_at is None else f"{(run.completed_at - run.submitted_at).total_seconds():.1f} s"
    flaw = "" if run.error is None or run.ended else FLAWS.get(run.error.type, "")
    status = f"{run.status}{flaw}"
    return run.run_id, f"{run.workflow}@{run.version}", status, local_time(run.submitted_at), took

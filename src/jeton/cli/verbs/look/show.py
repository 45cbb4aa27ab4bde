"""`jeton show RUN`: one run's record."""

import asyncio
from typing import TYPE_CHECKING

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors, short_json, styled_status

if TYPE_CHECKING:
    from jeton.engine.views.published import MetricValue
    from jeton.engine.views.record import RunRecord
    from jeton.engine.views.words import Words


@click.command("show")
@click.argument("run")
@click.option("--words", type=click.Choice(("editor", "dataflow")), help="In the words of other engines, as JSON.")
@store_option
@json_option
def command(run: str, words: "Words | None", store: str, as_json: bool) -> None:
    """Show how a run stands."""
    from jeton.engine.engine import open
    from jeton.engine.views.plain import plain
    from jeton.engine.views.words import in_words

    async def shown() -> "tuple[RunRecord, tuple[MetricValue, ...]]":
        async with open(store, owner=False) as engine:
            return await engine.get(run), await engine.metrics(run)

    with reporting_errors(as_json):
        record, metrics = asyncio.run(shown())
        if words is not None:
            echo_json(in_words(record, words))
        elif as_json:
            echo_json({**plain(record), "metrics": [plain(metric) for metric in metrics]})
        else:
            echo_record(record)
            for firing in record.fired or ():
                became = firing.run_id or f"refused, {firing.code}: {firing.problem}"
                echo(f"{'fired':>16}  {printable(f'{firing.trigger} ({firing.type})')}  {printable(became)}")
            for metric in metrics:
                labels = ", ".join(f"{name}={value}" for name, value in metric.labels.items())
                echo(f"{'metric':>16}  {printable(metric.name + (f' ({labels})' if labels else ''))}  {metric.value:g}")


def echo_record(record: "RunRecord") -> None:
    """The fields that say something, one to a line."""
    from jeton.engine.views.plain import plain

    for name, value in plain(record).items():
        if value in (None, [], {}, False) or name == "fired":
            continue
        shown = styled_status(record.status) if name == "status" else value
        text = shown if isinstance(shown, str) else short_json(shown)
        echo(f"{name:>16}  {text if name == 'status' else printable(text)}")

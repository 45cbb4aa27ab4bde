"""`jeton show RUN`: one run's record."""

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, plain_list, printable, reporting_errors, short_json, styled_status
from jeton.cli.store import ask
from jeton.engine.engine import Engine
from jeton.engine.views.dialects import Dialect, in_dialect
from jeton.engine.views.plain import plain
from jeton.engine.views.published import MetricValue
from jeton.engine.views.record import RunRecord


@click.command("show")
@click.argument("run")
@click.option(
    "--words", type=click.Choice(("editor", "dataflow")), help="Print JSON with another engine's field names."
)
@store_option
@json_option
def command(run: str, words: Dialect | None, store: str, as_json: bool) -> None:
    """Show a run's record, the triggers it fired and its metrics."""

    async def read(engine: Engine) -> tuple[RunRecord, tuple[MetricValue, ...]]:
        return await engine.get(run), await engine.metrics(run)

    with reporting_errors(as_json):
        record, metrics = ask(store, read)
        if words is not None:
            echo_json(in_dialect(record, words))
        elif as_json:
            echo_json({**plain(record), "metrics": plain_list(metrics)})
        else:
            _echo_record(record)
            for metric in metrics:
                labels = ", ".join(f"{name}={value}" for name, value in metric.labels.items())
                echo(f"{'metric':>16}  {printable(metric.name + (f' ({labels})' if labels else ''))}  {metric.value:g}")


def _echo_record(record: RunRecord) -> None:
    """Print the fields that are set, one per line."""
    for name, value in plain(record).items():
        if value in (None, [], {}, False) or name == "fired":
            continue
        text = printable(value) if isinstance(value, str) else short_json(value)
        echo(f"{name:>16}  {styled_status(record.status) if name == 'status' else text}")
    for firing in record.fired or ():
        result = firing.run_id or f"refused, {firing.code}: {firing.problem}"
        echo(f"{'fired':>16}  {printable(f'{firing.trigger} ({firing.type})')}  {printable(result)}")

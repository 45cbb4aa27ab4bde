"""`jeton show RUN`: one run's record."""

import click

from jeton.cli.chatting.show import conversation_json, echo_conversation
from jeton.cli.options import at_option, json_option, store_option
from jeton.cli.output import (
    cut,
    echo,
    echo_json,
    echo_stack,
    plain_list,
    printable,
    reporting_errors,
    short_json,
    styled_status,
)
from jeton.cli.store import ask, is_url
from jeton.cli.verbs.look.events import without_stack
from jeton.engine.engine import Engine
from jeton.engine.views.conversation import ConversationView
from jeton.engine.views.dialects import Dialect, in_dialect
from jeton.engine.views.fan_outs import FanOutTable, losses
from jeton.engine.views.flows import definition_in
from jeton.engine.views.plain import plain
from jeton.engine.views.published import MetricValue
from jeton.engine.views.record import RunRecord
from jeton.model.definition.agent import agent_of
from jeton.model.definition.flow import Flow
from jeton.model.definition.workflow import Transition


@click.command("show")
@click.argument("run")
@click.option(
    "--words", type=click.Choice(("editor", "dataflow")), help="Print JSON with another engine's field names."
)
@at_option
@store_option
@json_option
def command(run: str, words: Dialect | None, at: int | None, store: str, as_json: bool) -> None:
    """Show a run's record, the triggers it fired and its metrics; or a conversation with all its turns."""

    async def read(engine: Engine) -> tuple[RunRecord, tuple[MetricValue, ...], list[str]] | ConversationView:
        record = await engine.get(run, at=at)
        if at is not None:
            return record, (), []
        if agent_of(record.workflow) is not None:
            return await engine.conversation(run)
        return (
            record,
            await engine.metrics(run),
            [] if as_json or words or is_url(store) else await _losses(engine, record),
        )

    with reporting_errors(as_json):
        found = ask(store, read)
        if isinstance(found, ConversationView):
            echo_json(conversation_json(found)) if as_json else echo_conversation(found)
            return
        record, metrics, lost = found
        if words is not None:
            echo_json(in_dialect(record, words))
        elif as_json:
            echo_json({**plain(record), "metrics": plain_list(metrics)})
        else:
            _echo_record(record, lost)
            for metric in metrics:
                labels = ", ".join(f"{name}={value}" for name, value in metric.labels.items())
                echo(f"{'metric':>16}  {printable(metric.name + (f' ({labels})' if labels else ''))}  {metric.value:g}")


async def _losses(engine: Engine, record: RunRecord) -> list[str]:
    """What became of lost branches. The journal is read only if the workflow fans out over a list or a number."""
    definition = definition_in(await engine.workflow(f"{record.workflow}@{record.version}"), record.workflow)
    if isinstance(definition, Flow) or not any(map(_fans_out, definition.transitions)):
        return []
    table = FanOutTable()
    async for entry in engine.journal(record.run_id):
        table.take(entry)
    return list(losses(table.views.values()))


def _fans_out(transition: Transition) -> bool:
    return transition.foreach is not None or transition.spawn_count is not None


def _echo_record(record: RunRecord, lost: list[str]) -> None:
    """Print the fields that are set, one per line."""
    for name, value in plain(record).items():
        if value in (None, [], {}, False) or name in ("fired", "error_stack"):
            continue
        value = without_stack(value)
        text = cut(printable(value) if isinstance(value, str) else short_json(value))
        echo(f"{name:>16}  {styled_status(record.status) if name == 'status' else text}")
        for line in lost if name == "status" else ():
            echo(f"{'branches':>16}  {cut(printable(line))}")
        if name == "error":
            echo_stack(record.error_stack)
    for firing in record.fired or ():
        result = firing.run_id or f"refused, {firing.code}: {firing.problem}"
        echo(f"{'fired':>16}  {printable(f'{firing.trigger} ({firing.type})')}  {printable(result)}")

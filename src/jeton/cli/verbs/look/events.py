"""`jeton events RUN`: a run's events, in order."""

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import cut, echo, echo_json, echo_json_line, printable, reporting_errors, short_json
from jeton.cli.store import ask
from jeton.engine.engine import Engine
from jeton.model.json import Json, JsonObject

ENVELOPE = ("seq", "at", "run_id", "type", "entry")


@click.command("events")
@click.argument("run")
@click.option("--follow", is_flag=True, help="Wait for new events until the run has ended.")
@click.option("--after", default=-1, metavar="SEQ", help="List events after this sequence number of the run.")
@click.option("--trace", is_flag=True, help="Include decisions, as decision.* events without a sequence number.")
@store_option
@json_option
def command(run: str, follow: bool, after: int, trace: bool, store: str, as_json: bool) -> None:
    """List the events of a run and of the runs it called. Each run has its own sequence.

    With --json: one object {events: […]}, or with --follow one event per line.
    """
    found: list[JsonObject] = []

    async def read(engine: Engine) -> None:
        async for event in engine.events(run, after, follow=follow, trace=trace):
            if not as_json:
                echo(event_line(event, run))
            elif follow:
                echo_json_line(event)
            else:
                found.append(event)

    with reporting_errors(as_json):
        ask(store, read)
        if as_json and not follow:
            echo_json({"events": found})


def event_line(event: JsonObject, root: str) -> str:
    """An event as one line: sequence number, time, type and fields; with its run if that is not the root."""
    seq = str(event.get("seq", ""))
    fields = [f"{key}={cut(short_json(without_stack(value)))}" for key, value in event.items() if key not in ENVELOPE]
    if event["run_id"] != root:
        fields.insert(0, f"run={printable(str(event['run_id']))}")
    return f"{seq:>5}  {str(event['at'])[11:23]}  {printable(str(event['type'])):<18} {'  '.join(fields)}".rstrip()


def without_stack(value: Json) -> Json:
    """An error without its traceback, which `show` and `explain` print line by line."""
    details = value.get("details") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(details, dict) or "stack" not in details:
        return value
    rest: Json = {key: each for key, each in details.items() if key != "stack"}
    return {**{key: each for key, each in value.items() if key != "details"}, **({"details": rest} if rest else {})}

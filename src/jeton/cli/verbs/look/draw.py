"""`jeton draw FILE`: a workflow as a picture."""

from pathlib import Path
from typing import Literal

import click

from jeton.cli.library import choose_definition, load_file
from jeton.cli.options import app_option, json_option, store_option
from jeton.cli.output import echo, echo_json, reporting_errors
from jeton.cli.store import ask
from jeton.engine.engine import Engine
from jeton.engine.views.draw import Picture, as_mermaid, as_svg, as_text, picture_of
from jeton.engine.views.flows import definition_in, skipped_of
from jeton.model.failure import Refused

Format = Literal["text", "mermaid", "svg"]
FORMATS = {"text": as_text, "mermaid": as_mermaid, "svg": as_svg}


@click.command("draw")
@click.argument("file", required=False, type=click.Path())
@click.argument("name", required=False)
@click.option("--run", metavar="RUN", help="Draw this run's version of the workflow, with the run's state.")
@click.option(
    "--format", "style", type=click.Choice(tuple(FORMATS)), default="text", show_default=True, help="What to write."
)
@click.option("--output", type=click.Path(dir_okay=False), help="Write to this file.")
@app_option
@store_option
@json_option
def command(
    file: str | None,
    name: str | None,
    run: str | None,
    style: Format,
    output: str | None,
    app: str | None,
    store: str,
    as_json: bool,
) -> None:
    """Draw a workflow or flow of a file, or with --run the one that a run executes.

    NAME may be left out if the file has only one.
    """
    if file is None and run is None:
        raise click.UsageError("name a file, or a run with --run")
    with reporting_errors(as_json):
        if run is not None:
            picture = ask(store, lambda engine: _picture_of_run(engine, run, name))
        else:
            picture = picture_of(choose_definition(load_file(file or "", app=app).require(), name, file or ""))
        drawn = FORMATS[style](picture)
        if output is not None:
            Path(output).write_text(drawn, encoding="utf-8")
        elif as_json:
            echo_json({"format": style, "picture": drawn})
        else:
            echo(drawn.rstrip("\n").replace("\x1b", "\\u001b"))  # a drawing has no colours of its own


async def _picture_of_run(engine: Engine, run: str, name: str | None) -> Picture:
    record = await engine.get(run)
    if name not in (None, record.workflow):
        raise Refused("unknown_workflow", f"{run} is a run of '{record.workflow}'", "leave the name out")
    bundle = await engine.workflow(f"{record.workflow}@{record.version}")
    definition = definition_in(bundle, record.workflow)
    return picture_of(definition, await engine.tokens(run), run, skipped_of(record))

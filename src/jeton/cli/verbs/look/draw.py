"""`jeton draw FILE`: a workflow as a picture."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from jeton.cli.options import app_option, json_option, store_option
from jeton.cli.output import echo, echo_json, reporting_errors

if TYPE_CHECKING:
    from jeton.engine.views.draw import Picture

Format = Literal["text", "mermaid", "svg"]


@click.command("draw")
@click.argument("file", required=False, type=click.Path())
@click.argument("name", required=False)
@click.option("--run", metavar="RUN", help="Put a run's state on it. It is drawn as it was when the run began.")
@click.option("--format", "style", type=click.Choice(("text", "mermaid", "svg")), default="text", show_default=True)
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
    """Draw a workflow, with a run's state on it if asked."""
    if file is None and run is None:
        raise click.UsageError("name a file, or a run with --run")
    with reporting_errors(as_json):
        picture = _of_run(store, run, name) if run is not None else _of_file(file or "", name, app)
        drawn = _drawn(picture, style)
        if output is not None:
            Path(output).write_text(drawn, encoding="utf-8")
        elif as_json:
            echo_json({"format": style, "picture": drawn})
        else:
            echo(drawn.rstrip("\n"))


def _of_file(file: str, name: str | None, app: str | None) -> "Picture":
    from jeton.cli.library import choose_definition, load_file
    from jeton.engine.views.draw import picture_of

    return picture_of(choose_definition(load_file(file, app).require(), name, file))


def _of_run(store: str, run: str, name: str | None) -> "Picture":
    from jeton.engine.engine import open
    from jeton.engine.views.draw import picture_of
    from jeton.engine.views.flows import definition_in, skipped_of
    from jeton.model.failure import Refused

    async def read() -> "Picture":
        async with open(store, owner=False) as engine:
            record = await engine.get(run)
            if name not in (None, record.workflow):
                raise Refused("unknown_workflow", f"{run} is a run of '{record.workflow}'", "leave the name out")
            bundle = engine.workflow(f"{record.workflow}@{record.version}")
            definition = definition_in(bundle, record.workflow)
            return picture_of(definition, await engine.tokens(run), run, skipped_of(record))

    return asyncio.run(read())


def _drawn(picture: "Picture", style: Format) -> str:
    from jeton.engine.views.draw import as_mermaid, as_svg, as_text

    match style:
        case "text":
            return as_text(picture)
        case "mermaid":
            return as_mermaid(picture)
        case "svg":
            return as_svg(picture)

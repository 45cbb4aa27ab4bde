"""`jeton answer RUN`: what a person says to a gate."""

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from jeton.cli.options import app_option, json_option, read_text, store_option
from jeton.cli.output import echo, echo_json, reporting_errors, styled_status
from jeton.cli.store import open_beside_owner, wait_until_idle

if TYPE_CHECKING:
    from jeton.engine.engine import Engine
    from jeton.model.json import Json


@click.command("answer")
@click.argument("run")
@click.option("--gate", metavar="ID", help="Which gate, if the run has several that are open.")
@click.option("--node", metavar="N", help="The gate at this node, which may not be open yet: the answer is kept.")
@click.option("--path", metavar="P", help="With --node: the branch the gate is on. [default: root]")
@click.option("--value", metavar="JSON|@FILE", help="The answer; left out on a terminal, you are asked for it.")
@click.option("--by", metavar="WHO", help="Who answers.")
@app_option
@store_option
@json_option
def command(
    run: str,
    gate: str | None,
    node: str | None,
    path: str | None,
    value: str | None,
    by: str | None,
    app: str | None,
    store: str,
    as_json: bool,
) -> None:
    """Answer a gate of a run, or of a run it called.

    Exits with 5 if the answer is not taken: it does not fit, the gate is closed, or the run has ended.
    """
    from jeton.cli.app import load_app

    if path is not None and node is None:
        raise click.UsageError("--path goes with --node")
    if value is None and (as_json or not sys.stdin.isatty()):
        raise click.UsageError("give the answer with --value")
    with reporting_errors(as_json):
        if app is not None:
            load_app(app)
        asyncio.run(_answer(store, run, gate, node, path, value, by, as_json))


async def _answer(
    store: str,
    run: str,
    gate: str | None,
    node: str | None,
    path: str | None,
    given: str | None,
    by: str | None,
    as_json: bool,
) -> None:
    from jeton.engine.input import read_value
    from jeton.engine.views.plain import plain

    value: Json = None
    if given is not None:
        value = read_value(read_text(given, "--value"), "--value")
    else:
        value, gate = await _asked(store, run, gate, node, path)
    async with open_beside_owner(store, work=True) as engine:
        reply = await engine.answer(run, value, gate=gate, node=node, path=path, by=by)
        await wait_until_idle(engine)
        record = await engine.get(run)
    if as_json:
        echo_json({"accepted": True, "outcome": reply.outcome, "answered_run_id": reply.run_id, **plain(record)})
    elif reply.outcome == "sent":
        echo(f"the answer is kept for {run} until its owner, or `jeton resume`, takes it up")
    else:
        kept = " and kept until the gate opens" if reply.outcome == "kept" else ""
        echo(f"the answer is accepted{kept}; {run} is {styled_status(record.status)}")


async def _asked(
    store: str, run: str, gate: str | None, node: str | None, path: str | None
) -> "tuple[Json, str | None]":
    """Ask whoever sits at the terminal, before the store is taken: they may think for a while."""
    from jeton.cli.prompt import prompt_for
    from jeton.engine.engine import open
    from jeton.engine.views.gates import the_one_gate

    async with open(store, owner=False) as engine:
        if node is not None:
            return prompt_for(node, await _schema_at(engine, run, node)), None
        gates = await engine.gates(run)
        wanted = [each for each in gates if each.id == gate] if gate is not None else gates
        found = the_one_gate(run, wanted)
    return prompt_for(found.title, found.schema), found.id


async def _schema_at(engine: "Engine", run: str, node: str) -> "dict[str, Json] | None":
    from jeton.model.definition.workflow import GateTarget
    from jeton.planning.program.compile import compile_definition

    record = await engine.get(run)
    library = engine.workflow(f"{record.workflow}@{record.version}")
    workflow = compile_definition(library, record.workflow).workflow
    target = workflow.nodes[node].target if node in workflow.nodes else None
    return dict(target.schema) if isinstance(target, GateTarget) and isinstance(target.schema, dict) else None

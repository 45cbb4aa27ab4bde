"""`jeton answer RUN`: answer a gate."""

import asyncio
import sys

import click

from jeton.cli.app import load_app
from jeton.cli.options import app_option, json_option, read_text, store_option
from jeton.cli.output import echo, echo_json, reporting_errors, styled_status
from jeton.cli.prompt import prompt_for
from jeton.cli.store import ask, open_beside_owner, settled
from jeton.engine.engine import Engine
from jeton.engine.input import read_value
from jeton.engine.views.gates import the_one_gate
from jeton.engine.views.plain import plain
from jeton.model.definition.workflow import GateTarget
from jeton.model.json import Json
from jeton.planning.program.compile import compile_definition


@click.command("answer")
@click.argument("run")
@click.option("--gate", metavar="ID", help="The gate's id, if several gates of the run are open.")
@click.option("--node", metavar="NODE", help="The gate's node. The gate need not be open yet: the answer is kept.")
@click.option("--path", metavar="PATH", help="With --node: the branch that the gate is on. [default: root]")
@click.option("--value", metavar="JSON|@FILE", help="The answer. Without it, a terminal prompts for one.")
@click.option("--by", metavar="NAME", help="The person who answers.")
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

    Exits with 5 if the answer is refused: it does not fit, the gate is closed, or the run has ended.
    """
    if path is not None and node is None:
        raise click.UsageError("--path goes with --node")
    if value is None and (as_json or not sys.stdin.isatty()):
        raise click.UsageError("give the answer with --value")
    with reporting_errors(as_json):
        load_app(app)
        if value is not None:
            answer = read_value(read_text(value, "--value"), "--value")
        else:  # prompt before the store is opened as owner: a person may take a while
            title, schema, gate = ask(store, lambda engine: _question(engine, run, gate, node))
            answer = prompt_for(title, schema)
        asyncio.run(_answer(store, run, answer, gate=gate, node=node, path=path, by=by, as_json=as_json))


async def _answer(
    store: str,
    run: str,
    answer: Json,
    *,
    gate: str | None,
    node: str | None,
    path: str | None,
    by: str | None,
    as_json: bool,
) -> None:
    async with open_beside_owner(store, work=True) as engine:
        reply = await engine.answer(run, answer, gate=gate, node=node, path=path, by=by)
        record = await settled(engine, run, reply.record, reply.run_id)
    if as_json:
        echo_json({"accepted": True, "outcome": reply.outcome, "answered_run_id": reply.run_id, **plain(record)})
    elif reply.outcome == "sent":
        echo(f"the answer is kept for {run} until its owner, or `jeton resume`, takes it up")
    else:
        kept = " and kept until the gate opens" if reply.outcome == "kept" else ""
        echo(f"the answer is accepted{kept}; {run} is {styled_status(record.status)}")


async def _question(engine: Engine, run: str, gate: str | None, node: str | None) -> tuple[str, object, str | None]:
    """The title and the schema of what is asked, and the id of the gate if it is open."""
    if node is not None:
        return node, await _schema_at(engine, run, node), None
    gates = await engine.gates(run)
    found = the_one_gate(run, [each for each in gates if gate in (None, each.id)])
    return found.title, found.schema, found.id


async def _schema_at(engine: Engine, run: str, node: str) -> object:
    record = await engine.get(run)
    library = await engine.workflow(f"{record.workflow}@{record.version}")
    workflow = compile_definition(library, record.workflow).workflow
    target = workflow.nodes[node].target if node in workflow.nodes else None
    return target.schema if isinstance(target, GateTarget) else None

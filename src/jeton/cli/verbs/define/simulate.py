"""`jeton simulate FILE`: run a workflow under many schedules and faults."""

import shlex
import sys
from collections.abc import Iterator
from typing import cast

import click

from jeton.cli.library import choose_definition, load_file
from jeton.cli.options import Exit, app_option, json_option, read_text, store_option
from jeton.cli.output import counted, echo, echo_json, printable, reporting_errors, short_json, styled_status
from jeton.cli.store import is_url
from jeton.engine.input import check_input, read_input
from jeton.engine.views.flows import definition_in
from jeton.model.definition.workflow import Library
from jeton.model.json import Json, JsonObject
from jeton.planning.program.compile import compile_definition
from jeton.testing.trials import EVERY_FAULT, USUAL_FAULTS, FaultKind, Finding, Report, Trial, error_text, sample_input

SLOWEST_MS = 20
MAX_STORY = 60  # lines; the middle of a longer story is left out
MAX_LINE = 160
MAX_OUTCOMES = 20
MAX_FINDINGS = 5  # with their stories; --json has all of them
TITLES = {"differs": "outcomes differ", "hang": "hangs", "broken": "broken"}
ENVELOPE = ("at_ms", "type", "run_id", "node", "path", "token", "fault", "group")


@click.command("simulate")
@click.argument("file", type=click.Path())
@click.argument("name", required=False)
@click.option("--seeds", default=100, show_default=True, type=click.IntRange(min=1), metavar="N", help="Try N seeds.")
@click.option("--seed", type=click.IntRange(min=0), metavar="S", help="Try this seed only, and print its story.")
@click.option("--faults", is_flag=True, help="Inject crashes, and lost, late, repeated and reordered messages.")
@click.option("--fault", "kinds", multiple=True, metavar="KIND", help="Inject this kind only; may be repeated.")
@click.option("--failures", is_flag=True, help="Let tasks fail, so that what handles their failures is tried.")
@click.option("--input", "given", metavar="JSON|@FILE", help="The run's input. [default: made from its schema]")
@click.option("--real", is_flag=True, help="Call Python functions instead of making up their results.")
@click.option("--no-answers", is_flag=True, help="Leave gates unanswered and send no signals.")
@click.option(
    "--slowest", "slowest_ms", default=SLOWEST_MS, show_default=True, type=click.IntRange(min=1), metavar="MS",
    help="The longest simulated time a task or an answer takes.",
)  # fmt: skip
@app_option
@json_option
@store_option
@click.pass_context
def command(
    context: click.Context,
    file: str,
    name: str | None,
    seeds: int,
    seed: int | None,
    faults: bool,
    kinds: tuple[str, ...],
    failures: bool,
    given: str | None,
    real: bool,
    no_answers: bool,
    slowest_ms: int,
    app: str | None,
    as_json: bool,
    store: str,
) -> None:
    """Run a workflow or flow under many schedules, and with --faults under many faults, in simulated time.

    Tasks, gates and signals give data made from their schemas, the same under every schedule. Reports outcomes that
    differ, runs that never end and broken invariants, each with a seed that reproduces it and its shortest story. Exits
    with 0 if all seeds have the same outcome, with 1 if not. With --failures outcomes may differ. With --url, the
    server tries up to 200 seeds, and stores nothing.
    """
    unknown = [kind for kind in kinds if kind not in EVERY_FAULT]
    if unknown:
        problem = f"there is no '{unknown[0]}'; there are: {', '.join(EVERY_FAULT)}"
        raise click.BadParameter(problem, param_hint="--fault")
    with reporting_errors(as_json):
        if is_url(store):
            if seed is not None or real or no_answers or slowest_ms != SLOWEST_MS:
                raise click.UsageError("--seed, --real, --no-answers and --slowest are not possible at a server")
            chosen = _kinds(faults, kinds, failures)
            sys.exit(_reported(_tried_there(store, file, name, seeds, chosen, given), as_json, context))
        library = load_file(file, app=app).require()
        workflow = choose_definition(library, name, file).name
        value = _input(library, workflow, given)
        with Trial(
            library,
            workflow,
            value,
            faults=_kinds(faults, kinds, failures),
            real=real,
            answers=not no_answers,
            slowest_ms=slowest_ms,
        ) as trial:
            sys.exit(_one(trial, seed, as_json) if seed is not None else _many(trial, seeds, as_json, context))


def _kinds(faults: bool, kinds: tuple[str, ...], failures: bool) -> tuple[FaultKind, ...]:
    usual = set[str](USUAL_FAULTS if faults and not kinds else kinds) | ({"task_fails"} if failures else set[str]())
    return tuple(kind for kind in EVERY_FAULT if kind in usual)


def _input(library: Library, workflow: str, given: str | None) -> Json:
    schema = definition_in(library, workflow).input_schema
    value = sample_input(schema) if given is None else read_input(read_text(given, "--input"))
    check_input(compile_definition(library, workflow), value)
    return value


def _many(trial: Trial, seeds: int, as_json: bool, context: click.Context) -> Exit:
    shown = not as_json and sys.stderr.isatty()
    with click.progressbar(length=seeds, file=sys.stderr, label="seeds", hidden=not shown) as bar:
        report = trial.try_seeds(range(seeds), tried=lambda: bar.update(1))
    return _reported(report, as_json, context)


def _tried_there(
    url: str, file: str, name: str | None, seeds: int, kinds: tuple[FaultKind, ...], given: str | None
) -> Report:
    from jeton.cli.remote import at_server, simulate_at  # the client is loaded for a server only

    body: JsonObject = {"name": name, "seeds": seeds, "faults": [*kinds]}
    if given is not None:
        body["input"] = read_input(read_text(given, "--input"))
    return at_server(url, lambda engine: simulate_at(engine, file, body, Report))


def _reported(report: Report, as_json: bool, context: click.Context) -> Exit:
    if as_json:
        echo_json(report)
    else:
        for line in _lines(report, context):
            echo(line)
    return Exit.DONE if report.ok else Exit.RUN_FAILED


def _one(trial: Trial, seed: int, as_json: bool) -> Exit:
    result = trial.play(seed)
    story, defect, error = result.story(), result.defect, result.error
    if as_json:
        said = {"ok": defect is None, "seed": seed, "status": result.status, "output": result.output}
        failure = {} if error is None else {"message": error.message, "node": error.node}
        problem = None if defect is None else {"kind": defect.kind, "what": defect.what, "waits": defect.waits}
        told = {"error": None if error is None else error.type, **failure, "problem": problem}
        echo_json({**said, **told, "faults": result.struck, "story": story})
        return Exit.DONE if defect is None else Exit.RUN_FAILED
    for line in _story(story, len(story)):
        echo(line)
    failed = None if error is None else error_text(error.type, error.message, error.node)
    echo(f"{styled_status(result.status)}{_result(result.output, failed)}".rstrip())
    if defect is not None:
        for line in (f"{TITLES[defect.kind]}: {defect.what}", *(f"  {wait}" for wait in defect.waits)):
            echo(printable(line))
    return Exit.DONE if defect is None else Exit.RUN_FAILED


def _lines(report: Report, context: click.Context) -> Iterator[str]:
    for outcome in report.outcomes[:MAX_OUTCOMES]:
        error = None if outcome.error is None else error_text(outcome.error, outcome.message, outcome.node)
        result = _result(outcome.output, error)
        yield f"{outcome.count:6} × {styled_status(outcome.status)}{result}  (seed {outcome.seed})"
    if len(report.outcomes) > MAX_OUTCOMES:
        yield f"{'…':>6}   {len(report.outcomes) - MAX_OUTCOMES} more"
    for finding in report.problems[:MAX_FINDINGS]:
        yield ""
        yield from _finding(finding)
    yield ""
    seeds = [finding.seed for finding in report.problems] or [end.seed for end in report.outcomes if end.error]
    if seeds:
        yield f"replay: {_replay(context, seeds[0])}"
    if report.ok:
        found = "one outcome" if len(report.outcomes) == 1 else f"{len(report.outcomes)} outcomes, no problem"
        yield click.style(f"{report.seeds} seeds, {found}", fg="green")
    else:
        yield click.style(f"{report.seeds} seeds, {counted(len(report.problems), 'problem')}", fg="red", bold=True)


def _finding(finding: Finding) -> Iterator[str]:
    title = click.style(TITLES[finding.kind], fg="red", bold=True)
    yield f"{title}: {printable(finding.what)}"
    for wait in finding.waits:
        yield f"  {printable(wait)}"
    faults = f", {counted(len(finding.faults), 'fault')}" if finding.faults else ""
    yield click.style(f"  seed {finding.seed}{faults}:", dim=True)
    yield from (f"  {line}" for line in _story(list(finding.story), MAX_STORY))


def _story(story: list[JsonObject], longest: int) -> Iterator[str]:
    several = len({str(event["run_id"]) for event in story if "run_id" in event}) > 1
    left_out = len(story) - longest
    for number, event in enumerate(story):
        if left_out > 0 and longest // 2 <= number < longest // 2 + left_out:
            if number == longest // 2:
                yield f"{'…':>9}  {left_out} more"
            continue
        yield _event(event, several)


def _event(event: JsonObject, several: bool) -> str:
    """An event as one line: time, type, node and fields."""
    when = f"{event['at_ms']:>6} ms"
    if event["type"] == "fault":
        by = f" ({event['by_ms']} ms)" if event["by_ms"] else ""
        return click.style(f"{when}  ! {event['fault']}{by}", fg="yellow")
    path = str(event.get("path", "root")).removeprefix("root").removeprefix(".")
    where = f"{event.get('node') or ''}{f'[{path}]' if path else ''}"
    run = f"{event['run_id']}  " if several else ""
    rest = [f"{key}={short_json(value)}" for key, value in event.items() if _is_shown(key, value)]
    parts = [part for part in (where, *rest) if part]
    line = printable(f"{when}  {run}{event['type']!s:<16}  {'  '.join(parts)}".rstrip())
    return line if len(line) <= MAX_LINE else line[:MAX_LINE] + "…"


def _is_shown(key: str, value: Json) -> bool:
    return key not in ENVELOPE and (key, value) not in (("attempt", 1), ("delivery", 1))


def _result(output: Json, error: str | None) -> str:
    return f" {short_json(output)}" if error is None else printable(error)


def _replay(context: click.Context, seed: int) -> str:
    """The command that runs one seed again, with the options of this one."""
    words = ["jeton", "simulate"]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if parameter.name in ("seeds", "seed", "as_json", "store") or value in (None, False, (), parameter.default):
            continue
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif value is True:
            words.append(parameter.opts[0])
        else:
            given = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
            words += [word for each in given for word in (parameter.opts[0], str(each))]
    return printable(shlex.join([*words, "--seed", str(seed)]))

"""The spans of a run and of all that it called, from a store."""

from collections.abc import AsyncGenerator

from jeton.actor.rows import RunRow
from jeton.engine.engine import Engine
from jeton.model.decision import CallAgent
from jeton.model.definition.agent import agent_of
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.telemetry.facts import RunFacts
from jeton.telemetry.span import Span, root_of
from jeton.telemetry.spans import LINKED, RunSpans


async def facts_of(engine: Engine, run: str, *, contents: bool = False) -> RunFacts:
    """What spans need to know of a run or conversation. Raises Refused if it is not there."""
    row = await engine.browse.row(RunId(run))
    if row is None:
        raise Refused("unknown_run", f"there is no run '{run}' in this store", "list the runs there are")
    of_turns = agent_of(row.workflow) is not None  # each turn has the newest version
    library = await engine.workflow(row.workflow if of_turns else f"{row.workflow}@{row.version}")
    forked = None if row.forked is None else row.forked.run
    under = await engine.browse.started_under(root_of(row.run))
    others = await _other_traces(engine, row)
    return RunFacts(
        row.run, row.workflow, row.version, forked, library.model_profiles, under, others, contents=contents
    )


async def _other_traces(engine: Engine, row: RunRow) -> dict[RunId, str]:
    """The traces of the runs that a fork or a triggered run is linked to, where they are not those of their ids."""
    others = [] if row.forked is None else [row.forked.run]
    if row.trigger is not None and row.trigger.type in LINKED and row.trigger.source is not None:
        others.append(RunId(row.trigger.source))
    found = {other: await engine.browse.started_under(root_of(other)) for other in others}
    return {other: under.trace_id for other, under in found.items() if under is not None}


async def spans_below(engine: Engine, run: str, *, contents: bool = False) -> AsyncGenerator[Span, None]:
    """The spans of a run or conversation and of all that it called, as far as they have ended."""
    waiting, seen = [run], set[str]()
    while waiting:
        here = waiting.pop(0)
        if here in seen:
            continue
        seen.add(here)
        reader = RunSpans(await facts_of(engine, here, contents=contents))
        asked: list[RunId] = []
        async for entry in engine.journal(here):
            asked += [each.conversation for each in entry.decisions if isinstance(each, CallAgent) and each.new]
            for span in reader.take(entry):
                yield span
        waiting += [child.run_id for child in await engine.children(here)]
        waiting += [each for each in asked if await _is_there(engine, each)]


async def _is_there(engine: Engine, run: RunId) -> bool:
    """Whether a conversation exists: it may not have begun yet, or have been removed."""
    try:
        await engine.conversation(run)
    except Refused:
        return False
    return True

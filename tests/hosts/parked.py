"""A store with a run at every kind of wait, and one that has ended; and their later outcomes."""

import asyncio
from pathlib import Path

from jeton.actor.starts import NewRun
from jeton.hosts.sqlite import SqliteHost
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import AnswerGate, SignalRun, UnpauseRun
from jeton.model.state.run import RunStatus
from tests.hosts.library import GATE, HOLD, SIGNAL, WAIT, Definition, chain, library
from tests.hosts.trivial import HELD, TrivialWorkers

BEGIN_MS = 1_700_000_000_000
DAY_MS = 86_400_000

STATE_SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "votes": {"type": "array", "items": {"type": "integer"}},
        "author": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}
PANEL: Definition = {
    "initial_node": "split",
    "state_schema": STATE_SCHEMA,
    "nodes": {
        "split": {},
        "judge": {"task": "work", "input_mapping": {"n": "item"}, "output_mapping": {"_branch.output.n": "result.n"}},
        "join": {},
    },
    "transitions": [
        {"from": "split", "to": "judge", "foreach": {"collection": "input.items", "item_var": "item"}},
        {
            "from": "judge",
            "to": "join",
            "synchronization": {
                "merge": {"source": "_branch.output.n", "target": "state.votes", "strategy": "append"},
                "timeout_ms": DAY_MS,
                "on_timeout": "proceed_with_available",
            },
        },
    ],
    "output_mapping": {"votes": "state.votes"},
}
BACKOFF: Definition = {
    "initial_node": "back_off",
    "nodes": {
        "back_off": {
            "task": {
                "steps": [{"action": "act", "on_failure": "retry"}],
                "retry": {"max_attempts": 2, "initial_delay_ms": DAY_MS},
            },
            "output_mapping": {"state.n": "result.n"},
        }
    },
    "output_mapping": {"n": "state.n"},
}
DEFINITIONS: dict[str, Definition] = {
    "chain": {**chain(3), "state_schema": STATE_SCHEMA},
    "timer": WAIT,
    "backoff": BACKOFF,
    "panel": PANEL,
    "dispatched": HOLD,
    "caller": {"initial_node": "call", "nodes": {"call": {"workflow": "timer"}}},
    "gate": GATE,
    "signal": SIGNAL,
}
INPUTS: dict[str, Json] = {
    "timer": {"s": 86_400},
    "caller": {"s": 86_400},
    "panel": {"items": [1, 2, 3]},
    "chain": {"n": 0},
}
CHILD = RunId("caller.0")
PARKED: dict[str, RunStatus] = {
    "chain": "completed",
    "timer": "waiting",
    "backoff": "waiting",
    "panel": "running",
    "dispatched": "running",
    "caller": "waiting",
    CHILD: "waiting",
    "gate": "waiting",
    "signal": "waiting",
}


def parked_library() -> Library:
    return library(**DEFINITIONS)


def at_first(effect: StartTask) -> Json | TaskFailed:
    """Hold every task, so that no run gets further than its wait."""
    match effect.node, effect.input:
        case "hold", _:
            return HELD
        case "back_off", _:
            return TaskFailed("shaky", "not yet", retry=True)
        case "judge", {"n": 2 | 3}:
            return HELD
        case _:
            return later(effect)


def later(effect: StartTask) -> Json | TaskFailed:
    """Let every task succeed."""
    given = effect.input.get("n") if isinstance(effect.input, dict) else None
    return {"n": given + 1 if isinstance(given, int) else 1}


async def park(path: Path, settings: dict[str, Json] | None = None) -> SqliteHost:
    """An open store with a run of each kind, named like its workflow."""
    host = await SqliteHost.open(path, workers=TrivialWorkers(at_first), clock=lambda: BEGIN_MS)
    found = parked_library()
    bundle = Library(found.workflows, found.tasks, found.actions, settings or {})
    for name in DEFINITIONS:
        version = await host.deploy(bundle, name)
        await host.start(NewRun(name, version, INPUTS.get(name, {}), run=RunId(name)))
    await host.ended(RunId("chain"))
    for name in (*DEFINITIONS, CHILD):
        await settled(host, RunId(name))
    return host


async def settled(host: SqliteHost, run: RunId) -> None:
    """Wait until the run has reached its wait."""
    entries = {"panel": 2, "backoff": 2, "gate": 2, "signal": 2}.get(run, 1)
    while await host.reads.row(run) is None:  # a child, which its parent starts
        await asyncio.sleep(0)
    async for entry in host.reads.watch(run):
        if entry.number + 1 >= entries:
            return


async def finish(path: Path) -> dict[str, tuple[RunStatus, Json]]:
    """Open the store two days later, and let every run end."""
    host = await SqliteHost.open(path, workers=TrivialWorkers(later), clock=lambda: BEGIN_MS + 2 * DAY_MS)
    try:
        for gate in await host.reads.gates():
            await host.deliver(gate.run, AnswerGate(BEGIN_MS + 2 * DAY_MS, "a", "yes", token=gate.token))
        for row in await host.reads.rows():
            if row.paused and row.ended_at is None:  # it was imported
                await host.deliver(row.run, UnpauseRun(BEGIN_MS + 2 * DAY_MS))
        if await host.reads.row(RunId("signal")) is not None:
            await host.deliver(RunId("signal"), SignalRun(BEGIN_MS + 2 * DAY_MS, "s", "go", "go"))
        for name in DEFINITIONS:
            if await host.reads.row(RunId(name)) is not None:
                await host.ended(RunId(name))
        return {row.run: (row.status, row.output) for row in await host.reads.rows()}
    finally:
        await host.close(0.0)


FINISHED: dict[str, tuple[RunStatus, Json]] = {
    "chain": ("completed", {"n": 3}),
    "timer": ("completed", {}),
    "backoff": ("completed", {"n": 1}),
    "panel": ("completed", {"votes": [2]}),  # the others came too late
    "dispatched": ("completed", {"n": 1}),
    "caller": ("completed", {}),
    CHILD: ("completed", {}),
    "gate": ("completed", {"said": "yes"}),
    "signal": ("completed", {"said": "go"}),
}

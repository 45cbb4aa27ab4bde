"""Nodes that sleep between two steps, while the process is being killed.

usage: python -m tests.crash.slept STORE
"""

import asyncio
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import jeton
from jeton.model.decision import WakeToken
from jeton.model.json import Json

RUNS = 2


@jeton.node
async def sleeps_under_fire(step: jeton.Steps, publish: jeton.Publisher) -> dict[str, Any]:
    """Says before its sleep, and after it, what the first step gave."""
    given = await step.run("first", lambda: str(uuid4()))
    await publish("fell.asleep", given)
    await step.sleep(0.15, "nap")
    await publish("woke.up", await step.run("second", lambda: given))
    return {"given": given}


NIGHT = jeton.Flow("night")
NIGHT.node("sleeps", sleeps_under_fire)


class Slept:
    """What became of all runs: what each gave, and what was published."""

    def __init__(self) -> None:
        self.given: list[Json] = []
        self.fell_asleep: list[Json] = []
        self.woke_up: list[Json] = []
        self.attempts: list[int] = []


async def sleep(store: Path) -> Slept:
    """A few runs, however often this is begun."""
    slept = Slept()
    async with jeton.open(store) as engine:
        runs = [await engine.start(NIGHT, key=str(number)) for number in range(RUNS)]
        for run in runs:
            output = (await run.result(60)).output_or_raise()
            slept.given.append(output["given"] if isinstance(output, dict) else None)
            journal = [decision async for entry in engine.journal(run.id) for decision in entry.decisions]
            slept.attempts += [decision.attempt for decision in journal if isinstance(decision, WakeToken)]
        for event, seen in (("fell.asleep", slept.fell_asleep), ("woke.up", slept.woke_up)):
            seen += [each.data for each in await engine.emitted(event=event)]
    return slept


if __name__ == "__main__":
    asyncio.run(sleep(Path(sys.argv[1])))

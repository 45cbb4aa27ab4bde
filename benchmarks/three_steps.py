"""Three steps of one task against three nodes: what a round trip through the store costs.

`python -m benchmarks.three_steps [RUNS]`: the same work, as one task of three steps and as three nodes of one step,
in many runs at a time. Printed are runs per second, and the dispatches and commits that each run took.
"""

import asyncio
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import msgspec

from jeton.executor import Executor
from jeton.hosts.sqlite import SqliteHost
from jeton.model.decision import DispatchToken
from jeton.model.json import Json, Mapping
from jeton.model.task import Action, Step, Task
from jeton.model.workflow import Library, Node, TaskTarget, Transition, Workflow

AT_ONCE = 100
ROUNDS = 5
ADD = Action("context", {"set": {"n": "input.n + 1"}})
KEPT: Mapping = {"state.n": "result.n"}
NODES = ("a", "b", "c")

STEPS = Workflow(
    "steps",
    "a",
    {
        "a": Node(
            TaskTarget(
                Task(
                    (
                        Step(ADD, "a", output_mapping=KEPT),
                        Step(ADD, "b", input_mapping={"n": "state.n"}, output_mapping=KEPT),
                        Step(ADD, "c", input_mapping={"n": "state.n"}),
                    )
                )
            ),
            output_mapping=KEPT,
        )
    },
    output_mapping={"n": "state.n"},
)
APART = Workflow(
    "nodes",
    "a",
    {
        name: Node(
            TaskTarget(Task((Step(ADD, name),))), {"n": "input.n" if name == "a" else "state.n"}, output_mapping=KEPT
        )
        for name in NODES
    },
    (Transition("a", "b"), Transition("b", "c")),
    output_mapping={"n": "state.n"},
)


class Cost(msgspec.Struct, frozen=True):
    """Of one run: how often a worker was asked, and how often the store was written."""

    dispatches: int
    commits: int


async def one(host: SqliteHost, workflow: str, version: int) -> Cost:
    given: Json = {"n": 1}
    run, _ = await host.start(workflow, version, given)
    row = await host.ended(run)
    assert row.output == {"n": 4}, row
    decisions = [decision for entry in host.entries(run) for decision in entry.decisions]
    return Cost(sum(isinstance(decision, DispatchToken) for decision in decisions), row.entries)


async def rate(host: SqliteHost, workflow: str, version: int, runs: int) -> float:
    """Runs per second, a hundred at a time."""
    given: Json = {"n": 1}

    async def worker() -> None:
        for _ in range(runs // AT_ONCE):
            run, _ = await host.start(workflow, version, given)
            await host.ended(run)

    began = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return runs / (time.perf_counter() - began)


async def main(runs: int, folder: Path) -> None:
    host = await SqliteHost.open(folder / "store.db", workers=Executor())
    versions = {
        flow.name: await host.deploy(Library(workflows={flow.name: flow}), flow.name) for flow in (STEPS, APART)
    }
    rates: dict[str, list[float]] = {name: [] for name in versions}
    for _ in range(ROUNDS):  # by turns, because a disk has good and bad minutes
        for name, version in versions.items():
            rates[name].append(await rate(host, name, version, runs))
    for name, version in versions.items():
        cost = await one(host, name, version)
        shown = f"{cost.dispatches} dispatches and {cost.commits} commits a run"
        print(f"three {name}: {median(rates[name]):.0f} runs/s, {shown}")
    print(f"steps are {median(rates['steps']) / median(rates['nodes']):.2f} times as fast")
    await host.close(0)


if __name__ == "__main__":
    with TemporaryDirectory(dir=".") as place:
        asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000, Path(place)))

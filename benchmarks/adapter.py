"""jeton as one of the peers: the five workloads through the public API, with the defaults a user gets.

W1 one node · W2 a chain of ten nodes · W3 a fan-out · W4 a loop · W5 runs that wait for an hour.
"""

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from importlib.metadata import version
from itertools import count, pairwise
from pathlib import Path

import jeton
from jeton.model.json import Json, JsonObject

CHAIN = 10
AT_ONCE = 100
_go = asyncio.Event()
ticks: list[float] = []  # when each iteration of a loop was


@jeton.action
async def step_of_chain(n: int) -> dict[str, int]:
    """One more."""
    return {"n": n + 1}


@jeton.action
async def branch_of_fan(item: int) -> dict[str, int]:
    """A branch's whole work."""
    return {"v": 1}


@jeton.action
async def tick_of_loop(n: int) -> dict[str, int]:
    """One iteration, and when it was."""
    ticks.append(time.time())
    return {"n": n + 1}


@jeton.action
async def wait_for_go(n: int) -> dict[str, int]:
    """Not done before somebody says so; a process that ends meanwhile leaves it unfinished."""
    await _go.wait()
    return {"n": n + 1}


def chain(nodes: int, action: str = "step_of_chain") -> JsonObject:
    """So many nodes in a row, each with a task."""
    node: JsonObject = {
        "action": action,
        "input_mapping": {"n": "state.n"},
        "output_mapping": {"state.n": "result.n"},
    }
    first: JsonObject = {**node, "input_mapping": {"n": "input.n"}}
    names = [f"n{i}" for i in range(nodes)]
    return {
        "initial_node": "n0",
        "nodes": {each: first if each == "n0" else node for each in names},
        "transitions": [{"from": a, "to": b} for a, b in pairwise(names)],
        "output_mapping": {"n": "state.n"},
    }


FAN: JsonObject = {
    "initial_node": "start",
    "nodes": {
        "start": {},
        "branch": {"action": "branch_of_fan", "input_mapping": {"item": "item"}},
        "done": {"output_mapping": {"output.total": "size(state.all)"}},
    },
    "transitions": [
        {"from": "start", "to": "branch", "foreach": {"collection": "input.items", "item_var": "item"}},
        {
            "from": "branch",
            "to": "done",
            "synchronization": {"merge": {"source": "_branch.output.v", "target": "state.all", "strategy": "collect"}},
        },
    ],
    "limits": {"max_tokens": 1_000_000},
}
LOOP: JsonObject = {
    "initial_node": "tick",
    "nodes": {
        "tick": {
            "action": "tick_of_loop",
            "input_mapping": {"n": "has(state.n) ? state.n : 0"},
            "output_mapping": {"state.n": "result.n"},
        },
        "done": {},
    },
    "transitions": [
        {"from": "tick", "to": "tick", "condition": "state.n < input.n"},
        {"from": "tick", "to": "done", "priority": 2},
    ],
    "output_mapping": {"n": "state.n"},
}
HEAVY: JsonObject = {
    **chain(CHAIN),
    "nodes": {
        **chain(CHAIN)["nodes"],  # type: ignore[dict-item]
        "n0": {
            "action": "step_of_chain",
            "input_mapping": {"n": "input.n"},
            "output_mapping": {"state.n": "result.n", "state.pad": "input.pad"},
        },
    },
}
NUMBER: JsonObject = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}}
STEP: JsonObject = {
    "action": "step_of_chain",
    "input_mapping": {"n": "state.n"},
    "output_mapping": {"state.n": "result.n"},
}
THREE_STEPS: JsonObject = {
    "initial_node": "n0",
    "nodes": {
        "n0": {
            "task": {
                "steps": [
                    {**STEP, "ref": "a", "input_mapping": {"n": "input.n"}},
                    {**STEP, "ref": "b"},
                    {**STEP, "ref": "c", "output_mapping": {"output.n": "result.n"}},
                ]
            },
            "output_mapping": {"state.n": "result.n"},
        }
    },
    "output_mapping": {"n": "state.n"},
}
PARK: JsonObject = {"initial_node": "nap", "nodes": {"nap": {"wait": {"seconds": 3600}}}}


def library() -> JsonObject:
    """Every workload's workflow."""
    return {
        "workflows": {
            "single": chain(1),
            "chain": chain(CHAIN),
            "heavy": HEAVY,
            "typed": {**chain(CHAIN), "state_schema": NUMBER},
            "three_steps": THREE_STEPS,
            "three_nodes": chain(3),
            "stopped": chain(1, "wait_for_go"),
            "fan": FAN,
            "loop": LOOP,
            "park": PARK,
        }
    }


class Peer:
    """One store with one engine; each method is one run to its end, except that `park` leaves its runs waiting."""

    def __init__(self, variant: str = "") -> None:
        self.variant = variant
        self._stack = AsyncExitStack()

    async def setup(self, work: Path) -> None:
        """Open an empty store in the folder."""
        self._store = Path(work) / "jeton.db"
        await self._open()
        await self.engine.deploy(library())

    async def _open(self) -> None:
        self.engine = await self._stack.enter_async_context(jeton.open(self._store, grace_s=0))

    def meta(self) -> dict[str, str | int]:
        """What is measured."""
        return {"version": f"jeton {version('jeton')}", "durability": "SQLite WAL, synchronous=FULL", "loc_w2": 15}

    def pids(self) -> list[int]:
        """Everything runs in this process."""
        return [os.getpid()]

    async def single(self, tag: str) -> Json:
        """W1."""
        return await self._output("single", {"n": 0}, "n")

    async def chain(self, tag: str) -> Json:
        """W2."""
        return await self._output("chain", {"n": 0}, "n")

    async def fan(self, branches: int, tag: str) -> Json:
        """W3."""
        return await self._output("fan", {"items": list(range(branches))}, "total")

    async def loop(self, iterations: int) -> list[float]:
        """W4: when each iteration was."""
        ticks.clear()
        await self._output("loop", {"n": iterations}, "n")
        return list(ticks)

    async def park(self, runs: int) -> None:
        """W5."""
        numbers = count()

        async def some() -> None:
            while next(numbers) < runs:
                await self.engine.start("park", {})

        await asyncio.gather(*[some() for _ in range(AT_ONCE)])

    async def chain_of(self, workflow: str) -> Json:
        """A run of one of the other chains."""
        pad: Json = "x" * 10_000 if workflow == "heavy" else None
        return await self._output(workflow, {"n": 0, "pad": pad}, "n")

    def hold(self) -> None:
        """Have `wait_for_go` wait, in the loop that is running."""
        global _go
        _go = asyncio.Event()

    def let_go(self) -> None:
        """Have it go on, for whoever waits and whoever comes."""
        _go.set()

    async def resume(self, runs: int) -> float:
        """Seconds from opening a store with so many interrupted runs until all of them have ended."""
        self.hold()
        await asyncio.gather(*[self.engine.start("stopped", {"n": 0}) for _ in range(runs)])
        await self.teardown()
        self.let_go()
        began = time.perf_counter()
        await self._open()
        await self.engine.idle()
        return time.perf_counter() - began

    async def reopen(self) -> float:
        """Close the store, and open it again: the seconds that took."""
        await self.teardown()
        began = time.perf_counter()
        await self._open()
        return time.perf_counter() - began

    async def teardown(self) -> None:
        """Close the store."""
        await self._stack.aclose()

    async def _output(self, workflow: str, given: JsonObject, key: str) -> Json:
        run = await self.engine.start(workflow, given)
        output = (await run.result()).output_or_raise()
        return output[key] if isinstance(output, dict) else None


make: Callable[[str], Peer] = Peer

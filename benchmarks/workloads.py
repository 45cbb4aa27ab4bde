"""The five workloads, and what else is worth knowing, on one store: one JSON object per line.

usage: python -m benchmarks.workloads [NAME…] [--folder DIR]
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.adapter import CHAIN, Peer

Figures = dict[str, float]


async def pooled(one: Callable[[], Awaitable[object]], times: int, in_flight: int) -> float:
    """Seconds for so many, so many at a time."""
    numbers = count()

    async def some() -> None:
        while next(numbers) < times:
            await one()

    began = time.perf_counter()
    await asyncio.gather(*[some() for _ in range(in_flight)])
    return time.perf_counter() - began


def resident_kib() -> int:
    """What this process holds in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise OSError("no VmRSS")


async def alone(peer: Peer, runs: int = 300) -> Figures:
    """W1: one node, one run after another."""
    took: list[float] = []
    for _ in range(runs):
        began = time.perf_counter()
        await peer.single("")
        took.append((time.perf_counter() - began) * 1e3)
    return {"w1_p50_ms": median(took), "w1_p99_ms": sorted(took)[-1 - runs // 100]}


async def together(peer: Peer) -> Figures:
    """W1: one node, 100 runs in flight."""
    return {"w1_runs_per_s": 1000 / await pooled(lambda: peer.single(""), 1000, 100)}


async def chains(peer: Peer, runs: int = 200) -> Figures:
    """W2: ten nodes in a row, 50 runs in flight."""
    return {"w2_nodes_per_s": runs * CHAIN / await pooled(lambda: peer.chain(""), runs, 50)}


async def fans(peer: Peer) -> Figures:
    """W3: many branches and one fan-in."""
    found: Figures = {"w3_100_branches_per_s": 20 * 100 / await pooled(lambda: peer.fan(100, ""), 20, 1)}
    for branches in (1_000, 10_000, 100_000):
        began = time.perf_counter()
        await peer.fan(branches, "")
        found[f"w3_{branches}_branches_per_s"] = branches / (time.perf_counter() - began)
    return found


async def loops(peer: Peer) -> Figures:
    """W4: a thousand iterations, five times; whether the last tenth takes longer than the first."""
    rates: list[float] = []
    growth: list[float] = []
    for _ in range(5):
        began = time.perf_counter()
        ticks = await peer.loop(1000)
        rates.append(1000 / (time.perf_counter() - began))
        growth.append((ticks[-1] - ticks[-101]) / (ticks[100] - ticks[0]))
    return {"w4_iterations_per_s": median(rates), "w4_last_over_first": median(growth)}


async def parked(peer: Peer) -> Figures:
    """W5: runs that wait for an hour."""
    before, runs, began = resident_kib(), 10_000, time.perf_counter()
    await peer.park(runs)
    took = time.perf_counter() - began
    return {"w5_starts_per_s": runs / took, "w5_kib_per_run": (resident_kib() - before) / runs}


async def large_state(peer: Peer) -> Figures:
    """Chains of ten nodes beside 10 KB of state that no node touches."""
    return {"state_10kb_nodes_per_s": 200 * CHAIN / await pooled(lambda: peer.chain_of("heavy"), 200, 50)}


async def typed_state(peer: Peer) -> Figures:
    """Chains of ten nodes whose state has a schema, and so tables of its own."""
    return {"typed_nodes_per_s": 200 * CHAIN / await pooled(lambda: peer.chain_of("typed"), 200, 50)}


async def steps(peer: Peer) -> Figures:
    """Three steps in one task, against three nodes of one step."""
    return {
        "three_steps_runs_per_s": 500 / await pooled(lambda: peer.chain_of("three_steps"), 500, 50),
        "three_nodes_runs_per_s": 500 / await pooled(lambda: peer.chain_of("three_nodes"), 500, 50),
    }


async def resumed(peer: Peer) -> Figures:
    """10,000 runs that a stopped process left in the middle of a task, taken up and finished."""
    return {"resumed_runs_per_s": 10_000 / await peer.resume(10_000)}


MEASURES: dict[str, Callable[[Peer], Awaitable[Figures]]] = {
    "alone": alone,
    "together": together,
    "chains": chains,
    "fans": fans,
    "loops": loops,
    "parked": parked,
    "large_state": large_state,
    "typed_state": typed_state,
    "steps": steps,
    "resumed": resumed,
}


async def measure(names: list[str], folder: str | None) -> None:
    """Each on a store of its own: a loop is not to wait until a hundred thousand branches are folded into the file."""
    for name in names:
        with TemporaryDirectory(dir=folder) as work:
            peer = Peer()
            await peer.setup(Path(work))
            for _ in range(20):
                await peer.chain("")
            found = await MEASURES[name](peer)
            await peer.teardown()
        sys.stdout.write(msgspec.json.encode({key: round(value, 3) for key, value in found.items()}).decode() + "\n")
        sys.stdout.flush()


def main() -> None:
    """Measure what is asked for, or everything."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MEASURES))
    asked.add_argument(
        "--folder", default=os.environ.get("BENCH_DATA"), help="where the stores lie: the disk to measure"
    )
    words = asked.parse_args()
    asyncio.run(measure(words.names or list(MEASURES), words.folder))


if __name__ == "__main__":
    main()

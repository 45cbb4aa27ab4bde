"""Many runs that wait: what they cost in memory, and whether anybody else notices them.

`python -m benchmarks.parked [RUNS]`: starts that many runs which wait for an hour, then compares with an empty store:
opening it, and starting and finishing another run.
"""

import asyncio
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from jeton.executor import Executor
from jeton.hosts.sqlite import SqliteHost
from jeton.model.json import Json
from jeton.model.task import Action, Step, Task
from jeton.model.workflow import Library, Node, TaskTarget, WaitTarget, Workflow

AT_ONCE = 500
TRIES = 100
NAP = Workflow("nap", "a", {"a": Node(WaitTarget(seconds=3600))})
QUICK = Workflow(
    "quick", "a", {"a": Node(TaskTarget(Task((Step(Action("context", {"set": {"n": "input.n + 1"}}), "a"),))))}
)


def resident_kib() -> int:
    """What this process holds in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise OSError("no VmRSS")


async def opened(path: Path) -> tuple[SqliteHost, float]:
    began = time.perf_counter()
    host = await SqliteHost.open(path, workers=Executor())
    return host, time.perf_counter() - began


async def park(host: SqliteHost, runs: int) -> float:
    version = await host.deploy(Library(workflows={"nap": NAP}), "nap")
    began = time.perf_counter()
    for _ in range(0, runs, AT_ONCE):
        await asyncio.gather(*[host.start("nap", version, {}) for _ in range(AT_ONCE)])
    return runs / (time.perf_counter() - began)


async def other_runs(hosts: list[SqliteHost]) -> list[float]:
    """The usual time of a run from its start to its end, in ms: by turns, because a disk has good and bad minutes."""
    versions = [await host.deploy(Library(workflows={"quick": QUICK}), "quick") for host in hosts]
    took: list[list[float]] = [[] for _ in hosts]
    given: Json = {"n": 1}
    for _ in range(TRIES):
        for times, host, version in zip(took, hosts, versions, strict=True):
            began = time.perf_counter()
            run, _ = await host.start("quick", version, given)
            await host.ended(run)
            times.append((time.perf_counter() - began) * 1e3)
    return [median(times) for times in took]


async def openings(paths: list[Path]) -> list[float]:
    """Median seconds to open each store, by turns."""
    took: list[list[float]] = [[] for _ in paths]
    for _ in range(7):
        for times, path in zip(took, paths, strict=True):
            host, seconds = await opened(path)
            times.append(seconds)
            await host.close(0)
    return [median(times) for times in took]


async def main(runs: int, folder: Path) -> None:
    empty, full = folder / "empty.db", folder / "full.db"
    host, _ = await opened(empty)
    await host.close(0)
    host, _ = await opened(full)
    await park(host, 1000)  # warm, so that what follows is the runs' own
    before = resident_kib()
    rate = await park(host, runs)
    after = resident_kib()
    await host.close(0)
    empty_s, full_s = await openings([empty, full])
    hosts = [(await opened(path))[0] for path in (empty, full)]
    empty_ms, full_ms = await other_runs(hosts)
    for host in hosts:
        await host.close(0)
    print(f"{runs} runs parked at {rate:.0f}/s: {(after - before) / runs:.3f} KiB of memory each")
    print(f"opening: empty {empty_s * 1e3:.1f} ms, full {full_s * 1e3:.1f} ms, ratio {full_s / empty_s:.2f}")
    print(f"another run: empty {empty_ms:.2f} ms, full {full_ms:.2f} ms, ratio {full_ms / empty_ms:.2f}")


if __name__ == "__main__":
    with TemporaryDirectory(dir=".") as place:
        asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, Path(place)))

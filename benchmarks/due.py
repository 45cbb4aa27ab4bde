"""Many timers due at once: how fast they drain, and whether a run that is started meanwhile has to wait for them.

`python -m benchmarks.due [RUNS]`: that many runs wait for the same moment.
"""

import asyncio
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import jeton
from benchmarks.adapter import library

NAPS = {"initial_node": "nap", "nodes": {"nap": {"wait": {"until": "input.at"}}}}
AT_ONCE = 500


async def measure(runs: int) -> None:
    """Park them all, let the moment come, and start others until the last has ended."""
    with TemporaryDirectory() as folder:
        async with jeton.open(Path(folder, "due.db"), grace_s=0) as engine:
            await engine.deploy({"workflows": {**library()["workflows"], "naps": NAPS}})  # type: ignore[dict-item]
            due = time.time() + 15 + runs / 2000
            given = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(due))}
            for _ in range(0, runs, AT_ONCE):
                await asyncio.gather(*[engine.start("naps", given) for _ in range(AT_ONCE)])
            await asyncio.sleep(max(0.0, int(due) - time.time()))
            took: list[float] = []
            began = time.perf_counter()
            while await engine.list(workflow="naps", status="waiting", limit=1):
                start = time.perf_counter()
                await (await engine.start("single", {"n": 0})).result()
                took.append((time.perf_counter() - start) * 1e3)
            drained = time.perf_counter() - began
    print(f"{runs} runs due at once: drained in {drained:.1f} s, {runs / drained:.0f} a second")
    print(f"{len(took)} runs started meanwhile: median {median(took):.1f} ms, longest {max(took):.1f} ms")


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))

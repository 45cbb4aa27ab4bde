"""Lists in a large store: what each costs among a million runs, beside what it costs among a thousand.

`python -m benchmarks.large [RUNS]`. The stores are filled with copies of one run, in SQL; a run that was really made is
the last one. Exits with 1 if a list costs more than three times as much in the large store.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import jeton
from benchmarks.adapter import library
from jeton.actor.queries.listing import RunFilter
from jeton.hosts.sqlite.file.connect import connect
from jeton.model.ids import RunId
from jeton.model.state.run import RunStatus

FEW, MANY = 1_000, 1_000_000
MOST = 3.0
TIMES = 25
LIMIT = 50

# ids that sort before those of real runs, ten of a second; every tenth run failed, every thousandth waits at a gate
COPIES = """
with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
insert into runs select
    printf('0%09d', i), workflow, version,
    case when i % 1000 = 0 then 'waiting' when i % 10 = 0 then 'failed' else status end, paused,
    submitted_at - 100 * (?2 - i + 1), started_at, case when i % 1000 then ended_at end, null, 0,
    entries, hash, head, small,
    case when i % 50 = 1 then printf('0%09d', i - 1) end
from n cross join runs where run = ?1
"""
ENTRIES = """
with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
insert into journal(position, run, number, hash, body)
select (select max(position) from journal) + i, printf('0%09d', i), 0, hash, body
from n cross join journal where run = ?1 and number = 0
"""
GATES = """
with recursive n(i) as (select 1000 union all select i + 1000 from n where i + 1000 <= ?1)
insert into gates select printf('0%09d', i), 0, 'ask', 'root', 'Ask', i, null, 0, null from n
"""
USAGE = """
with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
insert into usage(run, node, day, workflow, credits, shortfall)
select printf('0%09d', i), 'a', date('2026-01-01', '+' || (i * 30 / ?1) || ' days'), 'single', 1, 0 from n
"""
FIRINGS = """
with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
insert into firings(trigger, delivery, type, depth, at, run)
select 'nightly', i, 'schedule', 0, i, printf('0%09d', i) from n
"""

Ask = Callable[[], Awaitable[object]]


async def fill(store: Path, runs: int) -> str:
    """A store with that many copies of a run; gives the run."""
    async with jeton.open(store, grace_s=0) as engine:
        await engine.deploy(library())
        run = await engine.start("single", {"n": 0})
        await run.result()
    db = connect(store)
    db.pragma("synchronous", "off")
    db.execute("begin")
    for statement in (COPIES, ENTRIES):
        db.execute(statement, (run.id, runs))
    for statement in (GATES, USAGE, FIRINGS):
        db.execute(statement, (runs,))
    db.execute("commit")
    db.close()
    return run.id


def lists(engine: jeton.Engine, run: str, runs: int) -> dict[str, Ask]:
    """What is asked, by name."""
    reads, listing = engine.browse._lookup.host.reads, engine.browse._lookup.host.listing  # pyright: ignore[reportPrivateUsage]
    middle = RunId(f"0{runs // 2:09d}")
    failed: frozenset[RunStatus] = frozenset(("failed",))
    return {
        "newest": lambda: reads.rows(limit=LIMIT),
        "behind the middle": lambda: reads.rows(after=middle, limit=LIMIT),
        "by workflow": lambda: reads.rows(workflow="single", limit=LIMIT),
        "by status": lambda: reads.rows(status="failed", limit=LIMIT),
        "by both": lambda: reads.rows(workflow="single", status="failed", limit=LIMIT),
        "by both, none there": lambda: reads.rows(workflow="single", status="cancelled", limit=LIMIT),
        "page: by both": lambda: listing.runs(RunFilter("single", failed), None, LIMIT),
        "page: within times": lambda: listing.runs(RunFilter(None, frozenset(), 1, 2), None, LIMIT),
        "conversations": lambda: reads.rows(conversations=True, limit=LIMIT),
        "children": lambda: reads.children(middle),
        "tree": lambda: listing.tree(middle, LIMIT),
        "runs of a tree under way": lambda: reads.unended(middle),
        "gates of a run": lambda: reads.gates(RunId("0000001000")),
        "events of a run": lambda: reads.entries(RunId(run)),
        "place of an event": lambda: reads.place(RunId(run), 3),
        "end of the line": lambda: reads.line(reads_from(runs), LIMIT),
        "firings of a run": lambda: reads.firings(run=middle),
        "firings before the middle": lambda: listing.firings("nightly", runs // 2, LIMIT),
        "usage of a run": lambda: reads.usage(run=middle),
    }


def reads_from(runs: int) -> int:
    """A position near the end of the line."""
    return max(runs - LIMIT, 0)


async def made(folder: Path, runs: int) -> tuple[Path, str]:
    """A store with that many runs, and the one that was really made."""
    store = folder / f"{runs}.db"
    began = time.perf_counter()
    run = await fill(store, runs)
    print(f"{runs:,} runs: {store.stat().st_size >> 20} MiB, made in {time.perf_counter() - began:.0f} s", flush=True)
    return store, run


async def measure(folder: Path, sizes: tuple[int, int]) -> dict[str, list[float]]:
    """Microseconds of CPU of each list in both stores, warm: medians. They take turns, so that noise meets both."""
    took: dict[str, list[list[float]]] = {}
    (few, one), (large, other) = [await made(folder, runs) for runs in sizes]
    async with jeton.open(few, owner=False) as small, jeton.open(large, owner=False) as big:
        asked = lists(small, one, sizes[0]), lists(big, other, sizes[1])
        for name in asked[0]:
            took[name] = [[], []]
            for _ in range(TIMES):
                for which, asks in enumerate(asked):
                    start = time.process_time()
                    await asks[name]()
                    took[name][which].append((time.process_time() - start) * 1e6)
    return {name: [median(each) for each in both] for name, both in took.items()}


async def compare(many: int) -> bool:
    """Print both costs and their ratio. Returns whether all ratios are small enough."""
    with TemporaryDirectory(prefix="jeton-large-") as folder:
        found = await measure(Path(folder), (FEW, many))
    print(f"{'list':28}{FEW:>12,}{many:>12,}  ratio")
    for name, (few, large) in found.items():
        print(f"{name:28}{few:>9.0f} µs{large:>9.0f} µs{large / few:7.2f}")
    return all(large <= MOST * few for few, large in found.values())


if __name__ == "__main__":
    sys.exit(not asyncio.run(compare(int(sys.argv[1]) if len(sys.argv) > 1 else MANY)))

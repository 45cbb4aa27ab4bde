"""A process that owns a store or only reads it, for tests that kill it.

usage: python -m tests.hosts.child own STORE RUNS     start that many chains, print each id, and work until killed
       python -m tests.hosts.child hold STORE         start one run whose task never answers, and stay
       python -m tests.hosts.child resume STORE       take up what there is, and name each run that is given a task
       python -m tests.hosts.child fill STORE         start runs until the disk is full, beside some ballast
       python -m tests.hosts.child count STORE        name the runs there are, once they have ended
       python -m tests.hosts.child cancel STORE RUN   as a visitor: leave a cancellation, and go
"""

import asyncio
import sys
from pathlib import Path

from jeton.actor.starts import NewRun
from jeton.hosts.sqlite import SqliteHost
from jeton.model.effect import StartTask
from jeton.model.failure import Refused, TaskFailed
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import CancelRun
from tests.hosts.library import HOLD, chain, library
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work

NODES = 20


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")  # one write, so that no line is cut
    sys.stdout.flush()


async def own(store: str, runs: int) -> None:
    host = await SqliteHost.open(store, workers=TrivialWorkers(work))
    version = await host.deploy(library(w=chain(NODES)), "w")

    async def start(number: int) -> None:
        run, is_new = await host.start(NewRun("w", version, {"n": 0}, key=f"k{number}"))
        say("started", run, is_new)
        row = await host.ended(run)
        say("ended", run, row.status)

    await asyncio.gather(*[start(number) for number in range(runs)])
    await host.close()


async def hold(store: str) -> None:
    host = await SqliteHost.open(store, workers=TrivialWorkers(work))
    version = await host.deploy(library(w=HOLD), "w")
    run, _ = await host.start(NewRun("w", version, {}))
    say("started", run)
    row = await host.ended(run)
    say("ended", run, row.status)
    await host.close()


async def resume(store: str) -> None:
    def named(effect: StartTask) -> Json | TaskFailed:
        say("working", workers.calls[-1][0])
        return work(effect)

    workers = TrivialWorkers(named)
    host = await SqliteHost.open(store, workers=workers)
    await host.idle()
    await host.close()


async def fill(store: str) -> None:
    await asyncio.to_thread(Path(store).with_name("ballast").write_bytes, b"x" * 400_000)
    host = await SqliteHost.open(store, workers=TrivialWorkers(work))
    version = await host.deploy(library(w=chain(2)), "w")
    try:
        while True:
            run, _ = await host.start(NewRun("w", version, {"n": 0, "pad": "x" * 1000}))
            say("started", run)
    except Refused as refused:
        say("refused", refused.code)
    await host.close()


async def count(store: str) -> None:
    host = await SqliteHost.open(store, workers=TrivialWorkers(work))
    await host.idle()
    for row in await host.reads.rows(limit=10_000, status="completed"):
        say("found", row.run)
    await host.close()


async def cancel(store: str, run: str) -> None:
    host = await SqliteHost.open(store, workers=None, owner=False)
    await host.deliver(RunId(run), CancelRun(0, "a visitor said so"))
    say("told", run)
    row = await host.ended(RunId(run))
    say("ended", run, row.status)
    await host.close()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["own", store, runs]:
            asyncio.run(own(store, int(runs)))
        case ["hold", store]:
            asyncio.run(hold(store))
        case ["resume", store]:
            asyncio.run(resume(store))
        case ["fill", store]:
            asyncio.run(fill(store))
        case ["count", store]:
            asyncio.run(count(store))
        case ["cancel", store, run]:
            asyncio.run(cancel(store, run))
        case _:
            raise SystemExit(__doc__)

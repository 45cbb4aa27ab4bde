"""Several workers on one PostgreSQL, and what happens to them: killed, stopped and woken, the database crashed.

usage: python -m tests.cluster.storm [--seeds 20] [--from 0] [--runs 500]
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from jeton.actor.starts import NewRun
from jeton.engine.stores import verify_store
from jeton.hosts.postgres.host import PgHost
from jeton.hosts.sql.clock import wall_ms
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import AnswerGate, SignalRun
from jeton.model.state.run import TERMINAL
from tests.hosts.library import FAMILY, GATE, QUORUM, RETRY, SIGNAL, WAIT, chain, library
from tests.postgres import Server, running

Value = TypeVar("Value")

WORKERS = 3
PATIENCE_S = 300
FROZEN_S = 40

WORKFLOWS = {
    "chain": chain(5),
    "quorum": QUORUM,
    "retry": RETRY,
    "wait": WAIT,
    "family": FAMILY,
    "child": chain(1),
    "gate": GATE,
    "signal": SIGNAL,
}
INPUTS: Mapping[str, Json] = {
    "chain": {"n": 0},
    "quorum": {"items": list(range(6))},
    "retry": {},
    "wait": {"s": 0.5},
    "family": {},
    "gate": {},
    "signal": {},
}
OUTPUTS: Mapping[str, Json] = {
    "chain": {"n": 5},
    "quorum": {"votes": 3},
    "retry": {"n": 3},
    "wait": {},
    "family": {"ns": [2, 3, 4]},
    "gate": {"said": 1},
    "signal": {"said": 1},
}


class Report(msgspec.Struct):
    """What a storm came to."""

    seed: int
    runs: int = 0
    kills: int = 0
    stops: int = 0
    crashes: int = 0
    effects: int = 0
    repeated: int = 0  # attempts that were made more than once: their effect on the run counted once
    problems: list[str] = msgspec.field(default_factory=list[str])


class Storm:
    """One cluster with its runs."""

    def __init__(self, server: Server, seed: int, runs: int, folder: Path, *, frozen_s: float) -> None:
        self._server = server
        self._url = server.new_database()
        self._random = random.Random(seed)
        self._count = runs
        self._effects = folder / f"effects-{seed}"
        self._workers: list[subprocess.Popen[bytes]] = []
        self._frozen_s = frozen_s
        self.report = Report(seed, runs)
        self._started: dict[RunId, str] = {}

    def _work(self) -> None:
        line = [sys.executable, "-m", "tests.cluster.worker", self._url, str(self._effects)]
        self._workers.append(subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    async def run(self) -> Report:
        """Start the runs amid faults, then wait until all have ended, and look at what they came to."""
        for _ in range(WORKERS):
            self._work()
        client = await self._client()
        try:
            versions = {name: await client.deploy(library(**WORKFLOWS), name) for name in INPUTS}
            trouble = asyncio.create_task(self._trouble())
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(*[self._one(client, number, versions) for number in range(self._count)])
                await trouble
                await self._judge(client)
        except TimeoutError:
            self.report.problems.append(f"not all runs ended within {PATIENCE_S} s")
        finally:
            await client.close()
            for worker in self._workers:
                worker.kill()
                worker.wait()
        self._count_effects()
        self.report.problems += [str(found) for found in verify_store(self._url).problems]
        self._server.drop(self._url)
        return self.report

    async def _client(self) -> PgHost:
        while True:
            try:
                return await PgHost.open(self._url, workers=None, owner=False)
            except Refused:
                await asyncio.sleep(0.2)  # no worker has made the tables yet

    async def _one(self, client: PgHost, number: int, versions: dict[str, int]) -> None:
        """Start a run, tell it what it waits for, and wait for its end; each again until it was acknowledged."""
        name = sorted(INPUTS)[number % len(INPUTS)]
        new = NewRun(name, versions[name], INPUTS[name], key=f"k{number}")
        run, _ = await self._insist(lambda: client.start(new))
        self._started[run] = name
        if name == "gate":
            answer = AnswerGate(wall_ms(), f"told-{number}", 1, node="ask")
            while not await self._insist(lambda: client.reads.gates(run)):
                if (row := await self._insist(lambda: client.reads.row(run))) is not None and row.status in TERMINAL:
                    break
                await asyncio.sleep(0.2)
            await self._insist(lambda: client.deliver(run, answer))
        elif name == "signal":
            said = SignalRun(wall_ms(), f"told-{number}", "go", 1, key="k")
            await self._insist(lambda: client.deliver(run, said))
        await self._insist(lambda: client.ended(run))

    async def _insist(self, act: Callable[[], Awaitable[Value]]) -> Value:
        while True:
            try:
                return await act()
            except Refused as refused:
                if refused.code != "store_failed":
                    raise
                await asyncio.sleep(0.2)  # the database is down

    async def _trouble(self) -> None:
        """A few faults, in some order."""
        faults = [self._kill_one, self._kill_all, self._crash, self._freeze]
        self._random.shuffle(faults)
        for fault in faults:
            await asyncio.sleep(self._random.uniform(0.5, 2.5))
            await fault()

    async def _kill_one(self) -> None:
        self.report.kills += 1
        worker = self._workers.pop(self._random.randrange(len(self._workers)))
        worker.kill()
        worker.wait()
        self._work()

    async def _kill_all(self) -> None:
        for _ in range(len(self._workers)):
            await self._kill_one()

    async def _crash(self) -> None:
        self.report.crashes += 1
        await asyncio.to_thread(self._server.stop, signal.SIGQUIT)
        await asyncio.sleep(self._random.uniform(0.1, 1))
        await asyncio.to_thread(self._server.start)

    async def _freeze(self) -> None:
        """A worker that is silent for longer than others wait, and then goes on with what it had."""
        if not self._frozen_s:
            return
        self.report.stops += 1
        worker = self._random.choice(self._workers)
        os.kill(worker.pid, signal.SIGSTOP)
        await asyncio.sleep(self._frozen_s)
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGCONT)

    async def _judge(self, client: PgHost) -> None:
        found = self.report.problems
        for run, name in self._started.items():
            row = await client.reads.row(run)
            if row is None or row.status != "completed" or row.output != OUTPUTS[name]:
                found.append(f"run {run} of {name}: {row}")
            entries = await client.reads.entries(run)
            if [entry.number for entry in entries] != list(range(len(entries))):
                found.append(f"the journal of {run} has holes")
        total = len([row for row in await client.reads.rows(limit=10 * self._count) if row.parent is None])
        if total != self._count:
            found.append(f"there are {total} runs for {self._count} keys")

    def _count_effects(self) -> None:
        counted = Counter(self._effects.read_text().split()) if self._effects.exists() else Counter[str]()
        self.report.effects = counted.total()
        self.report.repeated = sum(count - 1 for count in counted.values())


async def storm(seed: int, runs: int, *, frozen_s: float = FROZEN_S) -> Report:
    """One storm, with a server of its own."""
    with running(durable=True) as server:
        return await Storm(server, seed, runs, server.folder, frozen_s=frozen_s).run()


def main() -> int:
    """Sweep over seeds. Returns 1 if anything was lost, doubled or stuck."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=500)
    options = parser.parse_args()
    failed = 0
    for seed in range(options.first, options.first + options.seeds):
        report = asyncio.run(storm(seed, options.runs))
        failed += bool(report.problems)
        print(msgspec.json.encode(report).decode(), flush=True)
    print(f"{options.seeds} seeds, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())

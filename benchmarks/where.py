"""Where the microseconds of a node go: W2, ten-node chains with 50 in flight, with a stopwatch on the real functions.

Two threads work: the event loop, and the writer. Each has a column that adds up to the wall time of a node, because a
thread that has nothing to do waits, and waiting is a row too. What the stopwatch costs is measured and taken off; the
same chains without it, in the same rounds, say whether that is right.

usage: python -m benchmarks.where [--rounds N] [--runs N] [--write]
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from pkgutil import resolve_name
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from benchmarks.adapter import CHAIN, Peer
from benchmarks.report import write_section
from benchmarks.stopwatch import Cost, Stopwatch, cost_of_watching
from benchmarks.workloads import pooled
from jeton.hosts.sqlite.file.connect import Durability, connect_writer

IN_FLIGHT = 50
PLANNING, APPLY, EXPRESSIONS = "planning", "apply", "expressions"
BATCH = "the batch around them: draft, entry, commit"
ENCODING = "encoding: journal entry, sections, hash, rows"
HAND_OFF = "hand-off to the writer and back"
STATEMENTS, COMMIT = "SQLite's statements", "commit and sync"
TASK = "dispatch and running the task"
ENDS = "starting a run and telling its end"
REST = "the rest of the event loop"
WAITING = "waiting for the other thread"
ROWS = (PLANNING, APPLY, EXPRESSIONS, BATCH, ENCODING, HAND_OFF, STATEMENTS, COMMIT, TASK, ENDS, REST, WAITING)

ACTOR, TURN, RUNS = "jeton.actor.advance:", "jeton.actor.turn:", "jeton.hosts.sql.loop.runs:"
EXECUTOR = "jeton.executor.executor:"
ON_THE_LOOP = {
    PLANNING: [ACTOR + name for name in ("plan_run", "plan_cue", "plan_idle", "plan_started", "plan_onward")],
    APPLY: [ACTOR + name for name in ("fold", "fold_all", "batch_creations", "count_events")],
    BATCH: [TURN + "advance"],
    EXPRESSIONS: [f"jeton.expression.expression:Expression.{name}" for name in ("evaluate", "holds")],
    ENCODING: [TURN + "turn_of", TURN + "next_hash", "jeton.hosts.sql.rows:Write._put_sections"],
    HAND_OFF: [RUNS + name for name in ("Runs._step", "Runs.deliver", "Runs.committed")],
    TASK: [
        "jeton.hosts.sql.loop.tasks:Tasks.start",
        *(EXECUTOR + name for name in ("Executor._start_waiting", "Executor._run_jobs")),
    ],
    ENDS: ["jeton.engine.engine:Engine.start", "jeton.engine.engine:Engine.ended"],
}
IN_THE_WRITER = {
    ENCODING: ["jeton.hosts.sqlite.writer:SqliteWriter._write"],  # rows for the statements, which are counted apart
    COMMIT: [
        "jeton.hosts.sqlite.file.commit_log:CommitLog.append",
        "jeton.hosts.sqlite.writer:SqliteWriter._maybe_checkpoint",
    ],
    WAITING: ["jeton.hosts.sqlite.writer:SqliteWriter._next_batch"],
}
Column = dict[str, float]


class _Connection:
    """The writer's connection, with a stopwatch on what it executes."""

    def __init__(self, db: Any, watch: Stopwatch) -> None:
        self._db = db
        self._commit = watch.watched(COMMIT, db.execute)
        self._execute = watch.watched(STATEMENTS, db.execute)
        self.executemany = watch.watched(STATEMENTS, db.executemany)
        self.pragma = watch.watched(STATEMENTS, db.pragma)

    def execute(self, statements: str, *bindings: Any) -> Any:
        return (self._commit if statements == "commit" else self._execute)(statements, *bindings)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def __enter__(self) -> Any:
        return self._db.__enter__()

    def __exit__(self, *problem: Any) -> Any:
        return self._db.__exit__(*problem)


@contextmanager
def watching(loop: Stopwatch, writer: Stopwatch) -> Generator[None]:
    """Have the stopwatches on, for engines that are opened meanwhile."""
    with ExitStack() as undo:
        for watch, places in ((loop, ON_THE_LOOP), (writer, IN_THE_WRITER)):
            for place, targets in places.items():
                for target in targets:
                    holder, _, name = target.replace(":", ".").rpartition(".")
                    function = watch.watched(place, resolve_name(target))
                    undo.enter_context(patch.object(resolve_name(holder), name, function))

        def connect(path: Path, durability: Durability) -> Any:
            return _Connection(connect_writer(path, durability), writer)

        undo.enter_context(patch("jeton.hosts.sqlite.writer.connect_writer", connect))
        yield


async def chains(runs: int, watches: tuple[Stopwatch, ...] = (), cost: Cost = (0.0, 0.0)) -> tuple[float, list[Column]]:
    """Microseconds of a node: by the clock on the wall, and by each stopwatch."""
    nodes = runs * CHAIN
    if watches:
        loop: Any = asyncio.get_running_loop()
        selector = loop._selector  # nobody else can say when a loop has nothing to do
        selector.select = watches[0].watched(WAITING, selector.select)
    with TemporaryDirectory(dir=os.environ.get("BENCH_DATA")) as folder:
        peer = Peer()
        await peer.setup(Path(folder))
        await pooled(lambda: peer.chain(""), min(runs, 2 * IN_FLIGHT), IN_FLIGHT)
        for watch in watches:
            watch.reset()
        took = await pooled(lambda: peer.chain(""), runs, IN_FLIGHT)
        read = [watch.read(cost) for watch in watches]
        await peer.teardown()
    return took * 1e6 / nodes, [{place: ns / 1e3 / nodes for place, ns in column.items()} for column in read]


def measure(rounds: int, runs: int) -> tuple[float, list[Column]]:
    """Medians over the rounds; with and without the stopwatch by turns, because machines have good and bad minutes."""
    cost = cost_of_watching()
    walls: list[float] = []
    seen: list[list[Column]] = []
    for _ in range(rounds):
        walls.append(asyncio.run(chains(runs))[0])
        watches = Stopwatch(REST), Stopwatch(HAND_OFF)
        with watching(*watches):
            seen.append(asyncio.run(chains(runs, watches, cost))[1])
    columns = [{row: median(found[thread].get(row, 0.0) for found in seen) for row in ROWS} for thread in (0, 1)]
    return median(walls), columns


def table(wall: float, columns: list[Column]) -> str:
    """Markdown: a row a place, a column a thread."""
    lines = ["| µs a node | event loop | writer |", "| --- | ---: | ---: |"]
    for row in ROWS:
        lines.append(f"| {row} | {' | '.join(_number(column[row]) for column in columns)} |")
    lines.append(f"| **together** | {' | '.join(_number(sum(column.values())) for column in columns)} |")
    lines.append(f"| **wall time without the stopwatch** | {' | '.join([_number(wall)] * len(columns))} |")
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return f"{value:.1f}" if value else ""


def main() -> None:
    """Print the table; with `--write`, put it into the docs."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rounds", type=int, default=5)
    asked.add_argument("--runs", type=int, default=200, help="chains in a round")
    asked.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    words = asked.parse_args()
    text = table(*measure(words.rounds, words.runs))
    sys.stdout.write(text)
    if words.write:
        write_section("where", text)


if __name__ == "__main__":
    main()

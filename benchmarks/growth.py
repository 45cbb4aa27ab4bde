"""Does a message cost the same when there is more of everything: tokens in a run, history behind it, runs in the store?

Every point has two processes: one with so many, and one with as few as there can be, on a store of its own. They are
measured by turns, so that a slow minute is slow for both, and what counts is their ratio.

usage: python -m benchmarks.growth [--rounds N] [--most N] [--write]
"""

import argparse
import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from benchmarks.adapter import Peer, ticks
from benchmarks.growth_report import Point, chart, table
from benchmarks.report import DOCS, ROOT, write_section
from benchmarks.workloads import Figures, alone, chains, pooled, resident_kib
from jeton.model.json import JsonObject

BUSY = 10
STRETCH = 200  # iterations that are timed
HELD: JsonObject = {
    "initial_node": "start",
    "nodes": {
        "start": {},
        "nap": {"wait": {"seconds": 3600}},
        "hold": {"wait": {"signal": "times"}, "output_mapping": {"state.times": "result"}},
        "begin": {"action": "wait_for_go", "input_mapping": {"n": "0"}},
        "tick": {
            "action": "tick_of_loop",
            "input_mapping": {"n": "has(_branch.output.n) ? _branch.output.n : 0"},
            "output_mapping": {"state.n": "result.n"},
        },
    },
    "transitions": [
        {"from": "start", "to": "nap", "spawn_count": "input.waiting", "sibling_group": "naps"},
        {"from": "start", "to": "hold"},
        {"from": "hold", "to": "begin"},
        {"from": "begin", "to": "tick", "spawn_count": "input.busy", "sibling_group": "busy"},
        {"from": "tick", "to": "tick", "condition": "_branch.output.n < state.times"},
        {"from": "tick", "to": "hold", "priority": 2, "synchronization": {"sibling_group": "busy"}},
    ],
    "limits": {"max_tokens": 1_000_000},
}
"""Tokens that wait, and others that go round as often as a signal says, again and again."""

Measure = Callable[[], Awaitable[Figures]]


async def held(peer: Peer, busy: int, waiting: int) -> Callable[[int], Awaitable[float]]:
    """A run that goes round so many times when asked to, and the microseconds of a message then."""
    await peer.engine.deploy({"workflows": {"held": HELD}})
    run = await peer.engine.start("held", {"busy": busy, "waiting": waiting})
    await peer.engine.idle()

    async def go_round(times: int) -> float:
        ticks.clear()
        peer.hold()
        await run.signal("times", times)  # the run is taken up, and its record shown: that costs its own size
        peer.let_go()
        await peer.engine.idle()
        assert len(ticks) == busy * times, f"{len(ticks)} ticks"
        return (ticks[-1] - ticks[busy - 1]) / (len(ticks) - busy) * 1e6

    return go_round


async def tokens(peer: Peer, size: int) -> Measure:
    """So many tokens under way in one run: ten of them busy, the others waiting."""
    go_round = await held(peer, BUSY, size - BUSY)

    async def measure() -> Figures:
        return {"message, µs": await go_round(STRETCH)}

    return measure


async def history(peer: Peer, size: int) -> Measure:
    """A run that has gone round so many times."""
    go_round = await held(peer, 1, 0)
    await go_round(size)

    async def measure() -> Figures:
        return {"message, µs": await go_round(STRETCH)}

    return measure


async def ended_runs(peer: Peer, size: int) -> Measure:
    """So many runs that have ended."""
    await pooled(lambda: peer.single(""), size, 100)
    return among_others(peer)


async def parked_runs(peer: Peer, size: int) -> Measure:
    """So many runs that wait for an hour."""
    await peer.park(size)
    return among_others(peer)


def among_others(peer: Peer) -> Measure:
    """What runs cost in a store with others in it."""
    mib = resident_kib() / 1024  # of the process that has started all of them

    async def measure() -> Figures:
        opening = await peer.reopen()
        node = 1e6 / (await chains(peer))["w2_nodes_per_s"]
        return {
            "W2 node, µs": node,
            "W1 p50, ms": (await alone(peer, 100))["w1_p50_ms"],
            "opening, ms": opening * 1e3,
            "memory, MiB": mib,
        }

    return measure


class Panel(NamedTuple):
    """What grows, how far, and how a store gets there; the first size is what the others are compared with."""

    title: str
    sizes: tuple[int, ...]
    prepare: Callable[[Peer, int], Awaitable[Measure]]


PANELS = {
    "tokens": Panel("tokens under way in a run", (10, 100, 1_000, 10_000, 100_000), tokens),
    "history": Panel("iterations behind a run", (100, 1_000, 10_000, 30_000), history),
    "ended": Panel("ended runs in the store", (0, 1_000, 10_000, 100_000), ended_runs),
    "parked": Panel("parked runs in the store", (0, 1_000, 10_000, 100_000), parked_runs),
}


# one process


async def serve(panel: str, size: int) -> None:
    """Prepare a store; then figures on a line, for each line that comes in."""
    with TemporaryDirectory(dir=os.environ.get("BENCH_DATA")) as folder:
        peer = Peer()
        await peer.setup(Path(folder))
        measure = await PANELS[panel].prepare(peer, size)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while await asyncio.to_thread(sys.stdin.readline):
            sys.stdout.write(msgspec.json.encode(await measure()).decode() + "\n")
            sys.stdout.flush()
        await peer.teardown()


class Process(AbstractContextManager["Process"]):
    """Another process with a store of this size; it does nothing but what it is asked, so that one does not disturb
    the other."""

    def __init__(self, panel: str, size: int) -> None:
        words = [sys.executable, "-m", "benchmarks.growth", "--serve", panel, str(size)]
        self._process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._line()

    def measure(self) -> Figures:
        """Figures as they are now."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._line(), type=Figures)

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a measuring process has ended")  # and has said why
        return line

    def __exit__(self, *problem: object) -> None:
        self._process.communicate()


# all of them


def measure_point(name: str, size: int, rounds: int) -> list[Point]:
    """Each figure of a point, beside the same of the smallest."""
    seen: dict[str, list[tuple[float, float]]] = {}
    with Process(name, PANELS[name].sizes[0]) as few, Process(name, size) as many:
        for number in range(rounds + 1):
            order = (few, many) if number % 2 else (many, few)  # so that coming second is no advantage
            read = {process: process.measure() for process in order}
            for figure, value in read[many].items() if number else ():  # the first of each is slower than its others
                seen.setdefault(figure, []).append((value, read[few][figure]))
    return [
        Point(
            panel=PANELS[name].title,
            size=size,
            figure=figure,
            value=median(value for value, _ in pairs),
            ratio=median(value / base for value, base in pairs),
        )
        for figure, pairs in seen.items()
    ]


def main() -> None:
    """Print the table; with `--write`, put it and a chart into the docs."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--most", type=int, default=100_000, help="leave out what is larger")
    asked.add_argument("--write", action="store_true", help="into docs/benchmarks.md and docs/growth.svg")
    asked.add_argument("--serve", nargs=2, metavar=("PANEL", "SIZE"), help="be one of the processes")
    words = asked.parse_args()
    if words.serve:
        asyncio.run(serve(words.serve[0], int(words.serve[1])))
        return
    points: list[Point] = []
    for name, panel in PANELS.items():
        for size in panel.sizes:
            if size <= max(words.most, panel.sizes[0]):
                points += measure_point(name, size, words.rounds)
                sys.stderr.write(f"{panel.title}: {size:,}\n")
    text = table(points)
    sys.stdout.write(text)
    if words.write:
        write_section("growth", f"![the cost of a message as things grow](growth.svg)\n\n{text}")
        (DOCS / "growth.svg").write_text(chart(points))


if __name__ == "__main__":
    main()

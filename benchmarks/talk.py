"""Conversations: does a late turn cost what an early one did, and what do conversations cost that wait?

usage: python -m benchmarks.talk [--turns N] [--waiting N] [--write]
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import jeton
from benchmarks.report import ROOT, Claim, table, write_section
from benchmarks.workloads import Figures, resident_kib
from jeton.engine.talk.conversation import Conversation
from jeton.model.json import JsonObject

EARLY = 10
PAIRS = 40
AT_ONCE = 100
CLAIMS = (
    Claim("a late turn beside the tenth: milliseconds", "late_turn_ms", "tenth_turn_ms", 1.2, most=True),
    Claim("a late turn beside the tenth: milliseconds of CPU", "late_turn_cpu_ms", "tenth_turn_cpu_ms", 1.2, most=True),
    Claim("a late turn beside the tenth: KiB written", "late_turn_kib", "tenth_turn_kib", 1.2, most=True),
    Claim("opening beside waiting conversations: MiB", "opened_mib", "opened_empty_mib", 1.1, most=True),
)


def library(answers: int) -> JsonObject:
    """An agent that answers, and one that wants to pay and waits for approval."""
    return {
        "model_profiles": {
            "talks": {"provider": "scripted", "script": [{"text": f"Answer {n:06}."} for n in range(answers)]},
            "pays": {"provider": "scripted", "script": [{"tool_calls": [{"name": "pay", "input": {"sum": 20}}]}]},
        },
        "tasks": {"pay": {"steps": [{"ref": "a", "action": {"kind": "mock"}}]}},
        "tools": {"pay": {"description": "Pay.", "task": "pay", "needs_approval": True}},
        "personas": {"talker": {"model_profile": "talks"}, "payer": {"model_profile": "pays", "tools": ["pay"]}},
        "agents": {"talker": {"persona": "talker"}, "payer": {"persona": "payer"}},
    }


@asynccontextmanager
async def opened(store: Path, answers: int = 1) -> AsyncGenerator[jeton.Engine]:
    """An engine that has the agents."""
    async with jeton.open(store, grace_s=0) as engine:
        await engine.deploy(library(answers))
        yield engine


# turns


def written_kib() -> float:
    """What this process has handed to the system to write."""
    (line,) = (each for each in Path("/proc/self/io").read_text().splitlines() if each.startswith("wchar:"))
    return int(line.split()[1]) / 1024


class Cost(NamedTuple):
    """What a turn cost."""

    ms: float
    cpu_ms: float
    kib: float


async def take_turn(talk: Conversation, number: int) -> Cost:
    """One turn."""
    before = time.perf_counter(), time.process_time(), written_kib()
    turn = await (await talk.send(f"Message {number:06}", key=f"key {number}")).result()
    assert turn.status == "completed", turn.error
    wall, cpu, written = before
    return Cost((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3, written_kib() - written)


async def turns(store: Path, behind: int, pairs: int = PAIRS) -> Figures:
    """Turns of a conversation with so many behind it, each beside the tenth of another."""
    async with opened(store, behind + pairs) as engine:
        old = await engine.converse("talker")
        for number in range(behind):
            await take_turn(old, number)
        tenth: list[Cost] = []
        late: list[Cost] = []
        for number in range(pairs):
            young = await engine.converse("talker")
            for before in range(EARLY - 1):
                await take_turn(young, before)
            tenth.append(await take_turn(young, EARLY))
            late.append(await take_turn(old, behind + number))
    found: Figures = {}
    for place, figure in enumerate(Cost._fields):
        found[f"tenth_turn_{figure}"] = _undisturbed([cost[place] for cost in tenth])
        found[f"late_turn_{figure}"] = _undisturbed([cost[place] for cost in late])
    return found


def _undisturbed(values: list[float]) -> float:
    """The lower quartile: what other processes do makes a turn slower, and never faster."""
    return sorted(values)[len(values) // 4]


# waiting


async def wait(store: Path, conversations: int) -> float:
    """Begin so many conversations, each of which waits for approval: the seconds that took."""
    numbers, began = count(), time.perf_counter()
    async with opened(store) as engine:

        async def some() -> None:
            while next(numbers) < conversations:
                await (await engine.converse("payer")).send("Pay, please.")

        await asyncio.gather(*[some() for _ in range(AT_ONCE)])
        await engine.idle()
        assert len(await engine.gates()) == conversations
    return time.perf_counter() - began


async def reopen(store: Path) -> None:
    """Open a store, wait until nothing moves, and say what that took and what this process holds."""
    began = time.perf_counter()
    async with jeton.open(store, grace_s=0) as engine:
        await engine.idle()
        print((time.perf_counter() - began) * 1e3, resident_kib() / 1024)


def reopened(store: Path, times: int = 5) -> tuple[float, float]:
    """Milliseconds and MiB of a process that opens a store: medians of so many."""
    words = [sys.executable, "-m", "benchmarks.talk", "--reopen", str(store)]
    said = [subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout for _ in range(times)]
    found = [tuple(map(float, line.split())) for line in said]
    return median(ms for ms, _ in found), median(mib for _, mib in found)


def waiting(folder: Path, conversations: int) -> Figures:
    """A store with so many waiting conversations, beside one without."""
    took = asyncio.run(wait(folder / "many.db", conversations))
    asyncio.run(wait(folder / "none.db", 0))
    none, many = reopened(folder / "none.db"), reopened(folder / "many.db")
    return {
        "begun_per_s": conversations / took,
        "opening_empty_ms": none[0],
        "opening_ms": many[0],
        "opened_empty_mib": none[1],
        "opened_mib": many[1],
    }


def main() -> None:
    """Print the table; with `--write`, put it into the docs."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--turns", type=int, default=1_000, help="behind the late turn")
    asked.add_argument("--waiting", type=int, default=10_000, help="conversations that wait for approval")
    asked.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    asked.add_argument("--reopen", type=Path, metavar="STORE", help="be the process that opens it")
    words = asked.parse_args()
    if words.reopen:
        asyncio.run(reopen(words.reopen))
        return
    with TemporaryDirectory() as folder:
        found = asyncio.run(turns(Path(folder, "turns.db"), words.turns)) | waiting(Path(folder), words.waiting)
    text = table(found, CLAIMS)
    sys.stdout.write(text)
    if words.write:
        write_section("talk", text)


if __name__ == "__main__":
    main()

"""Kill a process at its Nth write and its Nth sync, for every N; fail its Nth sync; tear and flip its log.

Then open what is left, and see that nothing acknowledged is lost and that every run ends as it would have ended.

usage: python -m tests.crash.sweep [--sample N] [--scenario NAME] [--jobs N]
"""

import argparse
import asyncio
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path

import msgspec

from jeton.hosts.sqlite.tools.verify import verify
from tests.crash.scenario import NAMES, broken_journals, problems_after
from tests.crash.streamed import problems_of_streams
from tests.crash.talked import TALK
from tests.executor.models.wire_protocols import PROTOCOLS

ROOT = Path(__file__).parents[2]
WRITES, SYNCS = ("pwrite64",), ("fdatasync", "fsync")
FAILPOINTS = ("between_statements", "before_commit", "after_commit", "before_effects")
MOST = 400


class Fault(msgspec.Struct, frozen=True):
    """What is done to the process, and the words of the command that does it."""

    kind: str
    nth: int
    command: tuple[str, ...] = ()
    failpoint: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.nth}"


class Case(msgspec.Struct, frozen=True):
    """One scenario disturbed once, and what was wrong afterwards."""

    scenario: str
    fault: str
    disturbed: bool
    problems: tuple[str, ...] = ()


def faults(scenario: str, folder: Path) -> Iterator[Fault]:
    """Every place at which the scenario can be disturbed."""
    for place in FAILPOINTS:
        yield from (Fault(f"kill at {place}", n, failpoint=f"{place}:{n}") for n in range(1, 13))
    if shutil.which("strace") is None:
        return
    counted = _calls(scenario, folder)
    for call in (*WRITES, *SYNCS):
        for n in range(1, counted[call] + 1):
            yield Fault(f"kill at {call}", n, _strace(f"{call}:signal=KILL:when={n}"))
    for call in SYNCS:
        for n in range(1, counted[call] + 1):
            yield Fault(f"EIO at {call}", n, _strace(f"{call}:error=EIO:when={n}"))
    for n in range(1, counted["pwrite64"] + 1):
        yield Fault("ENOSPC from pwrite64", n, _strace(f"pwrite64:error=ENOSPC:when={n}+"))


def _strace(inject: str) -> tuple[str, ...]:
    call = inject.partition(":")[0]
    return ("strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={inject}")


def _calls(scenario: str, folder: Path) -> Counter[str]:
    """How often the busiest thread makes each call when nobody disturbs it."""
    log = folder / "calls"
    traced = ",".join((*WRITES, *SYNCS))
    _play(scenario, folder / "undisturbed.db", ("strace", "-f", "-qq", "-o", str(log), "-e", f"trace={traced}"))
    by_thread: Counter[tuple[str, str]] = Counter()
    for line in log.read_text().splitlines():
        thread, _, rest = line.partition(" ")
        name = rest.strip().partition("(")[0]
        if name in traced:
            by_thread[thread, name] += 1
    most: Counter[str] = Counter()
    for (_, name), count in by_thread.items():
        most[name] = min(max(most[name], count), MOST)
    return most


def _play(
    scenario: str, store: Path, command: tuple[str, ...] = (), failpoint: str = ""
) -> tuple[int, list[list[str]]]:
    """The scenario in a process of its own: how it ended, and what it said."""
    environment = {**os.environ, "JETON_FAILPOINT": failpoint}
    words = [*command, sys.executable, "-m", "tests.crash.scenario", scenario, str(store)]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    said = [line.split() for line in done.stdout.splitlines(keepends=True) if line.endswith("\n")]
    return done.returncode, [words for words in said if words[0] in ("started", "told", "ended", "refused")]


def disturb(scenario: str, fault: Fault, folder: Path) -> Case:
    """One case, on a store of its own."""
    store = Path(tempfile.mkdtemp(dir=folder)) / "store.db"
    code, said = _play(scenario, store, fault.command, fault.failpoint)
    try:
        problems = asyncio.run(problems_after(scenario, store, said))
        if scenario != "migration":  # which is undone by hand, and verify sees that
            problems += [str(finding) for finding in verify(store).problems]
    except Exception as problem:
        problems = [f"{type(problem).__name__}: {problem}"]
    shutil.rmtree(store.parent)
    return Case(scenario, str(fault), code != 0 or ["refused"] in [words[:1] for words in said], tuple(problems))


def damaged_logs(scenario: str, folder: Path, count: int) -> Iterator[Case]:
    """A killed process's log, cut or with one byte changed: what opens is an earlier state, and goes on."""
    chance = random.Random(scenario)
    store = folder / f"{scenario}-killed" / "store.db"
    store.parent.mkdir()
    _play(scenario, store, failpoint="after_commit:3")
    log = store.with_name("store.db-wal").read_bytes()
    harms: list[tuple[str, Callable[[bytes, int], bytes]]] = [("torn", _torn), ("flipped", _flipped)]
    for number in range(count):
        kind, harm = harms[number % 2]
        at = chance.randrange(len(log))
        copy = folder / f"{scenario}-{kind}-{number}" / "store.db"
        shutil.copytree(store.parent, copy.parent)
        copy.with_name("store.db-wal").write_bytes(harm(log, at))
        copy.with_name("store.db-shm").unlink(missing_ok=True)
        try:
            problems = broken_journals(copy) + asyncio.run(problems_after(scenario, copy, []))
        except Exception as problem:
            problems = [f"{type(problem).__name__}: {problem}"]
        yield Case(scenario, f"log {kind} {at}", disturbed=True, problems=tuple(problems))


def _torn(log: bytes, at: int) -> bytes:
    return log[:at]


def _flipped(log: bytes, at: int) -> bytes:
    return log[:at] + bytes([log[at] ^ 0x40]) + log[at + 1 :]


def sweep(scenarios: list[str], sample: int | None, jobs: int = 1, start: int | None = None) -> Iterator[Case]:
    """Every case, or so many of each kind, spread over the whole length of the scenario; so many at a time.

    `start`: every fourth case only, from this one on."""
    with tempfile.TemporaryDirectory() as name, ProcessPoolExecutor(jobs) as pool:
        for scenario in scenarios:
            folder = Path(name) / scenario
            folder.mkdir()
            by_kind: dict[str, list[Fault]] = {}
            for fault in faults(scenario, folder):
                by_kind.setdefault(fault.kind, []).append(fault)
            chosen = [f for found in by_kind.values() for f in (found if sample is None else _spread(found, sample))]
            chosen = chosen if start is None else chosen[start::4]
            yield from pool.map(disturb, [scenario] * len(chosen), chosen, [folder] * len(chosen))
            yield from damaged_logs(scenario, folder, 40 if sample is None else sample)
            shutil.rmtree(folder)


def _spread(found: list[Fault], sample: int) -> list[Fault]:
    """From the middle of equal stretches."""
    count = min(sample, len(found))
    return [found[(2 * i + 1) * len(found) // (2 * count)] for i in range(count)]


def streams(scenarios: list[str] | None) -> Iterator[Case]:
    """A process that is killed while answers come by every protocol, unless other scenarios are asked for."""
    if scenarios is None or TALK in scenarios:
        problems = asyncio.run(problems_of_streams(list(PROTOCOLS)))
        yield Case(TALK, "kill midstream 1", disturbed=True, problems=tuple(problems))


def main() -> None:
    """Print how many cases of each kind there were, and everything that was wrong."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sample", type=int, help="so many cases of each kind, and not all")
    asked.add_argument("--scenario", choices=sorted(NAMES), action="append")
    asked.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="so many cases at a time")
    words = asked.parse_args()
    cases: Counter[tuple[str, str]] = Counter()
    disturbed: Counter[tuple[str, str]] = Counter()
    bad: list[Case] = []
    for case in chain(sweep(words.scenario or list(NAMES), words.sample, words.jobs), streams(words.scenario)):
        kind = (case.scenario, case.fault.rpartition(" ")[0])
        cases[kind] += 1
        disturbed[kind] += case.disturbed
        if sum(cases.values()) % 50 == 0:
            print(f"{sum(cases.values())} cases, now {case.scenario}, {case.fault}", file=sys.stderr, flush=True)
        if case.problems:
            bad.append(case)
            print(f"{case.scenario}, {case.fault}: {'; '.join(case.problems)}", flush=True)
    for kind, count in cases.items():
        print(f"{kind[0]:12} {kind[1]:28} {count:5} cases, {disturbed[kind]:5} hit")
    print(f"{sum(cases.values())} cases, {sum(disturbed.values())} hit, {len(bad)} with problems")
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()

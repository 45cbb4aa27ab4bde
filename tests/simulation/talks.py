"""Many seeds of conversations: `python -m tests.simulation.talks --talks 200000`. One, with its story: `--talk 17`.

A seed is one or two conversations with people, the agents and runs that these ask, and faults. Seeds are counted off in
order, and each line says from where to go on (`--from`), so that a long sweep can be done in parts.
"""

import argparse
import gc
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing import Pool

from tests.simulation.coverage_talk import TALK_CASES
from tests.simulation.scenario import Played
from tests.simulation.stories.talk import SAME_AGENTS, play_talk, talk_from, tell_talk
from tests.simulation.sweep import SHOWN_FAILURES, Swept

SEEDS_PER_CHUNK = 8 * SAME_AGENTS
PLAYED_TWICE = 50  # one seed in so many
LINES = 200  # of progress, in a whole sweep
ENOUGH_TO_MEET_ALL = 5_000
COUNTS = ("talk: conversation", "talk: turn begun")


class AnotherHistory(AssertionError):
    """The same seed gave other bytes."""


def play_one(seed: int) -> Played:
    """Play a seed; some of them twice, which must give the same bytes."""
    played = play_talk(talk_from(seed))
    if seed % PLAYED_TWICE == 0 and play_talk(talk_from(seed)).digest != played.digest:
        raise AnotherHistory(f"seed {seed} was played twice, and gave two histories")
    return played


def sweep(seeds: Sequence[int]) -> Swept:
    """Play them one after the other."""
    swept = Swept()
    for seed in seeds:
        swept.seeds += 1
        swept.try_one("--talk", seed, play_one)
    return swept


def keep_modules() -> None:
    """Have the collector leave what was imported alone: looking through it takes as long as a few turns."""
    gc.collect()
    gc.freeze()


def sweep_in_parallel(first: int, count: int, jobs: int) -> Swept:
    """Play them in several processes, and say how far they are."""
    whole, began, line = Swept(), time.monotonic(), max(1, count // LINES)
    with Pool(jobs, keep_modules) as pool:
        for part in pool.imap(sweep, list(_chunks(first, count))):
            whole.add(part)
            for name, problem in part.failures.items():
                print(f"failed: {name}: {problem[:500]}", flush=True)
            if whole.seeds // line > (whole.seeds - part.seeds) // line:
                took = time.monotonic() - began
                print(f"{_counted(whole)}, {took:.0f} s; then --from {first + whole.seeds}", flush=True)
    return whole


def _chunks(first: int, count: int) -> Iterator[range]:
    for start in range(first, first + count, SEEDS_PER_CHUNK):
        yield range(start, min(start + SEEDS_PER_CHUNK, first + count))


def _counted(swept: Swept) -> str:
    talks, turns = (swept.cases[case] for case in COUNTS)
    of = f"{swept.seeds} seeds, {talks} conversations, {turns} turns"
    return f"{of}, {swept.commits} commits, {len(swept.failures)} failed"


def report(swept: Swept) -> int:
    """Print what was reached and what failed; the exit code."""
    for case, count in sorted(swept.cases.items()):
        print(f"{count:8} {case}")
    missed = [case for case in TALK_CASES if not swept.cases[case]] if swept.seeds >= ENOUGH_TO_MEET_ALL else []
    for name in sorted(swept.failures)[:SHOWN_FAILURES]:
        print(f"\nreproduce it: python -m tests.simulation.talks {name}")
    for case in missed:
        print(f"\nnever reached: {case}")
    print(f"\n{_counted(swept)}")
    return 1 if swept.failures or missed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--talks", type=int, default=2000, help="how many seeds")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first of them")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes")
    parser.add_argument("--talk", type=int, help="only this one, with its story")
    given = parser.parse_args(arguments)
    if given.talk is not None:
        return tell_talk(given.talk)
    return report(sweep_in_parallel(given.first, given.talks, given.jobs))


if __name__ == "__main__":
    sys.exit(main())

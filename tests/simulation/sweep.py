"""Many seeds: `python -m tests.simulation.sweep --seeds 20000`. One seed, with its story: `--seed 17`.

Each seed is a random workflow under random faults, compared with the oracle and watched by every invariant. A sweep of
some size fails as well if it never reached one of the cases it is there for.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing import Pool

import msgspec

from tests.simulation.coverage import EXPECTED
from tests.simulation.scenario import play, scenario_from
from tests.simulation.story import problem_of, tell, with_fewer_faults

SEEDS_PER_CHUNK = 50
ENOUGH_TO_MEET_ALL = 10_000  # a smaller sweep may miss a rare case by chance
SHOWN_FAILURES = 10


class Swept(msgspec.Struct):
    """What a number of seeds came to."""

    seeds: int = 0
    commits: int = 0
    cases: Counter[str] = msgspec.field(default_factory=Counter[str])
    failures: dict[int, str] = msgspec.field(default_factory=dict[int, str])

    def add(self, other: "Swept") -> None:
        self.seeds += other.seeds
        self.commits += other.commits
        self.cases += other.cases
        self.failures |= other.failures

    def missed(self) -> list[str]:
        """The cases nobody met, where there were seeds enough to meet them."""
        return [case for case in EXPECTED if not self.cases[case]] if self.seeds >= ENOUGH_TO_MEET_ALL else []


def sweep(seeds: Sequence[int]) -> Swept:
    """Play them one after the other."""
    swept = Swept()
    for seed in seeds:
        swept.seeds += 1
        try:
            played = play(scenario_from(seed))
        except Exception as problem:
            swept.failures[seed] = f"{type(problem).__name__}: {problem}"
        else:
            swept.commits += played.commits
            swept.cases += played.cases
    return swept


def sweep_in_parallel(first: int, count: int, jobs: int) -> Swept:
    """Play them in several processes, and say how far they are."""
    whole, began = Swept(), time.monotonic()
    with Pool(jobs) as pool:
        for part in pool.imap_unordered(sweep, list(_chunks(first, count))):
            whole.add(part)
            if whole.seeds * 10 // count > (whole.seeds - part.seeds) * 10 // count:
                took = time.monotonic() - began
                print(f"{whole.seeds} seeds, {whole.commits} commits, {len(whole.failures)} failed, {took:.0f} s")
    return whole


def _chunks(first: int, count: int) -> Iterator[range]:
    for start in range(first, first + count, SEEDS_PER_CHUNK):
        yield range(start, min(start + SEEDS_PER_CHUNK, first + count))


def report(swept: Swept) -> int:
    """Print what was reached and what failed; the exit code."""
    for case in EXPECTED:
        print(f"{swept.cases[case]:8} {case}")
    for seed, problem in sorted(swept.failures.items())[:SHOWN_FAILURES]:
        print(f"\nseed {seed} failed: {problem[:500]}\n  fault plan: {scenario_from(seed).plan}")
        print(f"  reproduce it: python -m tests.simulation.sweep --seed {seed}")
    for case in swept.missed():
        print(f"\nnever reached: {case}")
    print(f"\n{swept.seeds} seeds, {swept.commits} commits, {len(swept.failures)} failed")
    return 1 if swept.failures or swept.missed() else 0


def reproduce(seed: int) -> int:
    """Play one seed and tell its story; if it fails, with no more faults than it needs for that."""
    scenario = scenario_from(seed)
    failed = problem_of(scenario) is not None
    print(tell(with_fewer_faults(scenario) if failed else scenario))
    return 1 if failed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000, help="how many seeds")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes")
    parser.add_argument("--seed", type=int, help="only this one, with its story")
    given = parser.parse_args(arguments)
    if given.seed is not None:
        return reproduce(given.seed)
    return report(sweep_in_parallel(given.first, given.seeds, given.jobs))


if __name__ == "__main__":
    sys.exit(main())

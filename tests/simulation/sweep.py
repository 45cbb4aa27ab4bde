"""Many seeds: `python -m tests.simulation.sweep --seeds 20000`. One seed, with its story: `--seed 17`.

Each seed is a random workflow under random faults, compared with the oracle and watched by every invariant. Every
fourth is beside that a few workflows that call one another and wait for people (`--waits 17`), every second a flow
(`--flow 17`), every tenth a few workflows that call one another and have little to spend (`--credits 17`), every fifth
a few conversations with agents (`--talk 17`), and every twentieth a tree of runs that is cancelled (`--tree 17`). A
sweep of some size fails as well if it never reached one of the cases it is there for.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import Pool

import msgspec

from tests.simulation.coverage import EXPECTED
from tests.simulation.coverage_talk import TALK_CASES
from tests.simulation.coverage_waits import WAIT_CASES
from tests.simulation.scenario import Played, play, scenario_from
from tests.simulation.stories.credit_trees import CREDIT_TREE_CASES, play_credit_tree
from tests.simulation.stories.flows import FLOW_CASES, flows_from, play_flow
from tests.simulation.stories.story import problem_of, tell, with_fewer_faults
from tests.simulation.stories.talk import play_talk, talk_from, tell_talk
from tests.simulation.stories.tree import TREE_CASES, play_tree
from tests.simulation.stories.waits import play_waits, waits_from

SEEDS_PER_CHUNK = 50
EVERY_CASE = (*EXPECTED, *WAIT_CASES, *TREE_CASES, *FLOW_CASES, *CREDIT_TREE_CASES)
ENOUGH_TO_MEET_ALL = 10_000  # a smaller sweep may miss a rare case by chance
ENOUGH_FOR_TALKS = 25_000  # one seed in five has conversations; `tests.simulation.talks` plays nothing else
SHOWN_FAILURES = 10


class Swept(msgspec.Struct):
    """What a number of seeds came to."""

    seeds: int = 0
    commits: int = 0
    cases: Counter[str] = msgspec.field(default_factory=Counter[str])
    failures: dict[str, str] = msgspec.field(default_factory=dict[str, str])  # by what reproduces it

    def add(self, other: "Swept") -> None:
        self.seeds += other.seeds
        self.commits += other.commits
        self.cases += other.cases
        self.failures |= other.failures

    def try_one(self, kind: str, seed: int, one: Callable[[int], Played]) -> None:
        try:
            played = one(seed)
        except Exception as problem:
            self.failures[f"{kind} {seed}"] = f"{type(problem).__name__}: {problem}"
        else:
            self.commits += played.commits
            self.cases += played.cases

    def missed(self) -> list[str]:
        """The cases nobody met, where there were seeds enough to meet them."""
        expected = (
            *(EVERY_CASE if self.seeds >= ENOUGH_TO_MEET_ALL else ()),
            *(TALK_CASES if self.seeds >= ENOUGH_FOR_TALKS else ()),
        )
        return [case for case in expected if not self.cases[case]]


def sweep(seeds: Sequence[int]) -> Swept:
    """Play them one after the other."""
    swept = Swept()
    for seed in seeds:
        swept.seeds += 1
        swept.try_one("--seed", seed, lambda seed: play(scenario_from(seed)))
        if seed % 4 == 0:
            swept.try_one("--waits", seed, lambda seed: play_waits(waits_from(seed)))
        if seed % 2 == 0:
            swept.try_one("--flow", seed, lambda seed: play_flow(flows_from(seed)))
        if seed % 10 == 0:
            swept.try_one("--credits", seed, play_credit_tree)
        if seed % 5 == 0:
            swept.try_one("--talk", seed, lambda seed: play_talk(talk_from(seed)))
        if seed % 20 == 0:
            swept.try_one("--tree", seed, play_tree)
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
    for case in (*EVERY_CASE, *TALK_CASES):
        print(f"{swept.cases[case]:8} {case}")
    for name, problem in sorted(swept.failures.items())[:SHOWN_FAILURES]:
        print(f"\nfailed: {problem[:500]}\n  reproduce it: python -m tests.simulation.sweep {name}")
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
    parser.add_argument("--waits", type=int, help="only this one of those that wait for people and for one another")
    parser.add_argument("--tree", type=int, help="only this one of the trees that are cancelled")
    parser.add_argument("--flow", type=int, help="only this one of the flows")
    parser.add_argument("--credits", type=int, help="only this one of those with little to spend")
    parser.add_argument("--talk", type=int, help="only this one of the conversations, with its story")
    given = parser.parse_args(arguments)
    if given.seed is not None:
        return reproduce(given.seed)
    if given.waits is not None:
        return 0 if play_waits(waits_from(given.waits)) else 1
    if given.flow is not None:
        return 0 if play_flow(flows_from(given.flow)) else 1
    if given.credits is not None:
        return 0 if play_credit_tree(given.credits) else 1
    if given.talk is not None:
        return tell_talk(given.talk)
    if given.tree is not None:
        return 0 if play_tree(given.tree) else 1
    return report(sweep_in_parallel(given.first, given.seeds, given.jobs))


if __name__ == "__main__":
    sys.exit(main())

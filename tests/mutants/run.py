"""Break the code in known ways and see the tests notice: `python -m tests.mutants.run`. Exits 1 if one survives.

The tests are run once without a mutant, to see which of them reach which mutant and how long they take. Each mutant
then has to get past those that reach it, the quickest first. Time limits are multiples of what the tests took without
it, so that a slow machine changes nothing. Everything runs on a copy of the tree, made once.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.mutants.mutant import Mutant
from tests.mutants.mutants import MUTANTS
from tests.mutants.plugin import CHOSEN
from tests.mutants.reach import HITS, TIMES, Reached, note_hits, place_of, read_reached

ROOT = Path(__file__).parents[2]
COPIED = ("src", "tests", "pyproject.toml")
# what a mutant has to get past, unless it names tests of its own
SELECTION = (
    "tests/simulation/test_found.py",
    "tests/simulation/test_world.py",
    "tests/actor/test_interleavings.py",
    "tests/simulation/test_waits.py::test_fixed_seeds_come_to_the_right_value_and_break_no_invariant",
    "tests/simulation/test_waits.py::test_a_tree_that_is_cancelled_ends_as_a_whole",
    "tests/simulation/test_credits.py::test_no_credit_of_a_tree_is_lost_or_made_under_faults",
    "tests/hosts/test_fork.py",
    "tests/engine/test_signal_action.py",
    "tests/conformance/test_scenarios.py",
    "tests/simulation/test_triggers.py::test_a_crash_at_any_commit_keeps_no_run_from_hearing_of_its_event_in_time",
    "tests/simulation/test_sweep.py::test_a_seed_that_is_kept_reaches_its_case",
    "tests/simulation/test_flows.py::test_a_flow_that_is_kept",
    "tests/simulation/test_flows.py::test_fixed_flows_come_to_what_the_oracle_says",
    "tests/simulation/test_sweep.py::test_fixed_seeds_agree_with_the_oracle_and_break_no_invariant",
)
LEAST_LIMIT_S = 300.0
TIMES_AS_LONG = 10  # as without a mutant: what takes longer hangs, or will never be done


class Outcome(NamedTuple):
    """What became of a mutant: killed, survived, or broken if the tests could not be run with it."""

    became: str
    took_s: float
    by: str


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument("--only", default="", help="those whose name contains this")
    parser.add_argument("--skip", type=int, default=0, help="how many to leave out, at the beginning of the list")
    given = parser.parse_args(arguments)
    chosen = [mutant for mutant in MUTANTS if given.only in mutant.name][given.skip :]
    with TemporaryDirectory() as folder:
        tree = copy_tree(ROOT, Path(folder) / "tree")
        for mutant in chosen:
            place_of(mutant, (tree / mutant.file).read_text())  # that does not fit is told before the long run
        reached = try_without(tree, chosen, Path(folder))
        if reached is None:
            print("the tests fail without any mutant")
            return 1
        outcomes = list(try_all(tree, chosen, reached, given.jobs))
    print_table(chosen, outcomes)
    return 0 if all(outcome.became == "killed" for outcome in outcomes) else 1


def copy_tree(source: Path, target: Path) -> Path:
    target.mkdir()
    for name in COPIED:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns("__pycache__", ".mypy_cache"))
        else:
            shutil.copy(source / name, target / name)
    return target


def wanted_by(mutant: Mutant) -> Sequence[str]:
    """The tests that must notice a mutant."""
    return mutant.tests or SELECTION


def try_without(tree: Path, mutants: Sequence[Mutant], folder: Path) -> Reached | None:
    """What a run of all the tests without a mutant finds; None if one of them fails. It may take as long as it does."""
    noting = copy_tree(tree, folder / "noting")
    outside = note_hits(noting, mutants)
    hits, times = folder / "hits", folder / "times"
    tests = list(dict.fromkeys(test for mutant in mutants for test in wanted_by(mutant)))  # each once
    print(f"{len(mutants)} mutants; the tests without a mutant:", flush=True)
    began = time.monotonic()
    ended = subprocess.run(
        pytest_command(tests), cwd=noting, env={**environment(noting), HITS: str(hits), TIMES: str(times)}, check=False
    )
    shutil.rmtree(noting)
    if ended.returncode != 0:
        return None
    reached = read_reached(hits, times, outside)
    print(f"{len(reached.times)} tests in {time.monotonic() - began:.0f} s\n", flush=True)
    return reached


def pytest_command(tests: Sequence[str]) -> list[str]:
    options = ["-x", "-q", "-m", "long or not long", "-p", "no:cacheprovider", "-p", "tests.mutants.plugin"]
    return [sys.executable, "-m", "pytest", *options, *tests]


def environment(tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}


def try_all(tree: Path, mutants: Sequence[Mutant], reached: Reached, jobs: int) -> Iterator[Outcome]:
    """The outcome of each mutant, in order, told as it is known."""
    trees: SimpleQueue[Path] = SimpleQueue()
    for job in range(jobs):
        trees.put(copy_tree(tree, tree.with_name(f"tree{job}")))

    def one(number: int) -> Outcome:
        mine = trees.get()
        try:
            return tried(mutants[number], mine, reached.chosen(number, wanted_by(mutants[number])), reached)
        finally:
            trees.put(mine)

    with ThreadPoolExecutor(jobs) as pool:
        for number, outcome in enumerate(pool.map(one, range(len(mutants)))):
            shown = outcome.became if outcome.became == "killed" else outcome.became.upper()
            place = f"{number + 1}/{len(mutants)}"
            print(f"{place:>8} {shown:9} {outcome.took_s:5.0f} s  {mutants[number].name}  {outcome.by}", flush=True)
            yield outcome


def tried(mutant: Mutant, tree: Path, tests: Sequence[str], reached: Reached) -> Outcome:
    """The outcome of a mutant, put into this tree for the time being."""
    if not tests:
        return Outcome("survived", 0.0, "no test runs this code")
    began = time.monotonic()
    limit_s = max(LEAST_LIMIT_S, TIMES_AS_LONG * sum(reached.times[test] for test in tests))
    listed = tree / "chosen"
    listed.write_text("\n".join(tests))
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    with put_in(mutant, tree):
        code, said = run(pytest_command(files), tree, {**environment(tree), CHOSEN: str(listed)}, limit_s)
    took_s = time.monotonic() - began
    failed = next((line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))), "")
    by = failed.partition(" ")[2].partition(" - ")[0]
    match code:
        case None:
            return Outcome("killed", took_s, f"not done after {limit_s:.0f} s")
        case 0:
            return Outcome("survived", took_s, f"{len(tests)} tests")
        case 1 if by:
            return Outcome("killed", took_s, by)
        case _:
            return Outcome("broken", took_s, f"exit code {code}: {said[-2000:]}")


@contextmanager
def put_in(mutant: Mutant, tree: Path) -> Generator[None]:
    """Change the source as the mutant says, and change it back."""
    file = tree / mutant.file
    text = file.read_text()
    file.write_text(text.replace(mutant.old, mutant.new))
    try:
        yield
    finally:
        file.write_text(text)


def run(command: Sequence[str], folder: Path, environ: dict[str, str], limit_s: float) -> tuple[int | None, str]:
    """The exit code and the output of a command; no exit code if it had to be stopped, with its children."""
    process = subprocess.Popen(
        command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        said, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        return None, said
    return process.returncode, said


def print_table(mutants: Sequence[Mutant], outcomes: Sequence[Outcome]) -> None:
    """How many there are in each part of the source, and what became of them."""
    counts: dict[str, Counter[str]] = {}
    for mutant, outcome in zip(mutants, outcomes, strict=True):
        part = "/".join(Path(mutant.file).parts[2:-1])
        counts.setdefault(part, Counter())[outcome.became] += 1
    kinds = ("killed", "survived", "broken")
    print(f"\n{'part':24}" + "".join(f"{kind:>10}" for kind in kinds))
    for part, count in sorted(counts.items()):
        print(f"{part:24}" + "".join(f"{count[kind]:>10}" for kind in kinds))
    for mutant, outcome in zip(mutants, outcomes, strict=True):
        if outcome.became != "killed":
            print(f"\n{outcome.became}: {mutant.name}\n  in {mutant.file}: {outcome.by}")
    found = Counter(outcome.became for outcome in outcomes)
    took = sum(outcome.took_s for outcome in outcomes)
    print(f"\n{len(mutants)} mutants, {found['survived']} survived, {found['broken']} broken, {took:.0f} s")


if __name__ == "__main__":
    sys.exit(main())

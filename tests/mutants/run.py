"""Break the code in known ways and see the tests notice: `python -m tests.mutants.run`. Exits 1 if one survives."""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
COPIED = ("src", "tests", "pyproject.toml")
# what a mutant has to get past: quick, and in the order that kills most of them soonest
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
    "tests/simulation/test_sweep.py::test_a_seed_that_is_kept",
    "tests/simulation/test_flows.py::test_a_flow_that_is_kept",
    "tests/simulation/test_flows.py::test_fixed_flows_come_to_what_the_oracle_says",
    "tests/simulation/test_sweep.py::test_fixed_seeds_agree_with_the_oracle_and_break_no_invariant",
)
LONGEST_S = 600


def tried(mutant: Mutant | None) -> tuple[bool, float, str]:
    """Whether the tests fail on a copy of the tree with this bug in it, how long that took, and which test failed."""
    began = time.monotonic()
    with TemporaryDirectory() as folder:
        tree = copy_tree(Path(folder))
        if mutant is not None:
            apply(mutant, tree)
        environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        found = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *SELECTION],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
        )
    failed = next((line for line in found.stdout.splitlines() if line.startswith("FAILED")), "")
    if found.returncode not in (0, 1) or (found.returncode == 1 and not failed):
        raise RuntimeError(f"the tests did not run: {found.stdout[-2000:]}{found.stderr[-2000:]}")
    return found.returncode == 1, time.monotonic() - began, failed.removeprefix("FAILED ").split(" - ")[0]


def copy_tree(folder: Path) -> Path:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".mypy_cache"))
        else:
            shutil.copy(source, folder / name)
    return folder


def apply(mutant: Mutant, tree: Path) -> None:
    """Put the bug in. A mutant that no longer fits the source is a mutant to rewrite."""
    file = tree / mutant.file
    text = file.read_text()
    if text.count(mutant.old) != 1:
        raise RuntimeError(f"'{mutant.name}' fits {text.count(mutant.old)} places of {mutant.file}, and must fit one")
    file.write_text(text.replace(mutant.old, mutant.new))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument("--only", default="", help="those whose name contains this")
    given = parser.parse_args(arguments)
    chosen = [mutant for mutant in MUTANTS if given.only in mutant.name]
    failed, _, where = tried(None)
    if failed:
        print(f"the tests fail without any mutant: {where}")
        return 1
    survivors = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for mutant, (killed, took_s, by) in zip(chosen, pool.map(tried, chosen), strict=True):
            survivors += not killed
            print(f"{'killed' if killed else 'SURVIVED':9} {took_s:5.0f} s  {mutant.name}  {by}", flush=True)
    print(f"\n{len(chosen)} mutants, {survivors} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())

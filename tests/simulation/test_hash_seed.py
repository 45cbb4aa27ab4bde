"""A batch gives the same turn in every process: nothing follows the order of a set."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SEEDS = ("0", "1", "2")


def turns_with(hash_seed: str) -> list[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    command = [sys.executable, "-m", "tests.simulation.stories.turns", *SEEDS]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_decisions_events_sections_and_effects_are_the_same_whatever_the_order_of_sets() -> None:
    first = turns_with("1")
    assert {line.partition(" ")[0] for line in first} == {"turn", "entry", "event", "section", "effect", "queries"}
    assert len(first) > 1000
    for hash_seed in ("2", "3"):
        assert turns_with(hash_seed) == first

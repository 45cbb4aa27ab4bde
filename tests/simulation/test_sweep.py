"""A few hundred seeds on every test run: fixed ones, ones that failed once, and fresh ones."""

import os
import subprocess
import sys
from random import SystemRandom

import pytest

from jeton.definitions import library_from
from tests.simulation.scenario import play, scenario_from
from tests.simulation.sweep import main, sweep

FIXED = range(300)
FRESH = 60
BATCHES = 6

# Seeds that failed once, or that reach what few others do. A change of the grammar makes them other runs: what they
# found is kept as small cases in test_found.py, and what they reach is counted by every large sweep.
KEPT = {
    1199: "a slot with several tokens is one slot of a quorum",
    1522: "a slot with several tokens is one slot of a quorum, in a nested group",
    4212: "a slot with several tokens is one slot of a quorum, after a loop",
    16719: "tokens of one slot reach two joins of its group",
    25879: "a slot arrives at its own join though a token of it went further out",
    33096: "a merge fails over what an inner slot brought to another join",
}


@pytest.mark.parametrize("part", range(BATCHES))
def test_fixed_seeds_agree_with_the_oracle_and_break_no_invariant(part: int) -> None:
    assert sweep(FIXED[part::BATCHES]).failures == {}


@pytest.mark.parametrize("seed", KEPT, ids=KEPT.get)
def test_a_seed_that_is_kept(seed: int) -> None:
    play(scenario_from(seed))


def test_fresh_seeds_agree_with_the_oracle_and_break_no_invariant() -> None:
    first = SystemRandom().randrange(10**6, 10**9)
    print(f"fresh seeds from {first}")
    assert sweep(range(first, first + FRESH)).failures == {}


def test_the_same_seed_gives_the_same_bytes_whatever_the_hash_seed() -> None:
    program = (
        "from tests.simulation.scenario import play, scenario_from\n"
        "print([play(scenario_from(seed)).digest for seed in range(60)])"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert said[0] == said[1]


def test_one_seed_tells_its_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "3"]) == 0
    told = capsys.readouterr().out
    assert "fault plan:" in told
    assert told.rstrip().endswith("and it went well")


def test_what_the_grammar_makes_passes_the_checks() -> None:
    for seed in range(60):
        scenario = scenario_from(seed)
        loaded = library_from({"workflows": {"w": scenario.workflow}, "tasks": scenario.tasks})
        assert loaded.ok, (seed, [problem for problem in loaded.problems if problem.severity == "error"])

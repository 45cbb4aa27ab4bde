"""A few hundred seeds of workflows that call one another, ask people, and are paused, cancelled and forked."""

from random import SystemRandom

import pytest

from jeton.definitions import library_from
from tests.simulation.grammar.waits import TASKS
from tests.simulation.stories.tree import play_tree, tree_workflows
from tests.simulation.stories.waits import play_waits, waits_from
from tests.simulation.sweep import main

FIXED = range(120)
BATCHES = 4


@pytest.mark.parametrize("part", range(BATCHES))
def test_fixed_seeds_come_to_the_right_value_and_break_no_invariant(part: int) -> None:
    for seed in FIXED[part::BATCHES]:
        play_waits(waits_from(seed))


def test_fresh_seeds_come_to_the_right_value_and_break_no_invariant() -> None:
    first = SystemRandom().randrange(10**6, 10**9)
    print(f"fresh seeds from {first}: python -m tests.simulation.sweep --waits {first}")
    for seed in range(first, first + 20):
        play_waits(waits_from(seed))


def test_a_tree_that_is_cancelled_ends_as_a_whole() -> None:
    for seed in range(20):
        play_tree(seed)


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert play_waits(waits_from(3)).digest == play_waits(waits_from(3)).digest
    assert play_tree(3).digest == play_tree(3).digest


def test_one_of_them_can_be_played_again() -> None:
    assert main(["--waits", "5"]) == 0
    assert main(["--tree", "5"]) == 0


def test_what_the_grammar_makes_passes_the_checks() -> None:
    libraries = [waits_from(seed).made.workflows for seed in range(40)]
    for workflows in (*libraries, tree_workflows()):
        loaded = library_from({"workflows": workflows, "tasks": TASKS})
        assert loaded.ok, [problem for problem in loaded.problems if problem.severity == "error"]

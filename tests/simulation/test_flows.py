"""Flows under faults: a few hundred on every test run, fixed ones and fresh ones."""

from random import SystemRandom

import pytest

from tests.simulation.flows import flows_from, play_flow
from tests.simulation.sweep import main

FIXED = range(1, 601, 2)  # the even ones belong to the sweep of fixed seeds
FRESH = 60
BATCHES = 4

KEPT = {587: "the keys of a context come in the same order when the run was read back"}


@pytest.mark.parametrize("part", range(BATCHES))
def test_fixed_flows_come_to_what_the_oracle_says(part: int) -> None:
    for seed in FIXED[part::BATCHES]:
        play_flow(flows_from(seed))


@pytest.mark.parametrize("seed", KEPT, ids=KEPT.get)
def test_a_flow_that_is_kept(seed: int) -> None:
    play_flow(flows_from(seed))


def test_fresh_flows_come_to_what_the_oracle_says() -> None:
    first = SystemRandom().randrange(10**6, 10**9)
    print(f"fresh flows from {first}")
    for seed in range(first, first + FRESH):
        play_flow(flows_from(seed))


def test_one_flow_can_be_played_again() -> None:
    assert main(["--flow", "3"]) == 0

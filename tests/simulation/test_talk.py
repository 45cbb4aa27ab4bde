"""Some seeds of conversations: people who speak, steer, stop and approve, agents who ask each other, and faults."""

from random import SystemRandom

import pytest

from jeton.definitions import library_from
from tests.simulation.stories.talk import SAME_AGENTS, play_talk, talk_from
from tests.simulation.talks import main

FIXED = range(0, 100 * SAME_AGENTS, SAME_AGENTS)  # other agents in each
BATCHES = 4


@pytest.mark.parametrize("part", range(BATCHES))
def test_fixed_seeds_break_no_invariant_and_every_turn_ends(part: int) -> None:
    for seed in FIXED[part::BATCHES]:
        play_talk(talk_from(seed))


def test_fresh_seeds_break_no_invariant_and_every_turn_ends() -> None:
    first = SystemRandom().randrange(10**6, 10**9)
    print(f"fresh seeds from {first}: python -m tests.simulation.talks --talk {first}")
    for seed in range(first, first + 10 * SAME_AGENTS, SAME_AGENTS):
        play_talk(talk_from(seed))


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert play_talk(talk_from(3)).digest == play_talk(talk_from(3)).digest


def test_one_of_them_can_be_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--talk", "5"]) == 0
    assert "AddTurn" in capsys.readouterr().out


def test_what_the_grammar_makes_passes_the_checks() -> None:
    for seed in FIXED[:10]:
        loaded = library_from(talk_from(seed).made)
        assert loaded.ok, [problem for problem in loaded.problems if problem.severity == "error"]


def test_a_sweep_counts_and_says_where_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--talks", "8", "--from", "200", "--jobs", "1"]) == 0
    said = capsys.readouterr().out
    assert "8 seeds, " in said
    assert "; then --from 208" in said

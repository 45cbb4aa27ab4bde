"""Whose turn it is."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from jeton.executor.limits.lane import Lane


def test_runs_take_turns_and_each_keeps_its_order() -> None:
    lane: Lane[str] = Lane(99)
    for item in ("a1", "a2", "a3", "b1", "c1", "b2"):
        lane.put(item[0], item)
    assert [lane.take() for _ in range(6)] == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert lane.take() is None


def test_a_place_must_be_free() -> None:
    lane: Lane[str] = Lane(1)
    lane.put("a", "a1")
    lane.put("a", "a2")
    assert (lane.take(), lane.take()) == ("a1", None)
    lane.release()
    assert lane.take() == "a2"


@given(st.lists(st.integers(0, 4), max_size=40))
def test_nobody_waits_longer_than_a_round_and_nothing_is_lost(runs: list[int]) -> None:
    lane: Lane[tuple[int, int]] = Lane(len(runs) + 1)
    for number, run in enumerate(runs):
        lane.put(run, (run, number))
    taken: list[tuple[int, int]] = []
    while (item := lane.take()) is not None:
        taken.append(item)
    assert sorted(taken, key=lambda item: item[1]) == [(run, number) for number, run in enumerate(runs)]
    for run in set(runs):
        mine = [at for at, item in enumerate(taken) if item[0] == run]
        assert [taken[at][1] for at in mine] == sorted(taken[at][1] for at in mine)
        others = len(set(runs)) - 1
        assert all(later - earlier <= others + 1 for earlier, later in pairwise(mine))

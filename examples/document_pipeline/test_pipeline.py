"""The panel decides what it agrees on; a person decides the rest."""

from pathlib import Path

import documents as documents  # its functions register themselves
import pytest

from jeton.testing import simulate

PIPELINE = Path(__file__).with_name("pipeline.yaml")


@pytest.mark.parametrize(
    ("words", "accepted", "by"),
    [(9, True, "the panel"), (6, True, "the panel"), (3, False, "a person"), (1, False, "the panel")],
)
def test_who_decides(words: int, accepted: bool, by: str) -> None:
    document = {"title": "Memo", "text": "word " * words}
    run = simulate(PIPELINE, {"document": document}, name="review", answers={"ask": False})
    assert run.completed() == {"accepted": accepted, "by": by, "title": "Memo"}


def test_a_judge_who_fails_is_one_vote_less() -> None:
    document = {"title": "Memo", "text": "word " * 9}
    run = simulate(PIPELINE, {"document": document}, name="review", fail={"judge": [None, "asleep", None]})
    assert run.completed() == {"accepted": True, "by": "the panel", "title": "Memo"}

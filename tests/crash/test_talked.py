"""A process is killed in the middle of a turn; `python -m tests.crash.sweep --scenario talk` kills it everywhere."""

from pathlib import Path

import pytest

from tests.crash.sweep import Fault, disturb
from tests.crash.talked import TALK


@pytest.mark.parametrize(
    ("place", "nth"),
    [
        pytest.param("before_commit", 4, id="an answer that is not committed is asked for again"),
        pytest.param("before_effects", 6, id="a committed one is not, and a call that was approved is made"),
    ],
)
def test_a_turn_that_was_cut_ends_as_it_would_have_ended(tmp_path: Path, place: str, nth: int) -> None:
    case = disturb(TALK, Fault(f"kill at {place}", nth, failpoint=f"{place}:{nth}"), tmp_path)
    assert (case.disturbed, case.problems) == (True, ())

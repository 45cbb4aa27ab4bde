"""Which runs are set aside, from the ends of processes that were noted."""

import pytest

from jeton.actor.whole.set_aside import Ends, places_of, set_aside_in, with_end, without_places, without_run
from jeton.model import message as m
from jeton.model.ids import RunId, TokenId

RUN, OTHER = RunId("a"), RunId("b")
DONE, RANG = "TaskFinished 1", "AlarmRang "


def ended(*ends: tuple[str, ...]) -> Ends:
    found: Ends = {}
    for end in ends:
        found = with_end(found, RUN, end)
    return found


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        pytest.param({}, [], id="nothing ended"),
        pytest.param(ended((DONE,), (DONE,)), [], id="two ends are not enough"),
        pytest.param(ended((DONE,), (DONE,), (DONE,)), [RUN], id="three are"),
        pytest.param(ended((DONE,), (RANG,), (DONE, RANG)), [RUN], id="at whichever message"),
        pytest.param(with_end(ended((DONE,), (DONE,)), OTHER, (DONE,)), [], id="each run counts its own"),
    ],
)
def test_a_run_is_set_aside_after_three_ends(ends: Ends, expected: list[RunId]) -> None:
    assert list(set_aside_in(ends)) == expected


@pytest.mark.parametrize(
    ("ends", "passed", "expected"),
    [
        pytest.param(ended((DONE,), (DONE,)), [DONE], {}, id="a message that was handled"),
        pytest.param(ended((DONE, RANG)), [RANG], ended((DONE,)), id="an end with two messages needs both"),
        pytest.param(ended((DONE,)), [RANG], ended((DONE,)), id="another message"),
    ],
)
def test_an_end_is_forgotten_when_its_messages_were_handled(ends: Ends, passed: list[str], expected: Ends) -> None:
    assert without_places(ends, RUN, passed) == expected


def test_all_ends_of_a_run_can_be_forgotten() -> None:
    assert without_run(with_end(ended((DONE,)), OTHER, (DONE,)), RUN) == {OTHER: ((DONE,),)}


def test_messages_are_named_without_notices_and_times() -> None:
    token = TokenId(1)
    batch: list[m.Message] = [m.TaskStarted(1, token, 1), m.TaskFinished(2, token, 1), m.AlarmRang(3)]
    assert places_of(batch).split("\n") == ["", DONE, RANG]
    assert len(places_of([m.AlarmRang(3)] * 1000)) < 1000

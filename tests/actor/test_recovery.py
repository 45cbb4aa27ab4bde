"""What an unfinished run is owed after its process has died."""

import pytest

from jeton.actor.recovery import plan_recovery
from jeton.model import message as m
from jeton.model.definition.workflow import Foreach, Node, Transition, WaitTarget
from jeton.model.ids import TokenId
from jeton.model.json import Json
from tests.actor.journal import WORK, Journal, done, program

NOW = 99
FAN = program(Transition("s", "w", foreach=Foreach("input.items")), s=Node(), w=WORK)


def journal(*messages: m.Message, moves: int = 10_000, items: Json = None) -> Journal:
    found = Journal(FAN)
    found.tell(m.StartRun(0, {"items": [1, 2] if items is None else items}), moves=moves)
    for message in messages:
        found.tell(message)
    return found


def lost(token: int, attempt: int = 1) -> m.TaskLost:
    return m.TaskLost(NOW, TokenId(token), attempt)


@pytest.mark.parametrize(
    ("found", "messages"),
    [
        pytest.param(journal(), (lost(1), lost(2)), id="tasks that were dispatched are lost"),
        pytest.param(journal(m.TaskStarted(3, TokenId(1), 1)), (lost(1), lost(2)), id="and those that had begun"),
        pytest.param(journal(done(1)), (lost(2),), id="those that are done are not"),
        pytest.param(journal(moves=2), (lost(1), m.ContinueRun(NOW)), id="tokens that may move go on"),
        pytest.param(journal(done(1), done(2)), (), id="a run that has ended needs none"),
        pytest.param(journal(m.PauseRun(3)), (), id="a paused run begins nothing"),
        pytest.param(
            journal(m.TaskStarted(3, TokenId(1), 1), m.PauseRun(3)), (lost(1),), id="but goes on with what had begun"
        ),
    ],
)
def test_the_messages_of_a_recovery(found: Journal, messages: tuple[m.Message, ...]) -> None:
    for _ in range(2):  # planning changes nothing
        assert plan_recovery(found.run, NOW, NOW, lambda node: None).messages == messages


LENGTH, POINT = WaitTarget(seconds=2), WaitTarget(until="'1970-01-01T00:00:02Z'")


@pytest.mark.parametrize(
    ("wait", "now", "wall", "rings"),
    [
        pytest.param(LENGTH, 2000, 0, True, id="a length that is over"),
        pytest.param(LENGTH, 1999, 9999, False, id="one that is not, whatever the system clock shows"),
        pytest.param(POINT, 0, 2000, True, id="a point in time that the system clock has reached"),
        pytest.param(POINT, 9999, 1999, False, id="one that it has not, however much time has passed"),
    ],
)
def test_alarms(wait: WaitTarget, now: int, wall: int, rings: bool) -> None:
    waiting = Journal(program(a=Node(wait)))
    waiting.tell(m.StartRun(0, {}))
    messages = plan_recovery(waiting.run, now, wall, lambda node: None).messages
    assert messages == ((m.AlarmRang(now, wall),) if rings else ())


def test_a_task_whose_function_is_not_here_is_not_lost_but_parked() -> None:
    plan = plan_recovery(journal().run, NOW, NOW, lambda token: f"{token}.py")
    assert (plan.messages, plan.needs_app) == ((), "1.py")
    assert plan_recovery(journal().run, NOW, NOW, lambda node: None).needs_app is None

"""What a delivery to a trigger becomes, and what the run that caused it is told."""

import msgspec
import pytest

from jeton.actor.firings import SettledFiring, by_end, by_event, settle_firing, started_workflow
from jeton.actor.rows import FiringRow, RunRow
from jeton.executor.event_sink import ActionEvent
from jeton.model.definition.trigger import OnEvent, OnRequest, Trigger
from jeton.model.effect import SendMessage
from jeton.model.failure import RunError
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import StartRun, TriggerHeard
from jeton.model.state.run import FiredBy
from jeton.planning.triggers.firing import Delivery, Firing, Planned, Refusal

CAUSE, NEW = RunId("cause"), RunId("new")
ROW = RunRow(CAUSE, "w", 1, "completed", False, 1, 2, 3, None, 4, output={"n": 1})
DEEP = msgspec.structs.replace(ROW, trigger=FiredBy("event", 2))
TRIGGER = Trigger("t", "c@3", OnEvent("told"))
START = StartRun(9, {}, "c@3")
EVENT = Delivery("e1", "event", 9, {"n": 1}, CAUSE, 0)
BY_HAND = Delivery("d1", "manual", 9)
REFUSAL = Refusal("too_deep", "too deep", "stop")


@pytest.mark.parametrize(("publisher", "depth"), [(None, 0), (ROW, 0), (DEEP, 2)])
def test_an_event_is_delivered_by_its_own_id(publisher: RunRow | None, depth: int) -> None:
    emitted = ActionEvent("id", "told", {"n": 1}, CAUSE, "node")
    assert by_event(emitted, publisher, 9) == Delivery("id", "event", 9, {"n": 1}, CAUSE, depth)


def test_an_end_is_delivered_by_the_run_with_what_it_came_to() -> None:
    brings: Json = {"run_id": "cause", "workflow": "w", "status": "completed", "output": {"n": 1}, "error": None}
    assert by_end(DEEP, 9) == Delivery("cause", "run_finished", 9, brings, "cause", 2)
    failed = msgspec.structs.replace(ROW, status="failed", error=RunError("no", "it broke"))
    found = by_end(failed, 9).brings
    assert isinstance(found, dict)
    assert found["error"] == {"type": "no", "message": "it broke"}


def settled(
    delivery: Delivery, firing: Firing, known: FiringRow | None = None, disabled: bool = False
) -> SettledFiring:
    return settle_firing(Planned(TRIGGER, delivery, firing), known, disabled, NEW)


def row(run: RunId | None, **of: object) -> FiringRow:
    found = FiringRow("t", "e1", "event", CAUSE, 1, 9, run, None, None)
    return msgspec.structs.replace(found, **of)


STARTED = row(NEW)
AGAIN = msgspec.structs.replace(STARTED, again=True)
REFUSED = row(None, code="too_deep", problem="too deep")


@pytest.mark.parametrize(
    ("found", "then"),
    [
        pytest.param(
            settled(EVENT, START),
            SettledFiring(
                STARTED, True, SendMessage(NEW, START), SendMessage(CAUSE, TriggerHeard(9, "t", 1, NEW, None, None))
            ),
            id="a start, and the run that published the event is told of it",
        ),
        pytest.param(
            settled(EVENT, REFUSAL),
            SettledFiring(
                REFUSED, True, None, SendMessage(CAUSE, TriggerHeard(9, "t", 1, None, "too_deep", "too deep"))
            ),
            id="a refusal, of which it is told too",
        ),
        pytest.param(
            settled(BY_HAND, START),
            SettledFiring(row(NEW, delivery="d1", type="manual", source=None, depth=0), True, SendMessage(NEW, START)),
            id="by hand nobody is told",
        ),
        pytest.param(
            settled(by_end(ROW, 9), START),
            SettledFiring(row(NEW, delivery="cause", type="run_finished"), True, SendMessage(NEW, START)),
            id="of its end a run hears nothing",
        ),
        pytest.param(settled(EVENT, START, STARTED), SettledFiring(AGAIN, False), id="the same delivery fires once"),
        pytest.param(settled(EVENT, START, REFUSED).new, True, id="one that was refused may be tried again"),
        pytest.param(settled(EVENT, START, disabled=True).row.code, "disabled", id="what is disabled is not started"),
        pytest.param(settled(EVENT, START, disabled=True).start, None, id="and there is no message to start it"),
        pytest.param(settled(EVENT, START, STARTED, True), SettledFiring(AGAIN, False), id="what was started stays"),
    ],
)
def test_a_delivery(found: object, then: object) -> None:
    assert found == then


@pytest.mark.parametrize(("start", "workflow"), [("c@3", "c"), ("c", "c")])
def test_what_a_trigger_starts(start: str, workflow: str) -> None:
    assert started_workflow(Trigger("t", start, OnRequest())) == workflow

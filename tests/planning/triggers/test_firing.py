"""What a cause makes of a trigger."""

import pytest

from jeton.model.definition.flow import Flow
from jeton.model.definition.trigger import OnEvent, OnRequest, Trigger
from jeton.model.definition.workflow import Library, Node, Workflow
from jeton.model.json import Json, JsonObject
from jeton.model.message import StartRun
from jeton.model.state.run import FiredBy as Fired
from jeton.planning.triggers.firing import (
    Delivery,
    Refusal,
    Startable,
    event_matches,
    max_depth,
    plan_event,
    plan_firing,
    startable_in,
)

AT = 1_767_225_600_000
GO = Trigger("go", "w", OnRequest(), node="start", input={"a": 1, "b": 1})
STRICT: JsonObject = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}


def startable(max_depth: Json = None, schema: JsonObject | None = None) -> Startable:
    settings: JsonObject = {} if max_depth is None else {"triggers": {"max_depth": max_depth}}
    return Startable("w", 3, schema, settings)


def told(depth: int) -> JsonObject:
    return {"type": "event", "depth": depth, "fired_at": "2026-01-01T00:00:00.000Z", "source": "r-1"}


@pytest.mark.parametrize(
    ("from_depth", "then"),
    [
        pytest.param(None, 0, id="nobody set it off: depth 0"),
        pytest.param(0, 1, id="a run that was started by hand sets off depth 1"),
        pytest.param(2, 3, id="depth 2 fires depth 3"),
        pytest.param(3, None, id="depth 3 fires nothing"),
        pytest.param(7, None, id="nor does anything deeper"),
    ],
)
def test_how_deep_a_fired_run_is(from_depth: int | None, then: int | None) -> None:
    firing = plan_firing(GO, Delivery("d", "event", AT, None, "r-1", from_depth), startable())
    if then is None:
        assert isinstance(firing, Refusal)
        assert firing.code == "too_deep"
    else:
        fired = Fired("event", then, "go", "start", "r-1")
        assert firing == StartRun(AT, {"a": 1, "b": 1, "_trigger": told(then)}, "w@3", trigger=fired)


@pytest.mark.parametrize(
    ("brings", "given"),
    [
        pytest.param(None, {"a": 1, "b": 1}, id="nothing"),
        pytest.param({"b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3}, id="an object lies over the trigger's own"),
        pytest.param([1], {"a": 1, "b": 1, "payload": [1]}, id="anything else is the payload"),
        pytest.param({"_trigger": "mine"}, {"a": 1, "b": 1}, id="nobody can say what fired it"),
    ],
)
def test_what_the_run_is_given(brings: Json, given: JsonObject) -> None:
    firing = plan_firing(GO, Delivery("d", "event", AT, brings, "r-1"), startable())
    assert isinstance(firing, StartRun)
    assert firing.input == {**given, "_trigger": told(0)}


@pytest.mark.parametrize(
    ("startable", "brings", "code", "says"),
    [
        pytest.param(None, None, "unknown_workflow", "'w', which is not deployed", id="what is not deployed"),
        pytest.param(startable(schema=STRICT), {"a": "x"}, "input_invalid", "input.a: ", id="input that does not fit"),
        pytest.param(
            startable(max_depth=0), None, "too_deep", "the limit is 0", id="a project in which no run sets off another"
        ),
    ],
)
def test_what_is_refused(startable: Startable | None, brings: Json, code: str, says: str) -> None:
    firing = plan_firing(GO, Delivery("d", "event", AT, brings, "r-1", 0), startable)
    assert isinstance(firing, Refusal)
    assert firing.code == code
    assert says in firing.problem


@pytest.mark.parametrize(
    ("condition", "data", "then"),
    [
        pytest.param(True, {}, True, id="no condition"),
        pytest.param(False, {}, False, id="never"),
        pytest.param("event.n > 1", {"n": 2}, True, id="it holds"),
        pytest.param("event.n > 1", {"n": 1}, False, id="it does not"),
        pytest.param("event.n > 1", {}, False, id="a key that is missing makes it false"),
        pytest.param("event.n > 1", {"n": "two"}, "expression_error", id="it cannot be evaluated"),
    ],
)
def test_which_events_are_heard(condition: Json, data: Json, then: bool | str) -> None:
    heard = event_matches(OnEvent("e", condition), data)
    assert (heard.code if isinstance(heard, Refusal) else heard) == then


@pytest.mark.parametrize(
    ("condition", "then"),
    [
        pytest.param("event.n > 1", "fires", id="an event that it waits for fires it"),
        pytest.param("event.n > 9", None, id="another does not, and nothing is said"),
        pytest.param("event.n + 'x' == ''", "expression_error", id="one that cannot be judged is refused"),
    ],
)
def test_what_a_published_event_leads_to(condition: str, then: str | None) -> None:
    on, delivery = OnEvent("e", condition), Delivery("d", "event", AT, {"n": 2}, "r-1")
    planned = plan_event(GO, on, delivery, startable())
    if then is None:
        assert planned is None
    else:
        assert planned is not None
        assert (planned.trigger, planned.delivery) == (GO, delivery)
        if then == "fires":
            assert planned.firing == plan_firing(GO, delivery, startable())
        else:
            assert isinstance(planned.firing, Refusal)
            assert (planned.firing.code, planned.firing.problem[:13]) == (then, "the condition")


@pytest.mark.parametrize(
    ("max_depth_setting", "then"),
    [
        pytest.param(None, 3, id="three, if nobody says otherwise"),
        pytest.param(0, 0, id="none"),
        pytest.param(7, 7, id="as many as it says"),
        pytest.param(True, 3, id="true is no number"),
        pytest.param(-1, 3, id="nor is there less than none"),
    ],
)
def test_from_which_depth_on_nothing_is_fired(max_depth_setting: Json, then: int) -> None:
    assert max_depth(startable(max_depth_setting).settings) == then


def test_workflows_and_flows_can_be_started_and_nothing_else() -> None:
    bundle = Library(
        workflows={"w": Workflow("w", "a", {"a": Node()}, input_schema=STRICT)},
        flows={"f": Flow("f", {})},
        settings={"x": 1},
    )
    assert startable_in(bundle, "w", 3) == Startable("w", 3, STRICT, {"x": 1})
    assert startable_in(bundle, "f", 2) == Startable("f", 2, None, {"x": 1})
    assert startable_in(bundle, "gone", 1) is None

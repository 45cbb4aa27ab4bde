"""What a cause makes of a trigger."""

import pytest

from jeton.model.definition.trigger import OnEvent, OnRequest, Trigger
from jeton.model.json import Json, JsonObject
from jeton.model.message import StartRun
from jeton.model.state.run import FiredBy as Fired
from jeton.planning.triggers.firing import Delivery, Refusal, Startable, event_matches, plan_firing

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
    ("startable", "brings", "code"),
    [
        pytest.param(None, None, "unknown_workflow", id="what is not deployed"),
        pytest.param(startable(schema=STRICT), {"a": "x"}, "input_invalid", id="input that does not fit"),
        pytest.param(startable(max_depth=0), None, "too_deep", id="a project in which no run sets off another"),
    ],
)
def test_what_is_refused(startable: Startable | None, brings: Json, code: str) -> None:
    firing = plan_firing(GO, Delivery("d", "event", AT, brings, "r-1", 0), startable)
    assert isinstance(firing, Refusal)
    assert firing.code == code


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

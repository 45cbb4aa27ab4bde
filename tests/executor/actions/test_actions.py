"""The kinds that need nothing from outside, and how kinds are read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.executor import VirtualClock, check_implementation
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, Execution, RetryPolicy, Step
from jeton.model.failure import TaskFailed
from jeton.model.json import Json, JsonObject
from jeton.plugins import ActionCall, ActionFailed, ActionHandler, Kind, register_kind
from tests.executor.given import asserting, mock, run, setting, task

PERSON: JsonObject = {
    "type": "object",
    "required": ["name", "age"],
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 18, "maximum": 99}},
}


@pytest.mark.parametrize(
    ("action", "then"),
    [
        pytest.param(setting(n="input.n + 1"), {"n": 3}, id="set: expressions over the action's input"),
        pytest.param(setting(n=7, t="'text'"), {"n": 7, "t": "text"}, id="set: what is no text is a literal"),
        pytest.param(setting(n="input.nowhere"), {"n": None}, id="set: a missing key is null"),
        pytest.param(setting(**{"a.b": "1"}), {"a": {"b": 1}}, id="set: a path makes objects"),
        pytest.param(
            Action("context", {"validate": {"schema": {"required": ["n"]}}}),
            {"n": 2},
            id="validate gives back what fits",
        ),
        pytest.param(
            Action("context", {"validate": {"schema": {"required": ["x"]}}}),
            TaskFailed("validation_failed", 'input: "x" is a required property', "s0"),
            id="validate: what does not fit is a business failure",
        ),
        pytest.param(asserting("input.n == 2"), {}, id="assert: true leaves nothing behind"),
        pytest.param(
            asserting("input.n == 3"),
            TaskFailed("assertion_failed", "input.n == 3 does not hold with {'input.n': 2}", "s0"),
            id="assert: false says what it read",
        ),
        pytest.param(
            Action("assert", {"that": "input.n == 3", "type": "not_three", "message": "it is {{ input.n }}"}),
            TaskFailed("not_three", "it is 2", "s0"),
            id="assert: false is of the type and the message that are given",
        ),
        pytest.param(
            Action("assert", {"that": "input.x == 3", "type": "not_three"}),
            TaskFailed("not_three", "input.x == 3 does not hold: input.x is missing", "s0"),
            id="assert: a type alone",
        ),
        pytest.param(
            Action("fail", {"type": "dear", "message": "{{ input.n }} is too much"}),
            TaskFailed("dear", "2 is too much", "s0"),
            id="fail: a type and a message",
        ),
        pytest.param(
            Action("fail", {"type": "dear"}), TaskFailed("dear", "it was told to fail", "s0"), id="fail: a type alone"
        ),
        pytest.param(
            asserting("input.x == 3"),
            TaskFailed("assertion_failed", "input.x == 3 does not hold: input.x is missing", "s0"),
            id="assert: a missing key does not hold",
        ),
        pytest.param(mock(output={"a": [1]}), {"a": [1]}, id="mock: a literal"),
        pytest.param(mock(), {}, id="mock: nothing said is an empty object"),
        pytest.param(
            mock(fail={"times": 1, "message": "nope"}), TaskFailed("mock_failure", "nope", "s0"), id="mock: a failure"
        ),
        pytest.param(mock(fail={"times": 0}, output={"a": 1}), {"a": 1}, id="mock: no failure at all"),
        pytest.param(
            mock(schema={"type": "string", "pattern": "^[0-9]{9}$"}),
            None,
            id="mock: a schema nothing can be made for says so",
        ),
    ],
)
def test_an_action(action: Action, then: TaskResult) -> None:
    answer = run(task(action), {"n": 2})
    if then is None:
        assert isinstance(answer, TaskFailed)
        assert answer.type == "mock_schema"
    else:
        assert answer == then


def test_actions_read_the_action_s_input_and_the_task_s_state_and_output() -> None:
    first = Step(setting(a=1), output_mapping={"state.s": 10, "output.o": 20})
    second = Step(setting(sum="input.i + state.s + output.o"), input_mapping={"i": "input.n"})
    assert run(task(first, second), {"n": 3}) == {"o": 20, "sum": 33}


@pytest.mark.parametrize(
    ("attempt", "attempts", "then"),
    [
        pytest.param(1, 1, "fails", id="the first call of the first attempt fails"),
        pytest.param(1, 3, "succeeds", id="infrastructure retries count"),
        pytest.param(1, 2, "fails", id="until they are used up"),
        pytest.param(2, 2, "succeeds", id="business attempts count too"),
        pytest.param(3, 1, "succeeds", id="alone as well"),
    ],
)
def test_a_mock_fails_its_first_calls(attempt: int, attempts: int, then: str) -> None:
    implementation: JsonObject = {"fail": {"times": 2, "transient": True}}
    action = Action("mock", implementation, execution=Execution(retry_policy=RetryPolicy(attempts)))
    assert ("fails" if isinstance(run(task(action), attempt=attempt), TaskFailed) else "succeeds") == then


@given(st.integers(0, 500), st.integers(0, 500), st.integers(1, 5))
def test_a_mock_s_delay_lies_in_its_range_and_can_be_repeated(least: int, more: int, attempt: int) -> None:
    took: set[int] = set()
    for _ in range(2):
        clock = VirtualClock()
        run(task(mock(delay_ms={"min": least, "max": least + more})), attempt=attempt, clock=clock)
        took.add(clock.now())
    assert len(took) == 1
    assert least <= took.pop() <= least + more


def test_a_mock_s_data_fits_its_schema_and_belongs_to_its_seed() -> None:
    made = [run(task(mock(schema=PERSON, seed=seed)), attempt=attempt) for seed in (1, 2) for attempt in (1, 2)]
    assert made[0] == made[1]
    assert made[2] == made[3]
    assert made[0] != made[2]
    unseeded = [run(task(mock(schema=PERSON)), attempt=attempt) for attempt in (1, 1, 2)]
    assert unseeded[0] == unseeded[1] != unseeded[2]


@pytest.mark.parametrize(
    ("action", "paths"),
    [
        pytest.param(setting(n="input.n"), [], id="nothing wrong"),
        pytest.param(setting(n="inptu.n", m="1 +"), ["set.n", "set.m"], id="every expression that does not compile"),
        pytest.param(Action("context"), [""], id="a context that does nothing"),
        pytest.param(Action("context", {"set": {}, "validate": {"schema": {}}}), [""], id="or two things"),
        pytest.param(Action("context", {"set": 3}), ["set"], id="the wrong type"),
        pytest.param(asserting("1 = 2"), ["that"], id="an assert that is no expression"),
        pytest.param(Action("assert"), [""], id="an assert of nothing"),
        pytest.param(
            Action("assert", {"that": True, "type": "too dear", "message": "{{"}),
            ["type", "message"],
            id="an assert whose type is no name and whose message is no template",
        ),
        pytest.param(Action("fail"), [""], id="a fail without a type"),
        pytest.param(
            Action("fail", {"type": "", "message": "{{"}),
            ["type", "message"],
            id="a fail whose type is no name and whose message is no template",
        ),
        pytest.param(mock(outptu=1), [""], id="a misspelt key"),
        pytest.param(mock(output=1, schema={}), [""], id="a mock with two results"),
        pytest.param(mock(delay_ms={"min": 3, "max": 1}), ["delay_ms"], id="an empty range"),
        pytest.param(mock(delay_ms=-1), ["delay_ms"], id="a negative delay"),
        pytest.param(mock(fail={"times": "often"}), ["fail.times"], id="a path into it"),
        pytest.param(Action("python", {"function": "nowhere:f"}), [], id="a function is not looked for at load"),
        pytest.param(Action("python"), [""], id="but it must be named"),
        pytest.param(Action("telepathy"), ["kind"], id="an unknown kind"),
    ],
)
def test_check_at_load(action: Action, paths: list[str]) -> None:
    assert [flaw.path for flaw in check_implementation(action)] == paths


class Echo(Kind, frozen=True):
    """A kind as a plugin would write it."""

    prefix: str

    def prepare(self) -> ActionHandler:
        async def act(call: ActionCall) -> Json | ActionFailed:
            return {"said": f"{self.prefix}{call.input}"}

        return act


def test_a_plugin_joins_with_a_class() -> None:
    register_kind("echo", Echo)
    assert run(task(Action("echo", {"prefix": ">"})), {"a": 1}) == {"said": ">{'a': 1}"}
    assert [flaw.problem for flaw in check_implementation(Action("echo"))] == ["Object missing required field `prefix`"]


def test_a_message_that_cannot_be_rendered_fails_the_task_whatever_on_failure_says() -> None:
    failing = Action("fail", {"type": "dear", "message": "{{ input.gone }}"})
    found = run(task(Step(failing, ref="s0", on_failure="continue")), {"n": 1})
    assert isinstance(found, TaskFailed)
    assert found.type == "template_error"

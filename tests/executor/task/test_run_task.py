"""Steps in order, and what a failing step does to the rest."""

from typing import Literal, NamedTuple, TypeAlias

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, Step, StepCondition, StepOutcome, Task
from jeton.model.definition.workflow import Library
from jeton.model.failure import TaskFailed
from jeton.model.json import Json, JsonObject, Schema
from tests.executor.given import asserting, mock, run, setting, task

OnFailure: TypeAlias = Literal["abort", "retry", "continue"]

NUMBER: Schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
FAILING = mock(fail={"times": 99, "message": "no luck"})


def counted(name: str) -> Step:
    """A step that leaves its name in the state's trail."""
    return Step(
        setting(x=f"'{name}'"), ref=name, output_mapping={"state.trail": f"state.?trail.orValue([]) + ['{name}']"}
    )


SHOW_TRAIL = Step(setting(trail="state.trail"), ref="show")


@pytest.mark.parametrize(
    ("given", "input", "then"),
    [
        pytest.param(
            task(counted("a"), counted("b"), counted("c"), SHOW_TRAIL),
            {},
            {"trail": ["a", "b", "c"]},
            id="T01 steps run in list order, and later ones see earlier state",
        ),
        pytest.param(
            task(setting(a=1), setting(b="output.a + 1")), {}, {"a": 1, "b": 2}, id="results merge into the output"
        ),
        pytest.param(task(mock(output=5)), {}, {"result": 5}, id="a result that is no object lands at output.result"),
        pytest.param(task(mock(output=None)), {}, {"result": None}, id="and so does null"),
        pytest.param(
            task(setting(n="input.n")), {"n": 3}, {"n": 3}, id="without an input mapping the task's input is passed"
        ),
        pytest.param(
            task(Step(setting(got="input.m"), input_mapping={"m": "input.n * 2"})),
            {"n": 3},
            {"got": 6},
            id="a mapped input",
        ),
        pytest.param(
            task(Step(setting(got="input"), input_mapping={"a.b": "input.n", "a.c": 4})),
            {"n": 3},
            {"got": {"a": {"b": 3, "c": 4}}},
            id="a target path makes objects on the way",
        ),
        pytest.param(
            task(Step(setting(n=1), output_mapping={"state.n": "result.n"}), setting(m="state.n")),
            {},
            {"m": 1},
            id="an output mapping writes what it says and nothing else",
        ),
        pytest.param(
            task(Step(setting(n=1), output_mapping={"output.a": "result.n", "output.b": "has(output.a)"})),
            {},
            {"a": 1, "b": False},
            id="an output mapping sees nothing of what it writes",
        ),
        pytest.param(
            task(Step(setting(got="input.m"), input_mapping={"m": "input.nothing.there"})),
            {},
            {"got": None},
            id="a missing key in a mapping is null",
        ),
        pytest.param(
            task(Step(mock(output={}), output_mapping={"output.v": "result.missing"})),
            {},
            {"v": None},
            id="also in an output",
        ),
        pytest.param(task(), {}, {}, id="a task without steps gives an empty object"),
    ],
)
def test_steps(given: Task, input: JsonObject, then: TaskResult) -> None:
    assert run(given, input) == then


@pytest.mark.parametrize(
    ("given", "then"),
    [
        pytest.param(
            task(setting(a=1), Step(FAILING, ref="boom"), setting(b=2)),
            TaskFailed("mock_failure", "no luck", "boom"),
            id="T02 abort: later steps do not run, and no retry is asked for",
        ),
        pytest.param(
            task(Step(FAILING, ref="boom", on_failure="retry")),
            TaskFailed("mock_failure", "no luck", "boom", retry=True),
            id="T06 retry: the run is asked for another attempt",
        ),
        pytest.param(
            task(Step(FAILING, ref="boom", on_failure="continue"), setting(errors="state._errors")),
            {"errors": [{"step": "boom", "type": "mock_failure", "message": "no luck"}]},
            id="T03 continue: the error is listed in the state, and the task goes on",
        ),
        pytest.param(
            task(
                Step(FAILING, ref="one", on_failure="continue"),
                Step(FAILING, ref="two", on_failure="continue"),
                setting(errors="state._errors.map(e, e.step)"),
            ),
            {"errors": ["one", "two"]},
            id="every error that was passed over is listed",
        ),
        pytest.param(
            task(Step(asserting("1 > 2"), ref="check", on_failure="retry")),
            TaskFailed("assertion_failed", "1 > 2 does not hold with {}", "check", retry=True),
            id="an assert that does not hold is a business failure",
        ),
        pytest.param(
            task(Step(mock(fail={"times": 9, "transient": True}), ref="net", on_failure="retry")),
            TaskFailed("mock_failure", "mock failure", "net", transient=True, retry=True),
            id="a passing failure that nobody caught says so",
        ),
    ],
)
def test_a_failing_step(given: Task, then: TaskResult) -> None:
    assert run(given) == then


@pytest.mark.parametrize("attempt", [1, 2, 3])
def test_t04_each_attempt_runs_every_step_with_a_fresh_context(attempt: int) -> None:
    given = task(counted("a"), Step(mock(fail={"times": 2}), ref="flaky", on_failure="retry"), SHOW_TRAIL)
    answer = run(given, attempt=attempt)
    assert answer == (
        TaskFailed("mock_failure", "mock failure", "flaky", retry=True) if attempt < 3 else {"trail": ["a"]}
    )


@pytest.mark.parametrize(
    ("given", "input", "then"),
    [
        pytest.param(
            Task((Step(setting(n="'x'")),), output_schema=NUMBER),
            {},
            TaskFailed("output_invalid", 'output.n: "x" is not of type "integer"', retry=True),
            id="T15 output that violates its schema is a business failure",
        ),
        pytest.param(
            Task((Step(setting(n=1)),), input_schema=NUMBER),
            {"n": "x"},
            TaskFailed("input_invalid", 'input.n: "x" is not of type "integer"'),
            id="input is checked first, and trying again would not help",
        ),
        pytest.param(
            Task((Step(setting(n=1)),), input_schema=NUMBER, output_schema=NUMBER), {"n": 2}, {"n": 1}, id="both fit"
        ),
        pytest.param(
            task(Step(Action("context", {"set": {"n": "input.n"}}, input_schema=NUMBER), ref="a")),
            {"n": "x"},
            TaskFailed("input_invalid", 'input.n: "x" is not of type "integer"', "a"),
            id="an action's input schema is checked in its step",
        ),
        pytest.param(
            task(Step(Action("mock", {"output": {}}, output_schema=NUMBER), ref="a", on_failure="retry")),
            {},
            TaskFailed("output_invalid", 'result: "n" is a required property', "a", retry=True),
            id="an action's output schema too",
        ),
    ],
)
def test_schemas(given: Task, input: JsonObject, then: TaskResult) -> None:
    assert run(given, input) == then


def only_if(
    test: Json, then: StepOutcome = "continue", otherwise: StepOutcome = "skip", on_failure: OnFailure = "abort"
) -> Task:
    """A step with a condition, and one after it."""
    conditional = Step(
        setting(ran=True), ref="maybe", condition=StepCondition(test, then, otherwise), on_failure=on_failure
    )
    return task(conditional, setting(after=True))


@pytest.mark.parametrize(
    ("given", "then"),
    [
        pytest.param(only_if("input.n > 1"), {"ran": True, "after": True}, id="true: the step runs"),
        pytest.param(only_if("input.n > 9"), {"after": True}, id="false: it is skipped"),
        pytest.param(only_if("input.missing > 9"), {"after": True}, id="a missing key is false"),
        pytest.param(only_if(False), {"after": True}, id="a literal"),
        pytest.param(
            only_if("input.n > 1", then="skip", otherwise="continue"), {"after": True}, id="the other way round"
        ),
        pytest.param(only_if("input.n > 1", then="succeed"), {}, id="succeed ends the task at once"),
        pytest.param(only_if("input.n > 9", otherwise="succeed"), {}, id="succeed when false"),
        pytest.param(
            only_if("input.n > 9", otherwise="fail"),
            TaskFailed("condition_failed", "input.n > 9 is false", "maybe"),
            id="fail fails the step",
        ),
        pytest.param(
            only_if("input.n > 1", then="fail", on_failure="retry"),
            TaskFailed("condition_failed", "input.n > 1 is true", "maybe", retry=True),
            id="so that its on_failure has a say",
        ),
        pytest.param(
            only_if("input.n > 1", then="fail", on_failure="continue"), {"after": True}, id="also when it is continue"
        ),
    ],
)
def test_conditions(given: Task, then: TaskResult) -> None:
    assert run(given, {"n": 2}) == then


def test_a_task_that_succeeds_early_still_has_its_output_checked() -> None:
    early = Step(setting(n=1), condition=StepCondition(True, "succeed"))
    answer = run(Task((early,), output_schema=NUMBER))
    assert isinstance(answer, TaskFailed)
    assert answer.type == "output_invalid"


@pytest.mark.parametrize("on_failure", ["abort", "retry", "continue"])
@pytest.mark.parametrize(
    "step",
    [
        pytest.param(Step(setting(), input_mapping={"x": "input.n + 'a'"}), id="in an input mapping"),
        pytest.param(Step(setting(), output_mapping={"output.x": "input.n + 'a'"}), id="in an output mapping"),
        pytest.param(Step(setting(), condition=StepCondition("input.n + 'a'")), id="in a condition"),
        pytest.param(Step(setting(), condition=StepCondition("input.n")), id="in a condition that gives no boolean"),
        pytest.param(Step(setting(x="input.n + 'a'")), id="in a context action"),
        pytest.param(Step(asserting("input.n + 'a'")), id="in an assert"),
        pytest.param(Step(setting(x="input.list[7]")), id="an index out of range"),
        pytest.param(Step(setting(x="input.n / 0")), id="a division by zero"),
    ],
)
def test_an_expression_error_fails_the_task_whatever_the_step_says(step: Step, on_failure: OnFailure) -> None:
    given = task(msgspec.structs.replace(step, ref="s", on_failure=on_failure), setting(after=True))
    answer = run(given, {"n": 2, "list": []})
    assert isinstance(answer, TaskFailed)
    assert (answer.type, answer.step, answer.retry) == ("expression_error", "s", False)


@pytest.mark.parametrize(
    ("action", "failure"),
    [
        pytest.param(Action("telepathy"), "unknown_kind", id="an unknown kind"),
        pytest.param("nowhere", "unknown_action", id="an action nobody defined"),
        pytest.param(Action("mock", {"outptu": 1}), "bad_implementation", id="an implementation nobody checked"),
        pytest.param(Action("python", {"function": "nowhere:f"}), "function_missing", id="a function that is not here"),
        pytest.param(Action("mock", isolation="process"), "unsupported_isolation", id="a process of its own"),
    ],
)
def test_what_cannot_be_run_fails_its_step(action: str | Action, failure: str) -> None:
    answer = run(task(Step(action, ref="s", on_failure="retry")))
    assert isinstance(answer, TaskFailed)
    assert (answer.type, answer.step, answer.retry) == (failure, "s", False)


@pytest.mark.parametrize("name", ["double", "double@3"])
def test_an_action_by_name_comes_from_the_library(name: str) -> None:
    library = Library(actions={"double": setting(n="input.n * 2")})
    assert run(task(Step(name)), {"n": 4}, library=library) == {"n": 8}


class Planned(NamedTuple):
    """A step as a property test draws it."""

    fails: bool
    on_failure: OnFailure
    outcome: StepOutcome


planned = st.builds(
    Planned,
    st.booleans(),
    st.sampled_from(("abort", "retry", "continue")),
    st.sampled_from(("continue", "continue", "continue", "skip", "succeed", "fail")),
)


@given(st.lists(planned, max_size=8))
def test_any_list_of_steps_ends_as_the_rules_say(plan: list[Planned]) -> None:
    """The rules once more, on a line of their own each."""
    output: JsonObject = {}
    expected: TaskResult = output
    for index, each in enumerate(plan):
        if each.outcome == "succeed":
            break
        if each.outcome == "skip":
            continue
        if not each.fails and each.outcome == "continue":
            output[f"s{index}"] = True
        elif each.on_failure != "continue":
            unwanted = each.outcome == "fail"
            kind, message = ("condition_failed", "true is true") if unwanted else ("mock_failure", "no luck")
            expected = TaskFailed(kind, message, f"s{index}", retry=each.on_failure == "retry")
            break
    steps = [
        Step(
            FAILING if each.fails else setting(**{f"s{index}": True}),
            ref=f"s{index}",
            on_failure=each.on_failure,
            condition=StepCondition(True, each.outcome),
        )
        for index, each in enumerate(plan)
    ]
    assert run(task(*steps)) == expected


def test_the_input_is_never_changed() -> None:
    given: JsonObject = {"a": {"b": [1]}}
    run(task(Step(setting(a={"b": []})), setting(c="input.a")), given)
    assert given == {"a": {"b": [1]}}

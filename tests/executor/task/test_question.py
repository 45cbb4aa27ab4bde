"""What an action asks is checked before it leaves the executor: it may come from outside."""

import pytest

from jeton.executor.action import ActionCall, ActionHandler, Kind
from jeton.executor.actions import register_kind
from jeton.executor.task.question import LARGEST_QUESTION, LONGEST_TITLE
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, AsksInput, Idempotency, Step
from jeton.model.failure import TaskFailed
from jeton.model.json import Json, Schema
from tests.executor.given import mock, run, task


class Curious(Kind, frozen=True):
    """Asks what its implementation says."""

    title: str = "How many?"
    schema: Schema | None = None
    state: Json = None

    def prepare(self) -> ActionHandler:
        async def ask(call: ActionCall) -> AsksInput:
            state = call.input.get("state") if isinstance(call.input, dict) else None
            return AsksInput(self.title, self.schema, self.state or state)

        return ask


register_kind("curious", Curious)


def curious(**implementation: Json) -> Action:
    return Action("curious", implementation)


def failure(result: TaskResult) -> tuple[str, str]:
    assert isinstance(result, TaskFailed), result
    return result.type, result.message


def test_the_only_step_of_a_task_may_ask() -> None:
    asked = AsksInput("How many?", {"type": "integer"}, {"at": 3})
    assert run(task(curious(schema={"type": "integer"}, state={"at": 3}))) == asked


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param((curious(), mock()), id="not one of several"),
        pytest.param((mock(), curious()), id="not the last of several"),
        pytest.param((Action("curious", idempotency=Idempotency("'k'")),), id="not one that others may wait for"),
    ],
)
def test_who_cannot_be_called_again_cannot_ask(steps: tuple[Action, ...]) -> None:
    assert failure(run(task(*steps)))[0] == "cannot_ask"


def test_a_step_that_cannot_ask_can_be_gone_past() -> None:
    assert run(task(Step(curious(), on_failure="continue"), mock(output={"n": 1}))) == {"n": 1}


@pytest.mark.parametrize(
    ("asks", "why"),
    [
        pytest.param(curious(schema={"type": "nothing"}), "the schema of the answer is not valid", id="a bad schema"),
        pytest.param(curious(schema={"$ref": "https://a.example/b"}), "the schema of the answer", id="one elsewhere"),
        pytest.param(curious(state="x" * LARGEST_QUESTION), "at most", id="more than is kept"),
    ],
)
def test_a_question_that_nobody_could_answer_fails(asks: Action, why: str) -> None:
    kind, message = failure(run(task(asks)))
    assert kind == "bad_question"
    assert why in message


def test_what_cannot_be_stored_is_not_asked() -> None:
    assert failure(run(task(curious()), {"state": "\ud800"}))[0] == "bad_question"


def test_a_title_has_an_end() -> None:
    asked = run(task(curious(title="?" * 2 * LONGEST_TITLE)))
    assert isinstance(asked, AsksInput)
    assert len(asked.title) == LONGEST_TITLE

"""A task is made ready once."""

import msgspec

from jeton.executor.task.task_cache import MAX_KEPT, TaskCache
from jeton.model.definition.task import Action, Step, Task
from jeton.model.definition.workflow import Library
from tests.executor.given import setting, task

LIBRARY = Library(actions={"used": setting(a=1)})


def anew(value: Task) -> Task:
    """The same task, as another run would decode it."""
    return msgspec.json.decode(msgspec.json.encode(value), type=Task)


def test_the_same_task_is_made_ready_once_even_if_it_was_decoded_anew() -> None:
    ready, given = TaskCache(), task(Step("used"), setting(b=2))
    assert ready.get(given, LIBRARY) is ready.get(given, LIBRARY) is ready.get(anew(given), LIBRARY)
    assert ready.get(given, Library(actions=dict(LIBRARY.actions))) is ready.get(given, LIBRARY)


def test_the_same_task_with_another_action_behind_a_name_is_another() -> None:
    ready, given = TaskCache(), task(Step("used"))
    assert ready.get(given, LIBRARY) is not ready.get(given, Library(actions={"used": setting(a=2)}))


def test_a_task_that_lacks_a_function_is_looked_at_again() -> None:
    ready, given = TaskCache(), task(Action("python", {"function": "nowhere:f"}))
    assert ready.get(given, LIBRARY) is not ready.get(given, LIBRARY)
    assert ready.missing(given, LIBRARY) is not None


def test_the_oldest_makes_room() -> None:
    ready, first = TaskCache(), task(setting(a=0))
    before = ready.get(first, LIBRARY)
    for number in range(MAX_KEPT):
        ready.get(task(setting(a=number + 1)), LIBRARY)
    assert ready.get(first, LIBRARY) is not before

"""Short ways to write a task, and to run it in virtual time: nothing here ever waits."""

from jeton.executor import Clock, Resources, TaskCall, ThreadPool, VirtualClock, compile_task, run_task
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, Step, Task
from jeton.model.definition.workflow import Library
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.note import Note

RUN, TOKEN, NODE = RunId("r1"), TokenId(7), "judge"


def unheard(_note: Note) -> None:
    """For a host that does not listen to what tasks say of themselves."""


def setting(**values: Json) -> Action:
    """An action that gives an object; a text is an expression."""
    return Action("context", {"set": values})


def mock(**implementation: Json) -> Action:
    return Action("mock", implementation)


def asserting(that: str) -> Action:
    return Action("assert", {"that": that})


def task(*steps: Action | Step) -> Task:
    """A task whose steps are called s0, s1… unless they have a name."""
    return Task(
        tuple(step if isinstance(step, Step) else Step(step, ref=f"s{index}") for index, step in enumerate(steps))
    )


def run(
    given: Task,
    input: JsonObject | None = None,
    *,
    attempt: int = 1,
    library: Library | None = None,
    clock: Clock | None = None,
) -> TaskResult:
    """What one attempt at the task gives. Fails if it waits for anything real."""
    call = TaskCall(RUN, TOKEN, NODE, attempt, {} if input is None else input)
    resources = Resources(clock or VirtualClock(), ThreadPool(1))
    work = run_task(call, compile_task(given, library or Library()), resources)
    try:
        work.send(None)
    except StopIteration as end:
        answer: TaskResult = end.value
        return answer
    work.close()
    raise AssertionError("the task waited for something real")

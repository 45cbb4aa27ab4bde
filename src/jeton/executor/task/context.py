"""What the steps of one attempt at a task share."""

import msgspec

from jeton.executor.action import ActionFailed, Resources
from jeton.executor.call import TaskCall
from jeton.executor.task.notes import NoteLimiter
from jeton.model.json import JsonObject
from jeton.model.note import MissingNote


class TaskContext(msgspec.Struct, eq=False):
    """The call, what actions use, and the data that the steps have made so far."""

    call: TaskCall
    resources: Resources
    notes: NoteLimiter
    state: JsonObject = {}
    output: JsonObject = {}
    step: str | None = None  # the one that is running

    def scope(self) -> JsonObject:
        """The variables of the expressions of steps."""
        call = self.call
        return {"input": call.input, "state": self.state, "output": self.output, "run": call.facts}

    def note_missing(self, step: str, paths: tuple[str, ...]) -> None:
        """Report paths that a mapping did not find."""
        if paths:
            self.notes.add(MissingNote(step, paths))

    def record(self, step: str, failed: ActionFailed) -> None:
        """Add a failure that the task continues after to `state._errors`."""
        before = self.state.get("_errors")
        error: JsonObject = {"step": step, "type": failed.type, "message": failed.message}
        self.state = {**self.state, "_errors": [*(before if isinstance(before, list) else []), error]}

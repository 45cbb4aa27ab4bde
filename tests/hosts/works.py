"""What the workers of the test workflows do."""

from jeton.model.codes import CustomFailure
from jeton.model.effect import StartTask
from jeton.model.failure import TaskFailed
from jeton.model.json import Json
from tests.hosts.trivial import HELD


def work(effect: StartTask) -> Json | TaskFailed:
    """Add one to the input; the node `try` succeeds the third time, and `hold` is not answered by itself."""
    match effect.node:
        case "try":
            return {"n": 3} if effect.attempt == 3 else TaskFailed(CustomFailure("shaky"), "not yet", retry=True)
        case "hold":
            return HELD
        case _:
            given = effect.input.get("n") if isinstance(effect.input, dict) else None
            return {"n": given + 1 if isinstance(given, int) else 1}

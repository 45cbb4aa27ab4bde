"""What the workers of the test workflows do."""

from jeton.model.effect import StartTask
from jeton.model.failure import TaskFailed
from jeton.model.json import Json
from tests.hosts.trivial import HELD


def work(effect: StartTask) -> Json | TaskFailed:
    """Add one to the input. The node `try` succeeds the third time; `hold` does not finish by itself."""
    match effect.node:
        case "try":
            return {"n": 3} if effect.attempt == 3 else TaskFailed("shaky", "not yet", retry=True)
        case "hold":
            return HELD
        case _:
            given = effect.input.get("n") if isinstance(effect.input, dict) else None
            return {"n": given + 1 if isinstance(given, int) else 1}

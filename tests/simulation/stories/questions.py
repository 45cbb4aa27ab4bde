"""Which tasks of a simulated world ask people something before they are done, as a tool of an MCP server may."""

from random import Random

from jeton.hosts.simulated.script import Answer, ScriptedCall
from jeton.model.definition.task import AsksInput
from jeton.model.json import Json, JsonObject
from jeton.model.state.phase import Continuation
from tests.simulation.invariants.seen import broken

SCHEMA: JsonObject = {"type": "object", "required": ["said"], "properties": {"said": {"type": "string"}}}


def reply_to(node: str, path: str) -> Json:
    """What people say to a task."""
    return {"said": f"{node}@{path}"}


class Questions:
    """Questions follow from the call alone: how often it was answered is in what the task left behind."""

    def __init__(self, seed: int, chance: float = 0.25) -> None:
        self._seed = seed
        self._chance = chance

    def before(self, call: ScriptedCall, answer: Answer) -> Answer:
        """The answer, or what its task asks until it gives it."""
        if answer.suspended is not None:
            return answer
        rng = Random(f"{self._seed}/{call.node}/questions")
        times = rng.choice((1, 1, 2)) if rng.random() < self._chance else 0
        told = _told(call, call.continuation)
        if told >= times:
            return answer
        return Answer(asked=AsksInput(f"{call.node}, {told}", SCHEMA, {"told": told, "path": call.path}))


def _told(call: ScriptedCall, left: Continuation | None) -> int:
    """How often the task was told something. What it finds is what it left, with the answer to its own question."""
    if left is None or left.state is None:
        return 0
    if not isinstance(left.state, dict) or left.state.get("path") != call.path:
        broken(f"the task of {call.node} on {call.path} finds what another left: {left}")
    if left.answer != reply_to(call.node, call.path):
        broken(f"the task of {call.node} on {call.path} goes on with {left.answer}")
    told = left.state["told"]
    assert isinstance(told, int)
    return told + 1

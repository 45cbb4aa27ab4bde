"""What a task asks people, checked before it leaves the executor: it may come from outside."""

import msgspec

from jeton.executor.action import ActionCall, ActionFailed
from jeton.expression.schema import SchemaInvalid, compile_schema
from jeton.model.definition.task import AsksInput
from jeton.model.storable import Flaws, storable, valid_text

LONGEST_TITLE = 4_000
LARGEST_QUESTION = 262_144  # bytes, with its schema and what the task wants to find again

_encode = msgspec.json.Encoder().encode


def checked_question(asked: AsksInput, call: ActionCall) -> AsksInput | ActionFailed:
    """The question with a title of bounded length, or the failure of an action that cannot ask it."""
    if not call.may_suspend:
        why = "it must be the only step of its task and have no idempotency key, because it is called again"
        return ActionFailed("cannot_ask", f"the action asks people something, and {why}")
    flaws: Flaws = []
    storable({"schema": asked.schema, "state": asked.state}, "question", flaws)
    if flaws:
        path, problem = flaws[0]
        return ActionFailed("bad_question", f"{path}: {problem}")
    try:
        compile_schema(asked.schema)
    except SchemaInvalid as invalid:
        return ActionFailed("bad_question", f"the schema of the answer is not valid: {valid_text(invalid.problem)}")
    size = len(_encode((asked.schema, asked.state)))
    if size > LARGEST_QUESTION:
        return ActionFailed("bad_question", f"it has {size} bytes, and at most {LARGEST_QUESTION} are kept")
    return msgspec.structs.replace(asked, title=valid_text(asked.title)[:LONGEST_TITLE])

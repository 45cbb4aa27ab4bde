"""The rule that every provider has: each tool call is followed by its result, and by nothing else before it."""

from collections.abc import Sequence

from jeton.model.chat import AssistantMessage, ModelMessage, ToolMessage


def unpaired(messages: Sequence[ModelMessage]) -> str | None:
    """What is wrong with the tool calls of a history; None if each has one result, in order, right after it."""
    seen: set[str] = set()
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            given = [result.id for result in message.results]
            if given != waiting:
                return f"messages[{place}] has results of {given}, and {waiting} were called"
            waiting = []
            continue
        if waiting:
            return f"messages[{place}] stands where the results of {waiting} must be"
        if isinstance(message, AssistantMessage):
            waiting = [call.id for call in message.calls]
            again = [id for id in waiting if id in seen or waiting.count(id) > 1]
            if again:
                return f"messages[{place}] uses the ids {again} again"
            seen.update(waiting)
    return f"the results of {waiting} are missing" if waiting else None

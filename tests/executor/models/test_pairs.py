"""Each tool call of a history has one result, right after it: whatever is taken away or moved is noticed."""

from hypothesis import given
from hypothesis import strategies as st

from jeton.executor.models.pairs import unpaired
from jeton.model.chat import AssistantMessage, ModelMessage, ToolCall, ToolMessage, ToolResult, UserMessage


def history(rounds: list[int]) -> list[ModelMessage]:
    """A chat message, an answer with this many calls, and their results, again and again."""
    messages: list[ModelMessage] = []
    for number, calls in enumerate(rounds):
        ids = [f"c{number}_{index}" for index in range(calls)]
        messages += [UserMessage("go on"), AssistantMessage("well", tuple(ToolCall(id, "t") for id in ids))]
        if ids:
            messages.append(ToolMessage(tuple(ToolResult(id, "t") for id in ids)))
    return messages


@given(st.lists(st.integers(0, 3), max_size=5))
def test_a_paired_history_is_accepted(rounds: list[int]) -> None:
    assert unpaired(history(rounds)) is None


@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.data())
def test_a_missing_moved_or_repeated_half_is_noticed(rounds: list[int], data: st.DataObject) -> None:
    messages = history(rounds)
    halves = [at for at, message in enumerate(messages) if isinstance(message, AssistantMessage | ToolMessage)]
    at = data.draw(st.sampled_from(halves))
    without = messages[:at] + messages[at + 1 :]
    assert unpaired(without) is not None
    assert unpaired([*messages, messages[at]]) is not None
    assert unpaired([*messages[:at], UserMessage("wait"), *messages[at:]]) is not None or isinstance(
        messages[at], AssistantMessage
    )

"""Pieces of answers while models stream them: to whoever listens in this process, past the journal.

Nothing is kept for late listeners but the text of the answers under way, so that each can begin with the text so far.
"""

from collections.abc import Callable

from jeton.model.chat import Delta, SeenText

Listener = Callable[[Delta], None]


class Deltas:
    """Passes pieces on. Used on one event loop only."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[Listener]] = {}
        self._texts: dict[str, dict[tuple[int, int], tuple[int, str]]] = {}

    def publish(self, delta: Delta) -> None:
        """Pass a piece on to the listeners of its conversation."""
        texts = self._texts.setdefault(delta.conversation, {})
        delivery, text = texts.get((delta.turn, delta.move), (delta.delivery, ""))
        text = "" if delivery != delta.delivery else text
        texts[delta.turn, delta.move] = delta.delivery, text[: delta.at] + delta.text
        for listener in tuple(self._listeners.get(delta.conversation, ())):
            listener(delta)

    def end(self, conversation: str, turn: int, move: int) -> None:
        """Forget the text of an answer that is whole, or was given up."""
        texts = self._texts.get(conversation, {})
        texts.pop((turn, move), None)
        if not texts:
            self._texts.pop(conversation, None)

    def seen(self, conversation: str) -> tuple[SeenText, ...]:
        """The texts so far of the answers under way."""
        texts = self._texts.get(conversation, {})
        return tuple(SeenText(turn, move, text) for (turn, move), (_, text) in texts.items() if text)

    def listen(self, conversation: str, listener: Listener) -> Callable[[], None]:
        """Listen to a conversation, beginning with the text so far. Returns a function that ends it."""
        for (turn, move), (delivery, text) in self._texts.get(conversation, {}).items():
            listener(Delta(conversation, turn, move, delivery, 0, text))
        self._listeners.setdefault(conversation, set()).add(listener)

        def stop() -> None:
            listeners = self._listeners.get(conversation, set())
            listeners.discard(listener)
            if not listeners:
                self._listeners.pop(conversation, None)

        return stop

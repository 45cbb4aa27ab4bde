"""The text of an answer on its way to listeners, with secrets redacted across the borders of pieces."""

from jeton.executor.action import ActionCall
from jeton.model.chat import Delta, ModelRequest


class AnswerStream:
    """Publishes the text of a call's answer. A call outside a turn has no listeners, and publishes nothing."""

    def __init__(self, call: ActionCall, request: ModelRequest) -> None:
        self._call = call
        self._turn, self._move = request.turn, request.move
        self._redacting = call.secrets.stream()
        self._at = 0

    def begin(self) -> None:
        """Begin a request. What an earlier one has published is void: the text begins at 0 again."""
        self._redacting = self._call.secrets.stream()
        if self._at > 0:
            self._at = 0
            self._publish("")

    def feed(self, piece: str) -> None:
        """Publish a piece, but for its end if that may be part of a secret."""
        text = self._redacting.feed(piece)
        if text:
            self._publish(text)

    def finish(self) -> None:
        """Publish the rest of an answer that is whole."""
        text = self._redacting.end()
        if text:
            self._publish(text)

    def end(self) -> None:
        """Forget the text: the answer is whole, or was given up."""
        if self._turn is not None:
            self._call.resources.deltas.end(self._call.call.run, self._turn, self._move)

    def _publish(self, text: str) -> None:
        if self._turn is not None:
            call = self._call
            delta = Delta(call.call.run, self._turn, self._move, call.delivery, self._at, text)
            call.resources.deltas.publish(delta)
        self._at += len(text)

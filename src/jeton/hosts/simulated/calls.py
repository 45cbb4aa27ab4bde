"""The scripted call of an attempt: the same after a crash, and in every order of events."""

from collections import Counter
from collections.abc import Iterable

from jeton.hosts.simulated.script import ScriptedCall
from jeton.model.decision import CreateToken, CreateTokens, Decision
from jeton.model.effect import StartTask
from jeton.model.ids import RunId, TokenId


class Calls:
    """Where each token stands, and how many stood there before it."""

    def __init__(self) -> None:
        self._visits: Counter[tuple[RunId, str, str]] = Counter()
        self._tokens: dict[tuple[RunId, TokenId], tuple[str, str, int]] = {}  # each one's node, path and visit

    def note(self, run: RunId, decisions: Iterable[Decision]) -> None:
        """Note the tokens that were created."""
        for creation in _creations(decisions):
            place = (run, creation.node, creation.path)
            self._tokens[run, creation.token] = (creation.node, creation.path, self._visits[place])
            self._visits[place] += 1

    def call(self, run: RunId, effect: StartTask, workflow: str, now: int) -> ScriptedCall:
        """The call that an effect asks for."""
        _, path, visit = self._tokens[run, effect.token]
        at = max(now, effect.at)
        return ScriptedCall(
            run,
            effect.node,
            path,
            visit,
            effect.attempt,
            effect.input,
            workflow,
            at,
            effect.token,
            effect.run,
            effect.continuation,
            effect.speaker,
            effect.delivery,
        )

    def node(self, run: RunId, token: TokenId) -> str:
        """Where a token stands."""
        return self._tokens[run, token][0]


def _creations(decisions: Iterable[Decision]) -> list[CreateToken]:
    found: list[CreateToken] = []
    for decision in decisions:
        if isinstance(decision, CreateToken):
            found.append(decision)
        elif isinstance(decision, CreateTokens):
            found += decision.tokens
    return found

"""People who speak to agents: they send, send again, steer, interrupt, stop, approve, refuse, pause and cancel."""

from random import Random

from jeton.hosts.simulated.observer import Step
from jeton.hosts.simulated.world import World
from jeton.model.decision import OpenGate
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.message import AnswerGate, ChatSent, StopTurn
from jeton.model.state.talk import Caller, WhenBusy

WRONG: tuple[Json, ...] = ({"decision": "edit", "input": {"n": "x"}}, {"decision": "maybe"}, 3)
RIGHT: tuple[Json, ...] = (
    {"decision": "approve"},
    {"decision": "approve"},
    {"decision": "approve", "for": "conversation"},
    {"decision": "edit", "input": {"n": 7}},
    {"decision": "refuse", "reason": "rather not"},
)


class Chatters:
    """They act at their own times, and answer every gate some time after it opened."""

    def __init__(self, world: World, rng: Random) -> None:
        self._world = world
        self._rng = rng
        self._said = 0

    def begin(self) -> RunId:
        """Begin a conversation and plan everything that is said in it."""
        rng = self._rng
        talk = self._world.start("agent:bob", {"user": "ann"})
        at = 0
        for _ in range(rng.randint(2, 6)):
            at += rng.choice((1, 5, 20, 80))
            self._send(talk, at)
        for _ in range(rng.choice((0, 0, 1, 2))):
            turn = rng.choice((None, None, 1, 2, 3))
            self._world.tell(talk, StopTurn(0, self._id(), turn, reason="enough"), after_ms=rng.randint(5, at + 20))
        if rng.random() < 0.1:
            self._pause(talk, rng.randint(1, at))
        if rng.random() < 0.05:
            self._world.cancel(talk, "goodbye", after_ms=rng.randint(5, at + 40))
        return talk

    def start_run(self) -> None:
        """Start a run that asks an agent twice, in one conversation."""
        rng = self._rng
        run = self._world.start("asks", {}, after_ms=rng.randint(0, 30))
        if rng.random() < 0.3:
            self._world.cancel(run, "no more", after_ms=rng.randint(5, 60))

    def committed(self, step: Step) -> None:
        if step.entry is None:
            return
        for decision in step.entry.decisions:
            if isinstance(decision, OpenGate):
                self._answer(step.run, decision.token, decision.node)
        if step.program.talk is not None and "." in step.run and self._rng.random() < 0.02:
            self._world.cancel(step.run, "not this one", after_ms=self._rng.randint(0, 20))

    def _send(self, talk: RunId, after_ms: int) -> None:
        rng = self._rng
        when: WhenBusy = rng.choices(("queue", "steer", "interrupt"), (6, 3, 1))[0]
        to = "eve" if rng.random() < 0.1 else None
        key = None if rng.random() < 0.4 else self._id()
        text = f"message {self._id()}"
        for _ in range(1 if key is None else rng.choice((1, 2))):
            message = ChatSent(0, self._id(), text, Caller(user="ann"), (), key, when, to)
            self._world.tell(talk, message, after_ms=after_ms + rng.choice((0, 0, 3, 30)))

    def _answer(self, talk: RunId, token: TokenId, node: str) -> None:
        rng = self._rng
        if not node.startswith("tool:"):
            return self._give_credits(talk, token)
        if node == "tool:hurry" and rng.random() < 0.5:
            return
        people = ("ann", "ann", "bea", "eva") if node == "tool:both" else rng.choice((("ann",), ("ann", "bea")))
        for person in people:
            if rng.random() < 0.2:
                self._tell(talk, AnswerGate(0, self._id(), rng.choice(WRONG), person, token))
            self._tell(talk, AnswerGate(0, self._id(), rng.choice(RIGHT), person, token))
        # whatever they said first, in the end somebody decides
        self._world.answer(talk, AnswerGate(0, self._id(), {"decision": "refuse"}, "zoe", token), after_ms=150)

    def _give_credits(self, talk: RunId, token: TokenId) -> None:
        """Answer a gate that asks for credits: with some, with none, and with something else before it."""
        given: tuple[Json, ...] = ({"credits": 3}, {"credits": 40}, {"credits": -1}, {"decision": "approve"}, "many")
        for _ in range(self._rng.choice((0, 1, 1, 2))):
            self._tell(talk, AnswerGate(0, self._id(), self._rng.choice(given), "ann", token))
        self._world.answer(talk, AnswerGate(0, self._id(), {"credits": 0}, "zoe", token), after_ms=150)

    def _tell(self, talk: RunId, answer: AnswerGate) -> None:
        self._world.answer(talk, answer, after_ms=self._rng.randint(0, 40))

    def _pause(self, talk: RunId, after_ms: int) -> None:
        self._world.pause(talk, after_ms=after_ms)
        self._world.unpause(talk, after_ms=after_ms + self._rng.choice((1, 10, 60)))

    def _id(self) -> str:
        self._said += 1
        return f"said-{self._said}"

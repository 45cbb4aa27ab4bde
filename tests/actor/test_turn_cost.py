"""What a turn of a conversation costs: commits, and the bytes that they write.

Counted from what a host would store, so that the disk has no part in it.
"""

from typing import NamedTuple

from msgspec.structs import replace

from jeton.actor.advance import LiveRun, advance
from jeton.actor.journal import first_hash
from jeton.actor.sections import load_run
from jeton.actor.turn import turn_of
from jeton.model import message as m
from jeton.model.chat import CalledTool, ModelAnswer, TokenUsage
from jeton.model.state.run import Head, RunState
from jeton.planning.program.workflow import Program
from tests.planning.given import RUN
from tests.planning.talking import Step, agent, chat, replies, returns


class Cost(NamedTuple):
    """What a turn wrote."""

    commits: int
    bytes: int


class Stored:
    """A conversation, and what a store has of it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.sections: dict[str, bytes] = {}
        self.run = LiveRun(RunState(Head(RUN, "agent:bob")))
        self._hash = first_hash(RUN)
        self._written: list[int] = []
        self._turns = self._answers = 0
        self._tell(m.StartRun(0, {}))

    def _tell(self, step: Step) -> None:
        message = step(self.run.state) if callable(step) else step
        turn = turn_of(self.program, self.run, advance(self.program, self.run, [message]), self._hash)
        assert turn.entry is not None
        assert self.run.state.head.error is None, self.run.state.head.error
        self._hash = turn.hash
        for name, body in turn.sections.items():
            if body is None:
                self.sections.pop(name, None)
            else:
                self.sections[name] = body
        self._written.append(len(turn.entry.body) + sum(len(body or b"") for body in turn.sections.values()))

    def take_turn(self, *calls: CalledTool) -> Cost:
        """A chat message with a key, and a model that answers it, perhaps after it has called tools."""
        self._written.clear()
        self._turns += 1
        number, state = self._turns, self.run.state
        self._tell(chat(f"This is message {number:05}.", key=f"key {number}", at=number))
        answers = [ModelAnswer("", calls)] if calls else []
        answers.append(ModelAnswer(f"Answer {number:05}."))
        while state.tokens:
            token = next(iter(state.tokens.values()))
            if token.node == "model":
                answer = replace(answers.pop(0), used=(self._answers,), usage=TokenUsage(10, 5))
                self._answers += 1
                self._tell(replies(answer))
            else:
                self._tell(returns(token.node, {"memories": []}))
        assert (answers, state.talk.active()) == ([], [])
        return Cost(len(self._written), sum(self._written))


def test_a_turn_without_tools_is_two_commits() -> None:
    stored = Stored(agent())
    assert [stored.take_turn().commits for _ in range(30)] == [2] * 30


def test_the_thousandth_turn_writes_what_the_tenth_did() -> None:
    stored = Stored(agent("memory: {types: [fact]}"))
    turns = [stored.take_turn(CalledTool("look", {})) for _ in range(1_012)]
    tenth, late = turns[9], turns[990:]
    assert {turn.commits for turn in turns} == {tenth.commits}
    assert max(turn.bytes for turn in late) <= 1.2 * tenth.bytes
    assert load_run(stored.sections).state.talk.head == stored.run.state.talk.head


def test_what_is_stored_of_a_long_conversation_grows_by_the_keys_of_its_messages_alone() -> None:
    stored = Stored(agent("recent_turns: 4"))
    sizes: list[int] = []
    for _ in range(200):
        stored.take_turn()
        sizes.append(sum(map(len, stored.sections.values())))
    assert max(sizes[190:]) - max(sizes[20:30]) <= 170 * 30


def test_a_key_is_known_however_long_ago_it_came() -> None:
    stored = Stored(agent("recent_turns: 4"))
    for _ in range(300):
        stored.take_turn()
    talk = load_run(stored.sections).state.talk
    assert [talk.turn_of_key(f"key {number}") for number in range(302)] == [None, *range(1, 301), None]
    assert len(talk.keys) == 1 + (300 // 16 - 15)  # those of the first 256 turns are one row

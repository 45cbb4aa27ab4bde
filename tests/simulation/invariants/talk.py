"""What must hold after every commit of every conversation.

Each tool call has one result in whatever a model may be given, is executed under one key, and is told of once; each
request begins with the one before it until the window shrinks; nothing that was said is lost.
"""

from collections import Counter
from itertools import pairwise
from typing import TypeAlias

import msgspec

from jeton.model import decision as d
from jeton.model.definition.profile import TOKENS_PER_PRICE
from jeton.model.effect import Effect, SendMessage, StartTask
from jeton.model.ids import TokenId
from jeton.model.json import Json
from jeton.model.message import TurnOver
from jeton.model.state.phase import Dispatched, Executing
from jeton.model.state.run import RunState
from jeton.model.state.talk import CallId, Turn, place_of
from jeton.model.transcript import messages_of, unpaired
from jeton.planning.program.talk import CompiledTool, TalkProgram
from tests.simulation.invariants.seen import Seen, broken, named_in

_GIVEN = ("talk", "given", "move", "result")  # the rows that histories are made of
_encode = msgspec.json.Encoder().encode
ASKING = ("model", "compaction")
Place: TypeAlias = tuple[int, int | None, int | None]


class TalkInvariants:
    """All of them, for one conversation."""

    def __init__(self) -> None:
        self._requests: dict[str, list[bytes]] = {}  # by agent: the last one
        self._tokens: dict[TokenId, tuple[str, Place]] = {}
        self._executed: dict[CallId, TokenId] = {}
        self._open: dict[CallId, str] = {}  # calls without a result
        self._came: Counter[int] = Counter()  # async results, by turn
        self._told: Counter[int] = Counter()
        self._background: Counter[int] = Counter()
        self._steered: dict[int, list[str]] = {}
        self._keys: set[str] = set()
        self._agents: dict[int, str] = {}  # by turn
        self._tainted: set[int] = set()
        self._ended: set[int] = set()
        self._gone: set[int] = set()  # turns that left the window
        self.spent_by: Counter[str] = Counter()  # millionths of a credit, by agent
        self._released: Counter[tuple[TokenId, int]] = Counter()

    def committed(self, seen: Seen) -> None:
        """To be called once a commit is durable and before anything of it leaves."""
        state, program = seen.run.state, seen.program.talk
        assert program is not None
        for decision in seen.entry.decisions:
            if type(decision) in self._followed:
                self._follow(decision, state, program)
        if not state.talk.heads:
            return
        if any(name.partition("/")[0] in _GIVEN for name in seen.turn.sections):
            self._paired(state)
        self._kept_until_told(state)
        self._one_at_a_time(state)
        self._side_by_side(state, program)
        for effect in seen.effects or ():
            self._effect(effect, state)
        for turn in self._tainted & state.talk.turns.keys():
            if not state.talk.turns[turn].tainted:
                broken(f"turn {turn} has read from an untrusted tool and is not tainted")
        if state.head.ended:
            self._nothing_open(state)

    def released(self, effect: Effect, program: TalkProgram) -> None:
        """To be called as an effect leaves."""
        if isinstance(effect, StartTask) and effect.node.startswith("tool:"):
            self._released[effect.token, effect.attempt] += 1
            tool = program.tools[effect.node.removeprefix("tool:")]
            if tool.definition.once and self._released[effect.token, effect.attempt] > 1:
                broken(f"a call of '{tool.definition.name}', which must not be made twice, is handed out again")

    # what the journal says

    def _follow(self, decision: d.Decision, state: RunState, program: TalkProgram) -> None:
        match decision:
            case d.CreateToken():
                self._create(decision)
            case d.CreateTokens():
                for creation in decision.tokens:
                    self._create(creation)
            case d.AddTurn(key=key) | d.SteerTurn(key=key):
                if key is not None and key in self._keys:
                    broken(f"the chat message with the key {key} was taken twice")
                self._keys.update(() if key is None else (key,))
                if isinstance(decision, d.AddTurn):
                    self._agents[decision.turn] = decision.agent
                if isinstance(decision, d.SteerTurn):
                    self._steered.setdefault(decision.turn, []).append(decision.said.text)
            case d.AddMove(turn, number, move):
                if turn in self._ended:
                    broken(f"turn {turn} has ended, and moves")
                limit = program.agents[move.by].persona.max_moves_per_turn
                if number >= limit and move.calls:
                    broken(f"move {number} of turn {turn} makes calls, past the limit of {limit}")
                for index, call in enumerate(move.calls):
                    self._open[turn, number, index] = call.name
            case d.AnswerCall(turn, move, call, taints=taints):
                self._answered(turn, move, call, taints)
                self._check_taint(program, decision)
            case d.StartAsync(turn, move, call):
                self._answered(turn, move, call, False)
                self._background[turn] += 1
            case d.KeepAsync(turn, taints=taints):
                self._came[turn] += 1
                self._tainted.update((turn,) if taints else ())
                self._check_taint(program, decision)
            case d.DispatchToken(token, node=node) if node.partition(":")[0] == "model":
                self._within_budget(state, program, self._tokens[token][1][0])
            case d.SpendBudget(turn, millionths=millionths):
                self.spent_by[self._agents[turn]] += millionths
            case d.AskModel(turn, told=told):
                self._told[turn] += len(told)
                if self._told[turn] > self._came[turn]:
                    broken(f"turn {turn} is told {self._told[turn]} results, and {self._came[turn]} came")
                if self._tainted & {
                    0,
                    *(number for number, each in state.talk.turns.items() if each.began_at is not None),
                }:
                    self._tainted.add(turn)
            case d.ShrinkWindow(upto, summary=summary):
                self._requests.clear()
                left = {turn for turn in self._ended - self._gone if turn <= upto}
                self._gone |= left
                if summary is not None and left & self._tainted:
                    self._tainted.add(0)  # the summary
            case d.EndTurn(turn):
                self._end(decision, state)
            case _:
                pass

    def _within_budget(self, state: RunState, program: TalkProgram, number: int) -> None:
        """A model is asked only while something of each budget is left."""
        turn = state.talk.turns.get(number)
        budget = None if turn is None else program.agents[turn.agent].persona.budget
        if turn is None or budget is None:
            return
        head = state.talk.head
        limits = (budget.turn, turn.added, turn.spent), (budget.conversation, head.added, head.spent)
        for limit, added, spent in limits:
            if limit is not None and spent >= (limit + added) * TOKENS_PER_PRICE:
                broken(f"the model is asked in turn {number}, which has used {spent} of {limit} + {added} credits")
        if budget.agent_day is not None and turn.phase != "ended" and (turn.day is None or turn.day.phase != "granted"):
            broken(f"the model is asked in turn {number}, and nothing is reserved for it: {turn.day}")

    def _create(self, creation: d.CreateToken) -> None:
        place = place_of(creation.path)
        self._tokens[creation.token] = creation.node, place
        turn, move, index = place
        if creation.node.startswith("tool:"):
            assert move is not None
            assert index is not None
            if self._executed.setdefault((turn, move, index), creation.token) != creation.token:
                broken(f"the call {creation.path} is made under two keys")

    def _answered(self, turn: int, move: int, call: int, taints: bool) -> None:
        if self._open.pop((turn, move, call), None) is None:
            broken(f"call {turn}.{move}.{call} is answered twice, or was never made")
        self._tainted.update((turn,) if taints else ())

    def _check_taint(self, program: TalkProgram, decision: d.AnswerCall | d.KeepAsync) -> None:
        tool = program.tools.get(decision.result.result.name)
        if tool is not None and tool.untrusted and decision.result.result.error is None:
            self._tainted.add(decision.turn)

    def _end(self, decision: d.EndTurn, state: RunState) -> None:
        turn = decision.turn
        if turn in self._ended:
            broken(f"turn {turn} ends twice")
        self._ended.add(turn)
        left = [call for call in self._open if call[0] == turn]
        if left:
            broken(f"turn {turn} ends, and the calls {left} have no result")
        if decision.status == "completed" and self._told[turn] != self._background[turn]:
            broken(f"turn {turn} began {self._background[turn]} async calls and was told of {self._told[turn]}")
        said = [text for number, move in state.talk.moves.items() if number[0] == turn for text in _texts(move.before)]
        for text in self._steered.get(turn, ()):
            if turn in state.talk.turns and text not in said:
                broken(f"turn {turn} was steered with '{text}', and its history does not have it")

    # what the state is

    def _kept_until_told(self, state: RunState) -> None:
        """Results of async calls are stored until the model is told, and no longer."""
        waiting = {call for turn in state.talk.turns.values() if turn.phase != "ended" for call in turn.came}
        kept = {call for call in state.talk.came if state.talk.turns[call[0]].phase != "ended"}
        if waiting != kept:
            broken(f"the results {sorted(kept)} are stored, and {sorted(waiting)} are to be told")

    def _paired(self, state: RunState) -> None:
        """What models may be given next: those of turns that have not ended, and of the next one of each agent."""
        turns = state.talk.turns
        last = {turn.agent: number for number, turn in turns.items() if turn.phase != "queued"}
        for number, turn in turns.items():
            may_ask = turn.phase not in ("queued", "ended") or last.get(turn.agent) == number
            problem = unpaired(messages_of(state.talk, number)) if may_ask else None
            if problem is not None:
                broken(f"a request of turn {number} would not be paired: {problem}")

    def _one_at_a_time(self, state: RunState) -> None:
        """Turns that move at the same time wait for each other: each was looped in by the one before it."""
        moving = [turn for turn in state.talk.turns.values() if turn.moving]
        for before, after in pairwise(moving):
            if after.beside != before.number:
                broken(f"turns {before.number} and {after.number} move at the same time")
        asking = Counter(
            place_of(t.path)[0] for t in state.tokens.values() if t.node.startswith(("model", "compaction"))
        )
        if any(count > 1 for count in asking.values()):
            broken(f"the model of a turn is asked twice, or while older turns are summarised: {asking}")
        for token in state.tokens.values():
            turn = state.talk.turns.get(place_of(token.path)[0])
            if turn is None or turn.phase == "ended":
                broken(f"token {token.id} works for a turn that has ended")

    def _side_by_side(self, state: RunState, program: TalkProgram) -> None:
        """No more calls of a move are under way than may be, and an exclusive one is alone."""
        for turn in state.talk.turns.values():
            at_work = _at_work(state, turn, program)
            limit = program.agents[turn.agent].persona.max_parallel_tools
            if len(at_work) > limit:
                broken(f"{len(at_work)} calls of turn {turn.number} are under way, and {limit} may be")
            if len(at_work) > 1 and any(tool.definition.exclusive for tool in at_work):
                names = [tool.definition.name for tool in at_work]
                broken(f"turn {turn.number} has an exclusive call under way beside others: {names}")

    def _nothing_open(self, state: RunState) -> None:
        active = [turn.number for turn in state.talk.turns.values() if turn.phase != "ended"]
        if active:
            broken(f"the conversation has ended, and the turns {active} have not")

    # what leaves

    def _effect(self, effect: Effect, state: RunState) -> None:
        match effect:
            case StartTask(token=token) if token not in state.tokens:
                pass  # it ended in the same batch
            case StartTask(token=token, node=node, input=dict() as given) if node.partition(":")[0] == "model":
                self._extends(state.talk.turns[place_of(state.tokens[token].path)[0]], state, given["messages"])
            case SendMessage(message=TurnOver(turn=turn, error=error)):
                if turn not in self._ended and (turn or error is None):  # 0: a chat message that nobody takes
                    broken(f"the caller of turn {turn} is told of an end that has not come")
            case _:
                pass

    def _extends(self, turn: Turn, state: RunState, messages: Json) -> None:
        if state.talk.given[turn.number].messages is not None:
            return  # from an assembly workflow
        assert isinstance(messages, list)
        request = [_encode(message) for message in messages]
        before = self._requests.get(turn.agent, [])
        if request[: len(before)] != before:
            place = next(i for i, old in enumerate(before) if i >= len(request) or request[i] != old)
            now = request[place] if place < len(request) else None
            broken(f"a request of turn {turn.number} has {now!r} where the one before had {before[place]!r}")
        self._requests[turn.agent] = request

    _followed = named_in(_follow)


def _texts(messages: tuple[object, ...]) -> list[str]:
    return [str(getattr(message, "text", "")) for message in messages]


def _at_work(state: RunState, turn: Turn, program: TalkProgram) -> list[CompiledTool]:
    """The tools of the last move's calls that workers have."""
    found: list[CompiledTool] = []
    for token in state.tokens.values():
        number, move, _ = place_of(token.path)
        if (number, move) != (turn.number, turn.moves - 1) or not token.node.startswith("tool:"):
            continue
        if place_of(token.path) in turn.background:
            continue
        if isinstance(token.phase, Dispatched | Executing):
            found.append(program.tools[token.node.removeprefix("tool:")])
    return found

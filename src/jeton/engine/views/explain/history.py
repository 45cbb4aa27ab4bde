"""Fold a journal once more, and look at the state just before each routing: that is what its conditions read."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from jeton.actor.advance import LiveRun
from jeton.apply.draft import Draft
from jeton.apply.fold import fold
from jeton.engine.views.explain.views import Considering, Routing, Verdict
from jeton.expression import Failed
from jeton.expression.mapping import evaluate_mapping
from jeton.model.decision import (
    CreateToken,
    CreateTokens,
    Decision,
    FailNode,
    FinishNode,
    OpenGroup,
    ParkToken,
    RouteToken,
    TakeSignal,
    TimeOutGate,
)
from jeton.model.definition.workflow import GateTarget
from jeton.model.entry import Entry
from jeton.model.failure import RunError
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import ChildEnded, TaskFinished
from jeton.model.paths import written
from jeton.model.state.phase import WaitingForGate, WaitingForSubworkflow
from jeton.model.state.run import Head, RunState, Token
from jeton.model.times import moment
from jeton.planning.program.workflow import CompiledTransition, Program
from jeton.planning.tokens.routing import choose_transitions
from jeton.planning.tokens.scope import scope_of
from jeton.planning.waits.child import caught_error


def routings(
    program: Program,
    head: Head,
    entries: Iterable[Entry],
    *,
    token: TokenId | None = None,
    node: str | None = None,
) -> Iterator[Routing]:
    """Every routing of the run, in order, or only those of one token or one node."""
    run = LiveRun(RunState(Head(head.run, head.workflow, head.version)))
    for entry in entries:
        walk = _Walk(program, run, entry)
        for at, decision in enumerate(entry.decisions):
            if isinstance(decision, RouteToken):
                wanted = token in (None, decision.token) and node in (None, decision.node)
                found = walk.routing(decision, at) if wanted else None
                if found is not None:
                    yield found
            walk.fold(decision)


class _Seen(msgspec.Struct, frozen=True):
    """What became of one transition: the path that was missing, or the problem, goes with the verdict."""

    verdict: Verdict
    missing: str | None = None
    problem: str | None = None


class _Walk:
    """One entry: what each of its nodes came to, and the state as it changes under its decisions."""

    def __init__(self, program: Program, run: LiveRun, entry: Entry) -> None:
        self._program = program
        self._state = run.state
        self._draft = Draft(run.state, run.timers)
        self._entry = entry
        self._results: dict[TokenId, Json] = {}
        self._brought: dict[TokenId, Json] = {}  # by a signal, or by the time that was up at a gate
        self._errors: dict[TokenId, JsonObject] = {}

    def fold(self, decision: Decision) -> None:
        if isinstance(decision, FinishNode):
            self._results[decision.token] = self._result(decision)
        elif isinstance(decision, FailNode):
            self._errors[decision.token] = decision.error
        elif isinstance(decision, TakeSignal):
            self._brought[decision.token] = self._state.signals[decision.name][decision.number].value
        elif isinstance(decision, TimeOutGate):
            self._brought[decision.token] = self._gate(decision.node).on_timeout
        fold(self._draft, decision)

    def routing(self, decision: RouteToken, at: int) -> Routing | None:
        """How the token was routed; None if it was not, but ended by something else."""
        token = self._state.tokens[decision.token]
        error = self._errors.get(token.id)
        if error is None and token.id not in self._results:
            return None
        created, parked_at = _led_to(self._entry.decisions[at + 1 :])
        return Routing(
            token=token.id,
            node=token.node,
            entry=self._entry.number,
            at=moment(self._entry.at),
            after="success" if error is None else "failure",
            considered=self._considered(decision, token, error),
            created=created,
            parked_at=parked_at,
            ends=decision.ends,
        )

    def _considered(self, decision: RouteToken, token: Token, error: JsonObject | None) -> tuple[Considering, ...]:
        place = self._program.nodes[token.node]
        if error is None:
            names = scope_of(self._program, self._state, token, self._results[token.id])
        else:
            names = scope_of(self._program, self._state, token, error=error)
        tiers = place.tiers if error is None else place.handlers
        if decision.considered:
            seen = {each.transition: _Seen(each.verdict, each.path) for each in decision.considered}
        else:  # a run that failed here kept its error instead; the same question has the same answer
            seen = _judged(tiers, token.loops, names, place.definition.fan_out == "first_match")
        asked = {way.index for tier in tiers for way in tier}
        ways = [way for tier in place.tiers for way in tier]
        return tuple(self._considering(way, seen.get(way.index) or _unseen(way, asked), token, names) for way in ways)

    def _considering(self, way: CompiledTransition, seen: _Seen, token: Token, names: JsonObject) -> Considering:
        values: dict[str, Json] = {}
        if way.condition is not None and seen.verdict in ("matched", "false", "missing", "error"):
            values = way.condition.values(names)
        return Considering(
            transition=way.index,
            to=way.target,
            priority=self._program.workflow.transitions[way.index].priority,
            condition=None if way.condition is None else way.source,
            verdict=seen.verdict,
            values=values,
            missing=seen.missing,
            iterations=None if way.max_iterations is None else token.loops.get(way.index, 0),
            max_iterations=way.max_iterations,
            problem=seen.problem,
        )

    def _result(self, decision: FinishNode) -> Json:
        """What the node gave: an answer, a signal, a run's output, nothing for a timer; else its own mapped input."""
        token = self._state.tokens[decision.token]
        match decision.work:
            case "task":
                return self._answer(token)
            case "timer":
                return None
            case None if token.id in self._brought:
                return self._brought[token.id]
            case None:
                return self._waited_for(token)

    def _waited_for(self, token: Token) -> Json:
        match token.phase:
            case WaitingForGate(answers=answers):
                values: list[Json] = [answer.value for answer in answers]
                return values[0] if self._gate(token.node).approvals == 1 else values
            case WaitingForSubworkflow(child=child):
                return self._child_gave(child)
            case _:
                return self._passed_through(token)

    def _gate(self, node: str) -> GateTarget:
        target = self._program.nodes[node].definition.target
        assert isinstance(target, GateTarget), "only a gate is answered"
        return target

    def _child_gave(self, child: RunId) -> Json:
        for message in self._entry.messages:
            if isinstance(message, ChildEnded) and message.child == child:
                return message.output if message.status == "completed" else {"error": caught_error(message)}
        return None

    def _answer(self, token: Token) -> Json:
        for message in self._entry.messages:
            if isinstance(message, TaskFinished) and (message.token, message.attempt) == (token.id, token.attempt):
                return None if isinstance(message.result, msgspec.UnsetType) else message.result
        return None

    def _passed_through(self, token: Token) -> Json:
        mapping = self._program.nodes[token.node].input_mapping
        if mapping is None:
            return self._state.input
        found = evaluate_mapping(mapping, scope_of(self._program, self._state, token))
        if isinstance(found, Failed):
            return None
        tree: JsonObject = {}
        for target, value in found[0].items():
            tree = written(tree, target.split("."), value)
        return tree


def _judged(
    tiers: tuple[tuple[CompiledTransition, ...], ...], loops: dict[int, int], names: JsonObject, first_match: bool
) -> dict[int, _Seen]:
    """Ask again what the journal did not keep. A condition that cannot be evaluated ends the run, and the looking."""
    choice = choose_transitions(tiers, loops, names, first_match)
    if not isinstance(choice, RunError):
        return {each.transition: _Seen(each.verdict, each.path) for each in choice.considered}
    for way in (way for tier in tiers for way in tier):
        held = None if way.condition is None else way.condition.holds(names)
        if isinstance(held, Failed):
            return {way.index: _Seen("error", problem=held.problem)}
    return {}


def _unseen(way: CompiledTransition, asked: set[int]) -> _Seen:
    return _Seen("tier_decided" if way.index in asked else "not_for_failures")


def _led_to(following: Sequence[Decision]) -> tuple[tuple[TokenId, ...], str | None]:
    """The tokens a routing made and the fan-in it led to: the decisions right behind it."""
    created: list[TokenId] = []
    parked_at = None
    for decision in following:
        match decision:
            case CreateToken():
                created.append(decision.token)
            case CreateTokens():
                created += [creation.token for creation in decision.tokens]
            case ParkToken():
                parked_at = decision.node
            case OpenGroup():
                pass
            case _:
                break
    return tuple(created), parked_at

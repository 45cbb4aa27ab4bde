"""Every routing of a run, found by folding its journal again: conditions are evaluated on the state before each one."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from jeton.actor.advance import LiveRun
from jeton.apply.draft import Draft
from jeton.apply.fold import fold
from jeton.engine.views.explain.views import ConsideredTransition, Routing, Verdict
from jeton.expression import Failed
from jeton.expression.mapping import evaluate_mapping
from jeton.model import decision as d
from jeton.model.definition.workflow import GateTarget, WaitTarget
from jeton.model.entry import Entry
from jeton.model.failure import RunError
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import ChildEnded, TaskFinished
from jeton.model.paths import written
from jeton.model.state.phase import WaitingForGate, WaitingForSignal, WaitingForSubworkflow
from jeton.model.state.run import Head, RunState, Token
from jeton.model.times import moment
from jeton.planning.program.workflow import CompiledTransition, Program
from jeton.planning.tokens.routing import choose_transitions
from jeton.planning.tokens.scope import scope_of
from jeton.planning.waits.child import caught_error
from jeton.planning.waits.signal import signal_result


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
        replay = _EntryReplay(program, run, entry)
        for at, decision in enumerate(entry.decisions):
            if isinstance(decision, d.RouteToken):
                wanted = token in (None, decision.token) and node in (None, decision.node)
                found = replay.routing(decision, at) if wanted else None
                if found is not None:
                    yield found
            replay.fold(decision)


class _Verdict(msgspec.Struct, frozen=True):
    """The verdict on one transition, with the path that was missing or the problem of its condition."""

    verdict: Verdict
    missing: str | None = None
    problem: str | None = None


class _EntryReplay:
    """One entry folded decision by decision, with the results and errors of its nodes so far."""

    def __init__(self, program: Program, run: LiveRun, entry: Entry) -> None:
        self._program = program
        self._state = run.state
        self._draft = Draft(run.state, run.timers)
        self._entry = entry
        self._results: dict[TokenId, Json] = {}
        self._received: dict[TokenId, Json] = {}  # from a signal, or from a gate that timed out
        self._errors: dict[TokenId, JsonObject] = {}

    def fold(self, decision: d.Decision) -> None:
        if isinstance(decision, d.FinishNode):
            self._results[decision.token] = self._result(decision)
        elif isinstance(decision, d.FailNode):
            self._errors[decision.token] = decision.error
        elif isinstance(decision, d.TakeSignal):
            value = self._state.signals[decision.name][decision.number].value
            wait = self._wait(self._state.tokens[decision.token].node)
            self._received[decision.token] = signal_result(wait, decision.name, value)
        elif isinstance(decision, d.TimeOutGate):
            self._received[decision.token] = self._gate(decision.node).on_timeout
        fold(self._draft, decision)

    def routing(self, decision: d.RouteToken, at: int) -> Routing | None:
        """How the token was routed; None if it was ended instead, without a result or an error of its node."""
        token = self._state.tokens[decision.token]
        error = self._errors.get(token.id)
        if error is None and token.id not in self._results:
            return None
        created, parked_at = _followed_by(self._entry.decisions[at + 1 :])
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

    def _considered(
        self, decision: d.RouteToken, token: Token, error: JsonObject | None
    ) -> tuple[ConsideredTransition, ...]:
        node = self._program.nodes[token.node]
        if error is None:
            names = scope_of(self._program, self._state, token, self._results[token.id])
        else:
            names = scope_of(self._program, self._state, token, error=error)
        tiers = node.tiers if error is None else node.handlers
        if decision.considered:
            seen = {each.transition: _Verdict(each.verdict, each.path) for each in decision.considered}
        else:  # the run failed here and recorded its error only, so evaluate the conditions again
            seen = _evaluated(tiers, token.loops, names, node.definition.fan_out == "first_match")
        matched = any(each.verdict == "matched" for each in seen.values())
        unasked: Verdict = "tier_decided" if matched else "not_reached"
        asked = {each.index for tier in tiers for each in tier}
        skipped = {index: _Verdict(unasked) for index in asked}
        return tuple(
            self._considered_transition(
                each, seen.get(each.index) or skipped.get(each.index) or _Verdict("not_for_failures"), token, names
            )
            for tier in node.tiers
            for each in tier
        )

    def _considered_transition(
        self, transition: CompiledTransition, seen: _Verdict, token: Token, names: JsonObject
    ) -> ConsideredTransition:
        values: dict[str, Json] = {}
        if transition.condition is not None and seen.verdict in ("matched", "false", "missing", "error"):
            values = transition.condition.values(names)
        return ConsideredTransition(
            transition=transition.index,
            to=transition.target,
            priority=self._program.workflow.transitions[transition.index].priority,
            condition=None if transition.condition is None else transition.source,
            verdict=seen.verdict,
            values=values,
            missing=seen.missing,
            iterations=None if transition.max_iterations is None else token.loops.get(transition.index, 0),
            max_iterations=transition.max_iterations,
            problem=seen.problem,
        )

    def _result(self, decision: d.FinishNode) -> Json:
        """The node's result: of its task, gate, signal or called run; null for a timer; else its mapped input."""
        token = self._state.tokens[decision.token]
        match decision.work:
            case "task":
                return self._task_result(token)
            case "timer":
                return None
            case None if token.id in self._received:
                return self._received[token.id]
            case None:
                return self._wait_result(token)

    def _wait_result(self, token: Token) -> Json:
        match token.phase:
            case WaitingForGate(answers=answers):
                values: list[Json] = [answer.value for answer in answers]
                return values[0] if self._gate(token.node).approvals == 1 else values
            case WaitingForSignal():  # it took none, so its time was over
                return self._wait(token.node).on_timeout
            case WaitingForSubworkflow(child=child):
                return self._child_result(child)
            case _:
                return self._mapped_input(token)

    def _gate(self, node: str) -> GateTarget:
        target = self._program.nodes[node].definition.target
        assert isinstance(target, GateTarget), "only gates have answers"
        return target

    def _wait(self, node: str) -> WaitTarget:
        target = self._program.nodes[node].definition.target
        assert isinstance(target, WaitTarget), "only waits take signals"
        return target

    def _child_result(self, child: RunId) -> Json:
        for message in self._entry.messages:
            if isinstance(message, ChildEnded) and message.child == child:
                return message.output if message.status == "completed" else {"error": caught_error(message)}
        return None

    def _task_result(self, token: Token) -> Json:
        for message in self._entry.messages:
            if isinstance(message, TaskFinished) and (message.token, message.attempt) == (token.id, token.attempt):
                return None if isinstance(message.result, msgspec.UnsetType) else message.result
        return None

    def _mapped_input(self, token: Token) -> Json:
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


def _evaluated(
    tiers: tuple[tuple[CompiledTransition, ...], ...], loops: dict[int, int], names: JsonObject, first_match: bool
) -> dict[int, _Verdict]:
    """Evaluate conditions that the journal has no verdicts of, up to the one that failed the run."""
    found: dict[int, _Verdict] = {}
    for tier in tiers:
        for transition in tier:
            choice = choose_transitions(((transition,),), loops, names, first_match)
            if isinstance(choice, RunError):
                held = None if transition.condition is None else transition.condition.holds(names)
                problem = held.problem if isinstance(held, Failed) else choice.message
                return {**found, transition.index: _Verdict("error", problem=problem)}
            (seen,) = choice.considered
            taken = first_match and any(each.verdict == "matched" for each in found.values())
            found[transition.index] = _Verdict("not_first") if taken else _Verdict(seen.verdict, seen.path)
        if any(each.verdict == "matched" for each in found.values()):
            break
    return found


def _followed_by(following: Sequence[d.Decision]) -> tuple[tuple[TokenId, ...], str | None]:
    """The tokens that a routing created and the fan-in it led to, from the decisions that follow it."""
    created: list[TokenId] = []
    parked_at = None
    for decision in following:
        match decision:
            case d.CreateToken():
                created.append(decision.token)
            case d.CreateTokens():
                created += [creation.token for creation in decision.tokens]
            case d.ParkToken():
                parked_at = decision.node
            case d.OpenGroup():
                pass
            case _:
                break
    return tuple(created), parked_at

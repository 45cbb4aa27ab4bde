"""Fold a journal once more, and look at the state just before each routing: that is what its conditions read."""

from collections.abc import Iterable, Iterator, Sequence

from jeton.actor.run_actor import LiveRun
from jeton.apply.draft import Draft
from jeton.apply.fold_run import fold
from jeton.engine.explain.views import Considering, Routing, Verdict
from jeton.engine.times import moment
from jeton.expression import Failed
from jeton.model.decision import (
    Considered,
    CreateToken,
    CreateTokens,
    Decision,
    FailNode,
    FinishNode,
    OpenGroup,
    ParkToken,
    RouteToken,
)
from jeton.model.entry import Entry
from jeton.model.failure import RunError
from jeton.model.ids import TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import TaskFinished
from jeton.model.paths import written
from jeton.model.run import Head, RunState, Token
from jeton.planning.program import Place, Program, Way
from jeton.planning.routing import choose
from jeton.planning.scope import mapped, scope_of


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


class _Walk:
    """One entry: what each of its nodes came to, and the state as it changes under its decisions."""

    def __init__(self, program: Program, run: LiveRun, entry: Entry) -> None:
        self._program = program
        self._state = run.state
        self._draft = Draft(run.state, run.timers)
        self._entry = entry
        self._results: dict[TokenId, Json] = {}
        self._errors: dict[TokenId, JsonObject] = {}

    def fold(self, decision: Decision) -> None:
        match decision:
            case FinishNode():
                self._results[decision.token] = self._result(decision)
            case FailNode():
                self._errors[decision.token] = decision.error
            case _:
                pass
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
            considered=self._considered(token, error, decision.considered),
            created=created,
            parked_at=parked_at,
            ends=decision.ends,
        )

    def _considered(
        self, token: Token, error: JsonObject | None, recorded: tuple[Considered, ...]
    ) -> tuple[Considering, ...]:
        place = self._program.places[token.node]
        if error is None:
            names = scope_of(self._program, self._state, token, self._results[token.id])
        else:
            names = scope_of(self._program, self._state, token, error=error)
        tiers = place.tiers if error is None else place.handlers
        if not recorded:  # a run that failed here kept its error instead; the same question has the same answer
            choice = choose(tiers, token.loops, names, place.node.fan_out == "first_match")
            recorded = _up_to_failure(tiers, names) if isinstance(choice, RunError) else choice.considered
        verdicts = {seen.transition: seen for seen in recorded}
        ways = [way for tier in place.tiers for way in tier]
        return tuple(self._considering(way, verdicts.get(way.index), place, token, names) for way in ways)

    def _considering(
        self, way: Way, seen: Considered | None, place: Place, token: Token, names: JsonObject
    ) -> Considering:
        handled = [other.index for tier in place.handlers for other in tier]
        verdict: Verdict
        if seen is not None:
            verdict = seen.verdict
        elif token.id in self._errors and way.index not in handled:
            verdict = "not_for_failures"
        else:
            verdict = "tier_decided"
        problem = None
        if verdict == "false" and way.condition is not None:
            held = way.condition.holds(names)
            if isinstance(held, Failed):
                verdict, problem = "error", held.problem
        evaluated = way.condition is not None and verdict in ("matched", "false", "missing", "error")
        return Considering(
            transition=way.index,
            to=way.target,
            priority=self._program.workflow.transitions[way.index].priority,
            condition=None if way.condition is None else way.source,
            verdict=verdict,
            values=way.condition.values(names) if evaluated and way.condition is not None else {},
            missing=None if seen is None else seen.path,
            iterations=None if way.max_iterations is None else token.loops.get(way.index, 0),
            max_iterations=way.max_iterations,
            problem=problem,
        )

    def _result(self, decision: FinishNode) -> Json:
        """What the node gave: the worker's answer, nothing for a timer, the mapped input where there is no target."""
        token = self._state.tokens[decision.token]
        match decision.work:
            case "task":
                return next(
                    (_answer(m) for m in self._entry.messages if _answers(m, token)),
                    None,
                )
            case "timer":
                return None
            case None:
                return self._passed_through(token)

    def _passed_through(self, token: Token) -> Json:
        mapping = self._program.places[token.node].input_mapping
        if mapping is None:
            return self._state.input
        found = mapped(mapping, scope_of(self._program, self._state, token))
        if isinstance(found, Failed):
            return None
        tree: JsonObject = {}
        for target, value in found[0].items():
            tree = written(tree, target.split("."), value)
        return tree


def _answers(message: object, token: Token) -> bool:
    return isinstance(message, TaskFinished) and message.token == token.id and message.attempt == token.attempt


def _answer(message: object) -> Json:
    return message.result if isinstance(message, TaskFinished) and not _is_unset(message) else None


def _is_unset(message: TaskFinished) -> bool:
    from msgspec import UNSET

    return message.result is UNSET


def _up_to_failure(tiers: tuple[tuple[Way, ...], ...], names: JsonObject) -> tuple[Considered, ...]:
    """A condition that could not be evaluated ends the run, and the looking."""
    found: list[Considered] = []
    for way in (way for tier in tiers for way in tier):
        held = True if way.condition is None else way.condition.holds(names)
        found.append(Considered(way.index, "matched" if held is True else "false"))
        if isinstance(held, Failed):
            break
    return tuple(found)


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

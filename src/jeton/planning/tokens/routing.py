"""Routing: the transitions that a token follows, and the tokens, groups and arrivals that result."""

import msgspec

from jeton.expression import Expression, Failed, Missing
from jeton.expression.counts import NotACount, count_of
from jeton.expression.mapping import evaluate_copied
from jeton.model.codes import FailureType
from jeton.model.decision import Considered, CreateToken, Decision, OpenGroup, ParkToken, RouteToken
from jeton.model.failure import RunError
from jeton.model.ids import GroupId, SlotId, TokenId, branch_path
from jeton.model.json import Json, JsonObject, kind_of
from jeton.model.state.run import RunState, Segment, Token, TokenEnd
from jeton.planning.program.workflow import CompiledNode, CompiledTransition, Program, RoutingChoice


class BadFanOut(msgspec.Struct, frozen=True):
    """A fan-out that cannot be made: it fails the node."""

    type: FailureType
    message: str


def choose_transitions(
    tiers: tuple[tuple[CompiledTransition, ...], ...], loops: dict[int, int], names: JsonObject, first_match: bool
) -> RoutingChoice | RunError:
    """The matches of the first tier that has any."""
    considered: list[Considered] = []
    for tier in tiers:
        matches: list[CompiledTransition] = []
        for transition in tier:
            if first_match and matches:
                considered.append(Considered(transition.index, "not_first"))
                continue
            verdict = _verdict(transition, loops, names)
            if isinstance(verdict, RunError):
                return verdict
            considered.append(verdict)
            if verdict.verdict == "matched":
                matches.append(transition)
        if matches:
            return RoutingChoice(tuple(matches), tuple(considered))
    return RoutingChoice((), tuple(considered))


def _verdict(transition: CompiledTransition, loops: dict[int, int], names: JsonObject) -> Considered | RunError:
    if transition.max_iterations is not None and loops.get(transition.index, 0) >= transition.max_iterations:
        return Considered(transition.index, "loop_limit_reached")  # its condition is not evaluated
    if transition.condition is None:
        return Considered(transition.index, "matched")
    held = transition.condition.holds(names)
    if isinstance(held, Missing):
        return Considered(transition.index, "missing", held.path)
    if isinstance(held, Failed):
        message = (
            f"the condition {transition.source!r} of the transition to '{transition.target}' failed: {held.problem}"
        )
        return RunError("expression_error", message, details={"position": held.position, "values": held.values})
    return Considered(transition.index, "matched" if held else "false")


def no_match_error(
    program: Program, node: CompiledNode, token: Token, choice: RoutingChoice, names: JsonObject
) -> RunError:
    """The error for a node without a matching transition: each rejected condition with its reason."""
    rejected: list[str] = []
    for seen in choice.considered:
        transition = program.transitions[seen.transition]
        reason = {"false": "is false", "missing": f"has nothing at {seen.path}"}.get(
            seen.verdict, "has no iteration left"
        )
        read = transition.condition.values(names) if transition.condition is not None else {}
        rejected.append(
            f"to '{transition.target}': {transition.source} {reason}" + (f" with {_shown(read)}" if read else "")
        )
    message = f"node '{node.name}' finished and no transition matches: " + "; ".join(rejected)
    return RunError("no_matching_transition", message, node.name, token.id)


def _shown(read: dict[str, Json]) -> str:
    return ", ".join(f"{path} = {msgspec.json.encode(value).decode()}" for path, value in read.items())


def follow(
    program: Program,
    state: RunState,
    token: Token,
    choice: RoutingChoice,
    names: JsonObject,
    ends: TokenEnd = "completed",
    error: JsonObject | None = None,
) -> list[Decision] | BadFanOut | RunError:
    """Follow all matches: move on, arrive at a fan-in, or fan out."""
    if len(choice.matches) == 1 and not choice.matches[0].makes_slots:
        return move(state, token, choice, ends, error)
    return _fan_out(program, state, token, choice, names, ends, error)


def move(
    state: RunState, token: Token, choice: RoutingChoice, ends: TokenEnd = "completed", error: JsonObject | None = None
) -> list[Decision]:
    """Follow the only match: to its target, or to the fan-in before it."""
    (transition,) = choice.matches
    group = joined_group(state, token.slot, transition)
    if group is not None:
        # the token itself waits; an arrival creates none
        return [
            RouteToken(token.id, token.node, None, choice.considered),
            ParkToken(token.id, group, transition.target, transition.index),
        ]
    created = CreateToken(
        TokenId(state.head.next_token),
        transition.target,
        token.path,
        token.id,
        token.slot,
        loops_after(token.loops, transition),
        error,
    )
    return [RouteToken(token.id, token.node, ends, choice.considered), created]


def loops_after(loops: dict[int, int], transition: CompiledTransition) -> dict[int, int]:
    """The loop counts after following a transition."""
    return (
        loops if transition.max_iterations is None else {**loops, transition.index: loops.get(transition.index, 0) + 1}
    )


def joined_group(state: RunState, slot: SlotId | None, transition: CompiledTransition) -> GroupId | None:
    """The group whose fan-in the transition leads to: the named one, or the innermost. None: there is none to join."""
    if transition.synchronization is None:
        return None
    wanted = transition.synchronization.sibling_group
    while slot is not None:
        group = state.groups[slot[0]]
        if wanted is None or group.name == wanted:
            return group.id
        slot = group.outer
    return None


def _fan_out(
    program: Program,
    state: RunState,
    token: Token,
    choice: RoutingChoice,
    names: JsonObject,
    ends: TokenEnd,
    error: JsonObject | None,
) -> list[Decision] | BadFanOut | RunError:
    segments: dict[str, list[Segment]] = {}
    slots_of: dict[int, tuple[str, Segment]] = {}
    for transition in choice.matches:
        if _stays_in_place(transition, choice.matches):
            continue
        extent = _extent(transition, names)
        if isinstance(extent, BadFanOut):
            return extent
        count, items = extent
        parallel = _parallel(transition, names)
        if isinstance(parallel, NotACount):
            return BadFanOut(parallel.type, parallel.message)
        name = transition.group or token.node
        first = sum(s.count for s in segments.get(name, ()))
        segment = Segment(transition.index, first, count, items, parallel)
        segments.setdefault(name, []).append(segment)
        slots_of[transition.index] = (name, segment)
    ids = {name: GroupId(state.head.next_group + i) for i, name in enumerate(segments)}
    decisions: list[Decision] = [RouteToken(token.id, token.node, ends, choice.considered)]
    for name, found in segments.items():
        total = sum(s.count for s in found)
        decisions.append(
            OpenGroup(
                ids[name], name, token.node, token.id, token.path, total, tuple(found), token.slot, token.loops, error
            )
        )
    creations = Creations(state, token.id, token.node, token.loops, error)
    for transition in choice.matches:
        if transition.index not in slots_of:
            creations.add(transition, token.path, token.slot, joined_group(state, token.slot, transition))
            continue
        name, segment = slots_of[transition.index]
        joined = joined_from_new(state, token.slot, transition, name, ids[name])
        for index in range(segment.first, segment.first + _at_once(segment)):
            creations.add(transition, branch_path(token.path, transition.target, index), (ids[name], index), joined)
    alive = state.head.busy + state.head.parked - 1 + len(creations.decisions)  # the token that fans out ends with it
    if alive > program.workflow.limits.max_tokens:
        return too_many_tokens(program, token.node)
    return [*decisions, *creations.decisions, *creations.arrivals]


def _parallel(transition: CompiledTransition, names: JsonObject) -> int | NotACount | None:
    """How many slots of a transition may be under way at once."""
    limit = transition.max_parallel
    return count_of("max_parallel", limit, names) if isinstance(limit, Expression) else limit


def too_many_tokens(program: Program, node: str) -> RunError:
    limit = program.workflow.limits.max_tokens
    return RunError("limit_exceeded", f"max_tokens: more than {limit} tokens would be alive at once, at '{node}'", node)


def _stays_in_place(transition: CompiledTransition, matches: tuple[CompiledTransition, ...]) -> bool:
    """Whether a match creates no slot: it is plain, and all other matches are in named groups."""
    return not transition.makes_slots and not any(w is not transition and w.group is None for w in matches)


def _at_once(segment: Segment) -> int:
    return segment.count if segment.max_parallel is None else min(segment.count, segment.max_parallel)


def joined_from_new(
    state: RunState, outer: SlotId | None, transition: CompiledTransition, name: str, group: GroupId
) -> GroupId | None:
    """As `joined_group`, for a token whose innermost group is about to be opened."""
    if transition.synchronization is None:
        return None
    if transition.synchronization.sibling_group in (None, name):
        return group
    return joined_group(state, outer, transition)


class Creations:
    """The tokens of one fan-out, numbered in order. Those that arrive at once are parked after all are created."""

    def __init__(self, state: RunState, origin: TokenId, node: str, loops: dict[int, int], error: JsonObject | None):
        self._next = state.head.next_token
        self._origin, self._node, self._loops, self._error = origin, node, loops, error
        self.decisions: list[Decision] = []
        self.arrivals: list[Decision] = []

    def add(self, transition: CompiledTransition, path: str, slot: SlotId | None, joined: GroupId | None) -> None:
        token = TokenId(self._next)
        self._next += 1
        # a token that goes straight to a fan-in stays at the node that fanned out
        node = transition.target if joined is None else self._node
        loops = loops_after(self._loops, transition)
        self.decisions.append(CreateToken(token, node, path, self._origin, slot, loops, self._error))
        if joined is not None:
            self.arrivals.append(ParkToken(token, joined, transition.target, transition.index))


def _extent(transition: CompiledTransition, names: JsonObject) -> tuple[int, list[Json] | None] | BadFanOut:
    """The number of slots that a transition creates, and their items."""
    if transition.collection is not None:
        found = evaluate_copied(transition.collection, names)
        if isinstance(found, Failed):
            return BadFanOut("expression_error", f"foreach over {transition.collection.source!r}: {found.problem}")
        if not isinstance(found, list):
            kind = f"nothing is at {found.path}" if isinstance(found, Missing) else f"it is {kind_of(found)}"
            return BadFanOut(
                "not_a_list", f"foreach needs a list, and {transition.collection.source!r} gives none: {kind}"
            )
        return len(found), found
    if transition.spawn_count is not None:
        count = transition.spawn_count.evaluate(names)
        if isinstance(count, Failed):
            return BadFanOut("expression_error", f"spawn_count {transition.spawn_count.source!r}: {count.problem}")
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            return BadFanOut(
                "not_a_count", f"spawn_count {transition.spawn_count.source!r} must give a whole number, 0 or more"
            )
        return count, None
    return 1, None

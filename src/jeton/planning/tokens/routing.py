"""Which transitions a finished token follows, and the tokens, groups and arrivals that come of it."""

import msgspec

from jeton.expression import Failed, Missing
from jeton.model.decision import Considered, CreateToken, Decision, OpenGroup, ParkToken, RouteToken
from jeton.model.failure import RunError
from jeton.model.ids import GroupId, SlotId, TokenId, branch_path
from jeton.model.json import Json, JsonObject, kind_of
from jeton.model.state.run import RunState, Segment, Token, TokenEnd
from jeton.planning.program.workflow import Choice, Place, Program, Way
from jeton.planning.tokens.scope import evaluated


class BadFanOut(msgspec.Struct, frozen=True):
    """A fan-out that cannot be made: it fails the node."""

    type: str
    message: str


def choose(
    tiers: tuple[tuple[Way, ...], ...], loops: dict[int, int], names: JsonObject, first_match: bool
) -> Choice | RunError:
    """The first tier with any match wins, and all matches in it are followed."""
    considered: list[Considered] = []
    for tier in tiers:
        matches: list[Way] = []
        for way in tier:
            if first_match and matches:
                considered.append(Considered(way.index, "not_first"))
                continue
            verdict = _verdict(way, loops, names)
            if isinstance(verdict, RunError):
                return verdict
            considered.append(verdict)
            if verdict.verdict == "matched":
                matches.append(way)
        if matches:
            return Choice(tuple(matches), tuple(considered))
    return Choice((), tuple(considered))


def _verdict(way: Way, loops: dict[int, int], names: JsonObject) -> Considered | RunError:
    if way.max_iterations is not None and loops.get(way.index, 0) >= way.max_iterations:
        return Considered(way.index, "loop_limit_reached")  # its condition is not even evaluated
    if way.condition is None:
        return Considered(way.index, "matched")
    held = way.condition.holds(names)
    if isinstance(held, Missing):
        return Considered(way.index, "missing", held.path)
    if isinstance(held, Failed):
        message = f"the condition {way.source!r} of the transition to '{way.target}' failed: {held.problem}"
        return RunError("expression_error", message, details={"position": held.position, "values": held.values})
    return Considered(way.index, "matched" if held else "false")


def no_match(program: Program, place: Place, token: Token, choice: Choice, names: JsonObject) -> RunError:
    """The error that names the node, the token and each rejected condition with its reason."""
    rejected: list[str] = []
    for seen in choice.considered:
        way = program.ways[seen.transition]
        reason = {"false": "is false", "missing": f"has nothing at {seen.path}"}.get(
            seen.verdict, "has no iteration left"
        )
        read = way.condition.values(names) if way.condition is not None else {}
        rejected.append(f"to '{way.target}': {way.source} {reason}" + (f" with {_shown(read)}" if read else ""))
    message = f"node '{place.name}' finished and no transition matches: " + "; ".join(rejected)
    return RunError("no_matching_transition", message, place.name, token.id)


def _shown(read: dict[str, Json]) -> str:
    return ", ".join(f"{path} = {msgspec.json.encode(value).decode()}" for path, value in read.items())


def follow(
    program: Program,
    state: RunState,
    token: Token,
    choice: Choice,
    names: JsonObject,
    ends: TokenEnd = "completed",
    error: JsonObject | None = None,
) -> list[Decision] | BadFanOut | RunError:
    """Follow all matches: a plain move, an arrival at a fan-in, or a fan-out."""
    if len(choice.matches) == 1 and not choice.matches[0].makes_slots:
        return move(state, token, choice, ends, error)
    return _fan_out(program, state, token, choice, names, ends, error)


def move(
    state: RunState, token: Token, choice: Choice, ends: TokenEnd = "completed", error: JsonObject | None = None
) -> list[Decision]:
    """Follow the one match: on to its target, or to the fan-in before it."""
    (way,) = choice.matches
    group = joined_group(state, token.slot, way)
    if group is not None:
        # the token that finished its node waits itself: an arrival makes no token of its own
        return [
            RouteToken(token.id, token.node, None, choice.considered),
            ParkToken(token.id, group, way.target, way.index),
        ]
    created = CreateToken(
        TokenId(state.head.next_token),
        way.target,
        token.path,
        token.id,
        token.slot,
        loops_after(token.loops, way),
        error,
    )
    return [RouteToken(token.id, token.node, ends, choice.considered), created]


def loops_after(loops: dict[int, int], way: Way) -> dict[int, int]:
    """How often the lineage has followed each bounded transition, this one included."""
    return loops if way.max_iterations is None else {**loops, way.index: loops.get(way.index, 0) + 1}


def joined_group(state: RunState, slot: SlotId | None, way: Way) -> GroupId | None:
    """The group instance whose fan-in the transition leads to: the named one, or the innermost; None passes through."""
    if way.synchronization is None:
        return None
    wanted = way.synchronization.sibling_group
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
    choice: Choice,
    names: JsonObject,
    ends: TokenEnd,
    error: JsonObject | None,
) -> list[Decision] | BadFanOut | RunError:
    segments: dict[str, list[Segment]] = {}
    slots_of: dict[int, tuple[str, Segment]] = {}
    for way in choice.matches:
        if _stays_in_place(way, choice.matches):
            continue
        extent = _extent(way, names)
        if isinstance(extent, BadFanOut):
            return extent
        count, items = extent
        name = way.group or token.node
        first = sum(s.count for s in segments.get(name, ()))
        segment = Segment(way.index, first, count, items, way.max_parallel)
        segments.setdefault(name, []).append(segment)
        slots_of[way.index] = (name, segment)
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
    for way in choice.matches:
        if way.index not in slots_of:
            creations.add(way, token.path, token.slot, joined_group(state, token.slot, way))
            continue
        name, segment = slots_of[way.index]
        joined = joined_from_new(state, token.slot, way, name, ids[name])
        for index in range(segment.first, segment.first + _at_once(segment)):
            creations.add(way, branch_path(token.path, way.target, index), (ids[name], index), joined)
    alive = state.head.busy + state.head.parked - 1 + len(creations.decisions)  # the token that fans out ends with it
    if alive > program.workflow.limits.max_tokens:
        return too_many_tokens(program, token.node)
    return [*decisions, *creations.decisions, *creations.arrivals]


def too_many_tokens(program: Program, node: str) -> RunError:
    limit = program.workflow.limits.max_tokens
    return RunError("limit_exceeded", f"max_tokens: more than {limit} tokens would be alive at once, at '{node}'", node)


def _stays_in_place(way: Way, matches: tuple[Way, ...]) -> bool:
    """One plain match beside named groups only makes no slot; with any unnamed rival it shares that one's group."""
    return not way.makes_slots and not any(w is not way and w.group is None for w in matches)


def _at_once(segment: Segment) -> int:
    return segment.count if segment.max_parallel is None else min(segment.count, segment.max_parallel)


def joined_from_new(state: RunState, outer: SlotId | None, way: Way, name: str, group: GroupId) -> GroupId | None:
    """As `joined_group`, for a token whose innermost group is about to be made."""
    if way.synchronization is None:
        return None
    if way.synchronization.sibling_group in (None, name):
        return group
    return joined_group(state, outer, way)


class Creations:
    """Tokens of one fan-out, numbered as they come; those that arrive at once are parked after all are made."""

    def __init__(self, state: RunState, origin: TokenId, node: str, loops: dict[int, int], error: JsonObject | None):
        self._next = state.head.next_token
        self._origin, self._node, self._loops, self._error = origin, node, loops, error
        self.decisions: list[Decision] = []
        self.arrivals: list[Decision] = []

    def add(self, way: Way, path: str, slot: SlotId | None, joined: GroupId | None) -> None:
        token = TokenId(self._next)
        self._next += 1
        # one that goes straight to a fan-in never stands at its target: that is for the continuation
        node = way.target if joined is None else self._node
        loops = loops_after(self._loops, way)
        self.decisions.append(CreateToken(token, node, path, self._origin, slot, loops, self._error))
        if joined is not None:
            self.arrivals.append(ParkToken(token, joined, way.target, way.index))


def _extent(way: Way, names: JsonObject) -> tuple[int, list[Json] | None] | BadFanOut:
    """How many slots a transition makes, and the items they stand for."""
    if way.collection is not None:
        found = evaluated(way.collection, names)
        if isinstance(found, Failed):
            return BadFanOut("expression_error", f"foreach over {way.collection.source!r}: {found.problem}")
        if not isinstance(found, list):
            kind = f"nothing is at {found.path}" if isinstance(found, Missing) else f"it is {kind_of(found)}"
            return BadFanOut("not_a_list", f"foreach needs a list, and {way.collection.source!r} gives none: {kind}")
        return len(found), found
    if way.spawn_count is not None:
        count = way.spawn_count.evaluate(names)
        if isinstance(count, Failed):
            return BadFanOut("expression_error", f"spawn_count {way.spawn_count.source!r}: {count.problem}")
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            return BadFanOut(
                "not_a_count", f"spawn_count {way.spawn_count.source!r} must give a whole number, 0 or more"
            )
        return count, None
    return 1, None

"""The records of the oracle: tokens, slots, groups, fan-ins and the run that holds them, with no rule in them.

Nothing here is counted or cached. Whoever wants to know something scans the run, so that a wrong answer can only come
from a wrongly read sentence of docs/semantics, never from a counter that was not kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeGuard

Object = dict[str, Any]
Evaluate = Callable[[Any, Object], Any]

# token-graphs.md#run-status: `completed | failed | timed_out | cancelled` are where a token ends.
ENDED = ("completed", "failed", "timed_out", "cancelled")


def is_object(value: Any) -> TypeGuard[Object]:
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


class MissingKey(Exception):
    """An expression read a key that is not there: a condition is then false, a mapping null."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class ExpressionFault(Exception):
    """An expression could not be evaluated for any other reason than a missing key."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NodeFailed(Exception):
    """The node of the token at work fails; failure routing decides what becomes of it."""

    def __init__(self, type_: str, message: str) -> None:
        super().__init__(message)
        self.failure: Object = {"step": None, "type": type_, "message": message}


class RunFailed(Exception):
    """The run fails at once, whatever the token at work is in."""

    def __init__(self, error: Object) -> None:
        super().__init__(error["message"])
        self.error = error


@dataclass(frozen=True)
class Call:
    """A task call that was dispatched and waits for its answer."""

    key: int
    node: str
    path: str
    attempt: int
    input: Any


@dataclass(eq=False)
class Token:
    id: int
    node: str
    path: str
    parent: int | None
    slot: Slot | None
    loops: dict[int, int]  # how often this lineage followed each transition, by the transition's place
    last_error: Object | None
    status: str = "pending"
    attempt: int = 1
    input: Any = None
    call: Call | None = None
    due: int | None = None
    timer: int = 0  # when its timer was made, among all timers
    allowed_ms: int = 0  # how long its attempt may take
    since: int = 0  # when its attempt was handed out, or begun
    begun: bool = False  # whether a worker said that it began
    deliveries: int = 1
    fan_in: FanIn | None = None  # where it waits for its siblings

    @property
    def ended(self) -> bool:
        return self.status in ENDED


@dataclass(eq=False)
class Slot:
    """One branch. `state`: unstarted and live ones may still arrive; all the other words are final or nearly so.

    unstarted → live → arrived → joined, or → lost | cancelled | timed_out | abandoned."""

    group: Group
    index: int
    item: Any
    item_var: str | None
    transition: int
    output: Object = field(default_factory=Object)
    state: str = "unstarted"
    arrived_at: FanIn | None = None


@dataclass(eq=False)
class Group:
    """A sibling group instance. token-graphs.md#fan-out: run + group name + the token that fanned out."""

    id: int
    name: str
    fan_out: Token
    slots: list[Slot] = field(default_factory=lambda: list[Slot]())
    fan_ins: list[FanIn] = field(default_factory=lambda: list[FanIn]())
    bounds: dict[int, int | None] = field(default_factory=dict[int, "int | None"])  # by transition: at once

    @property
    def outer(self) -> Slot | None:
        return self.fan_out.slot


@dataclass(eq=False)
class FanIn:
    """token-graphs.md#fan-in: identified by group instance + target node."""

    group: Group
    target: str
    sync: Sync
    closed: str | None = None  # opened | failed
    needed: int | None = None  # the quorum, once it is known
    fault: tuple[str, str] | None = None  # why a number of it is none
    first_arrival: int | None = None  # among all timers, so that fan-ins have an order too
    due: int | None = None


@dataclass(frozen=True)
class Sync:
    """A `synchronization`, with its defaults filled in."""

    strategy: str
    needed: int | str
    group: str | None
    merge: Object | None
    timeout_ms: int | str | None
    on_timeout: str
    on_early_complete: str
    on_branch_failure: str


@dataclass(eq=False)
class Run:
    workflow: Object
    tasks: Object
    evaluate: Evaluate
    now: int = 0
    status: str = "submitted"
    input: Object = field(default_factory=Object)
    facts: Object = field(default_factory=Object)  # expressions.md#run: what expressions read as `run`
    state: Object = field(default_factory=Object)
    out: Object = field(default_factory=Object)
    output: Object | None = None
    error: Object | None = None
    due: int | None = None
    tokens: list[Token] = field(default_factory=list[Token])
    groups: list[Group] = field(default_factory=list[Group])
    begun: list[str] = field(default_factory=list[str])  # the node of every node execution
    keys: int = 0
    timers: int = 0

    def next_key(self) -> int:
        self.keys += 1
        return self.keys

    def next_timer(self) -> int:
        self.timers += 1
        return self.timers


def chain(slot: Slot | None) -> list[Slot]:
    """The slot and all slots around it, innermost first. token-graphs.md#branches: slots nest."""
    found: list[Slot] = []
    while slot is not None:
        found.append(slot)
        slot = slot.group.outer
    return found


def tokens_inside(run: Run, slot: Slot) -> Iterator[Token]:
    """Tokens in the slot, or in slots inside it."""
    return (token for token in run.tokens if slot in chain(token.slot))


def slots_inside(run: Run, slot: Slot) -> Iterator[Slot]:
    """Slots at any depth inside this one, without itself."""
    return (inner for group in run.groups for inner in group.slots if slot in chain(inner)[1:])


def abandoned(slot: Slot | None) -> bool:
    return any(around.state == "abandoned" for around in chain(slot))


def make_token(
    run: Run,
    *,
    node: str,
    path: str,
    parent: Token | None,
    slot: Slot | None,
    loops: dict[int, int],
    last_error: Object | None,
) -> Token:
    token = Token(
        id=len(run.tokens),
        node=node,
        path=path,
        parent=None if parent is None else parent.id,
        slot=slot,
        loops=dict(loops),
        last_error=last_error,
    )
    run.tokens.append(token)
    # token-graphs.md#limits: tokens alive at once … past one the run fails, naming it.
    limit = run.workflow.get("limits", {}).get("max_tokens", 200_000)
    if len([one for one in run.tokens if not one.ended]) > limit:
        raise RunFailed(limit_error("max_tokens", limit, node))
    return token


def limit_error(name: str, limit: int, node: str) -> Object:
    return {"type": "limit_exceeded", "message": f"{name} is {limit}", "limit": name, "node": node}

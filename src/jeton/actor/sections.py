"""A run as named sections, and back. A commit stores the sections that it touched; loading a run reads all of them."""

from collections.abc import Mapping
from typing import Any

import msgspec

from jeton.actor.advance import LiveRun
from jeton.apply.draft import TOKENS_PER_SECTION, Touched, TouchedRest
from jeton.model.failure import BrokenInvariant
from jeton.model.ids import GroupId, RunId, SlotId, TokenId
from jeton.model.json import Json
from jeton.model.state.flow_run import FlowState, NodeFacts
from jeton.model.state.phase import WaitingForSignal
from jeton.model.state.run import (
    SLOTS_PER_STRETCH,
    Arrived,
    EarlyAnswer,
    Group,
    Head,
    Progress,
    RunState,
    Signal,
    Slot,
    Token,
)
from jeton.model.state.talk import CallResult, Given, Move, TalkHead, TalkState, Turn

Sections = dict[str, bytes | None]
"""By name; None: the section was removed."""


_encode = msgspec.json.Encoder().encode
_json = msgspec.json.Decoder()
_head = msgspec.json.Decoder(Head)
_tokens = msgspec.json.Decoder(list[Token])
_group = msgspec.json.Decoder(Group)
_progress = msgspec.json.Decoder(Progress)
_slots = msgspec.json.Decoder(dict[int, Slot])
_arrived = msgspec.json.Decoder(Arrived)
_facts = msgspec.json.Decoder(NodeFacts)
_overrides = msgspec.json.Decoder(dict[str, dict[str, Any]])
_signal = msgspec.json.Decoder(Signal)
_early = msgspec.json.Decoder(EarlyAnswer)
_talk_head = msgspec.json.Decoder(TalkHead)
_turn = msgspec.json.Decoder(Turn)
_given = msgspec.json.Decoder(Given)
_move = msgspec.json.Decoder(Move)
_result = msgspec.json.Decoder(CallResult)
_keys = msgspec.json.Decoder(str)


def encode_sections(state: RunState, touched: Touched) -> Sections:
    """The sections that a commit stores: the head, and every section that was touched. Sorted by name."""
    sections: Sections = {"head": _encode(state.head)}
    if touched.input:
        sections["input"] = _encode(state.input)
    for key in touched.output:
        sections[f"output/{key}"] = _encode(state.output[key]) if key in state.output else None
    if touched.overrides:
        sections["overrides"] = _encode(state.flow.overrides)
    for key in touched.state:
        sections[f"state/{key}"] = _encode(state.state[key]) if key in state.state else None
    for chunk in touched.tokens:
        sections[f"tokens/{chunk}"] = _token_chunk(state, chunk)
    if touched.more:
        _encode_rest(state, touched.rest, sections)
    elif sorted(sections) == [*sections]:
        return sections  # as most often
    return dict(sorted(sections.items()))  # the order of sets differs between processes


def _encode_rest(state: RunState, touched: TouchedRest, sections: Sections) -> None:
    for group in touched.groups:
        found = state.groups.get(group)
        sections[f"group/{group}"] = None if found is None else _encode(found)
    for group in touched.progress:
        progress = state.progress.get(group)
        sections[f"progress/{group}"] = None if progress is None else _encode(progress)
    for group, chunk in touched.slots:
        sections[f"slots/{group}/{chunk}"] = _slot_chunk(state, group, chunk)
    for group, node, stretch in touched.arrived:
        arrived = state.arrived.get((group, node, stretch))
        sections[f"arrived/{group}/{stretch}/{node}"] = None if arrived is None else _encode(arrived)
    for node in touched.nodes:
        sections[f"node/{node}"] = _node(state.flow, node)
    for name, number in touched.signals:
        signal = state.signals.get(name, {}).get(number)
        sections[f"signal/{number}/{name}"] = None if signal is None else _encode(signal)
    for key in touched.heard:
        sections[f"heard/{key}"] = _encode(state.heard[key]) if key in state.heard else None
    for number in touched.early:
        early = state.early.get(number)
        sections[f"early/{number}"] = None if early is None else _encode(early)
    for row in touched.talk:
        found_row = state.talk.row(row)
        sections["/".join(map(str, row))] = None if found_row is None else _encode(found_row)
    for run in touched.lent:
        sections[f"lent/{run}"] = _encode(state.lent[run]) if run in state.lent else None


def _token_chunk(state: RunState, chunk: int) -> bytes | None:
    first = chunk * TOKENS_PER_SECTION
    if len(state.tokens) == 1:  # the usual run
        (token,) = state.tokens.values()
        return _encode((token,)) if token.id // TOKENS_PER_SECTION == chunk else None
    if len(state.tokens) <= TOKENS_PER_SECTION:  # faster than looking up every number of the chunk
        numbers = [number for number in state.tokens if number // TOKENS_PER_SECTION == chunk]
        numbers.sort()
    else:
        numbers = [n for n in map(TokenId, range(first, first + TOKENS_PER_SECTION)) if n in state.tokens]
    return _encode([state.tokens[number] for number in numbers]) if numbers else None


def _slot_chunk(state: RunState, group: GroupId, chunk: int) -> bytes | None:
    first = chunk * SLOTS_PER_STRETCH
    found: dict[int, Slot] = {}
    for index in range(first, first + SLOTS_PER_STRETCH):
        slot = state.slots.get((group, index))
        if slot is not None:
            kept = Slot(slot.output, slot.reached, slot.waiting, slot.laid)
            if kept != _EMPTY:
                found[index] = kept
    return _encode(found) if found else None


_EMPTY = Slot()


def _node(flow: FlowState, node: str) -> bytes | None:
    facts = NodeFacts(
        flow.executed.get(node),
        flow.waiting.get(node),
        flow.errors.get(node),
        node in flow.skipped,
        flow.remaining.get(node),
        node in flow.executing,
    )
    return None if facts == _NO_FACTS else _encode(facts)


def _load_node(flow: FlowState, node: str, facts: NodeFacts) -> None:
    if facts.executed is not None:
        flow.executed[node] = facts.executed
    if facts.waiting is not None:
        flow.waiting[node] = facts.waiting
    if facts.error is not None:
        flow.errors[node] = facts.error
    if facts.skipped:
        flow.skipped[node] = None
    if facts.remaining is not None:
        flow.remaining[node] = facts.remaining
    if facts.executing:
        flow.executing[node] = None


_NO_FACTS = NodeFacts()


_TALK = frozenset(("talk", "turn", "given", "move", "result", "came", "edit", "keys"))


def _load_talk(talk: TalkState, kind: str, rest: str, body: bytes) -> None:
    """Load one row of a conversation."""
    if kind == "keys":  # by far the most, in a long one
        talk.keys[int(rest)] = _keys.decode(body)
        return
    key = tuple(map(int, rest.split("/"))) if rest else ()
    match kind, key:
        case "talk", ():
            talk.heads[0] = _talk_head.decode(body)
        case "turn", (turn,):
            talk.turns[turn] = _turn.decode(body)
        case "given", (turn,):
            talk.given[turn] = _given.decode(body)
        case "move", (turn, move):
            talk.moves[turn, move] = _move.decode(body)
        case "result", (turn, move, call):
            talk.results[turn, move, call] = _result.decode(body)
        case "came", (turn, move, call):
            talk.came[turn, move, call] = _result.decode(body)
        case "edit", (turn, move, call):
            talk.edits[turn, move, call] = _plain(body)
        case _:
            raise BrokenInvariant("a row of a conversation with another name", section=f"{kind}/{rest}")


def load_run(sections: Mapping[str, bytes]) -> LiveRun:
    """The run of stored sections."""
    state = RunState(_head.decode(sections["head"]), _plain(sections.get("input", b"null")))
    for name, body in sections.items():
        kind, _, rest = name.partition("/")
        if kind in _TALK:
            _load_talk(state.talk, kind, rest, body)
            continue
        match kind:
            case "head" | "input":
                pass
            case "state":
                state.state[rest] = _plain(body)
            case "output":
                state.output[rest] = _plain(body)
            case "tokens":
                state.tokens.update((token.id, token) for token in _tokens.decode(current_form(name, body)))
            case "group":
                state.groups[GroupId(int(rest))] = _group.decode(body)
            case "progress":
                state.progress[GroupId(int(rest))] = _progress.decode(body)
            case "slots":
                group = GroupId(int(rest.partition("/")[0]))
                state.slots.update(((group, index), slot) for index, slot in _slots.decode(body).items())
            case "arrived":
                number, stretch, node = rest.split("/")
                state.arrived[GroupId(int(number)), node, int(stretch)] = _arrived.decode(body)
            case "overrides":
                state.flow.overrides = _overrides.decode(body)
            case "node":
                _load_node(state.flow, rest, _facts.decode(body))
            case "signal":
                number, _, signal = rest.partition("/")
                state.signals.setdefault(signal, {})[int(number)] = _signal.decode(body)
            case "heard":
                state.heard[rest] = int(body)
            case "early":
                state.early[int(rest)] = _early.decode(body)
            case "lent":
                state.lent[RunId(rest)] = int(body)
            case _:
                raise BrokenInvariant("a section of a kind this version does not know", section=name)
    _rebuild(state)
    return LiveRun(state)


def current_form(name: str, body: bytes) -> bytes:
    """A section as this version writes it, whichever version wrote it."""
    if not name.startswith("tokens/") or not any(field in body for field in _OLD_SLEEPS):
        return body
    tokens: list[dict[str, Any]] = _json.decode(body)
    for token in tokens:
        phase, slept = token["phase"], token.get("slept")
        woken_at = token.pop("woken", None)
        if phase.get("asleep"):  # a sleeping task was once a token that waits for a timer
            token["phase"] = {"type": "sleeping", "since": phase["since"], "due": phase["due"], "name": phase["label"]}
            token.pop("slept", None)
        elif isinstance(slept, str):
            token["slept"] = {"name": slept, "woken_at": woken_at or 0}
    return _encode(tokens)


_OLD_SLEEPS = (b'"asleep":true', b'"slept":"', b'"woken":')


def _plain(body: bytes) -> Json:
    value: Json = _json.decode(body)
    return value


def _rebuild(state: RunState) -> None:
    """Sort the tables, and derive what the other sections imply: waiters of signals, and tokens and groups of slots."""
    state.state = dict(sorted(state.state.items()))
    state.output = dict(sorted(state.output.items()))
    state.tokens = dict(sorted(state.tokens.items()))
    state.groups = dict(sorted(state.groups.items()))
    state.early = dict(sorted(state.early.items()))
    if state.has_talk:
        state.talk.sort()
    state.signals = {name: dict(sorted(kept.items())) for name, kept in state.signals.items()}
    waiting = [
        (token.phase.turn, name, token.id)
        for token in state.tokens.values()
        if isinstance(token.phase, WaitingForSignal) and not token.abandoned
        for name in token.phase.hears
    ]
    for _, name, waiter in sorted(waiting):
        state.waiters.setdefault(name, {})[waiter] = None
    tokens: dict[SlotId, tuple[TokenId, ...]] = {}
    groups: dict[SlotId, tuple[GroupId, ...]] = {}
    for token in state.tokens.values():
        if token.slot is not None:
            tokens[token.slot] = (*tokens.get(token.slot, ()), token.id)
    for group in state.groups.values():
        if group.outer is not None:
            groups[group.outer] = (*groups.get(group.outer, ()), group.id)
    for slot_id in sorted({*tokens, *groups}):
        slot = state.slots.get(slot_id, _EMPTY)
        state.slots[slot_id] = msgspec.structs.replace(
            slot, tokens=tokens.get(slot_id, ()), groups=groups.get(slot_id, ())
        )

"""Open gates, as lists show them."""

import msgspec

from jeton.actor.rows import GateRow
from jeton.apply.draft import Touched
from jeton.model.ids import RunId, TokenId
from jeton.model.state.phase import Asking, WaitingForGate
from jeton.model.state.run import RunState, Token

_encode = msgspec.json.Encoder().encode


def gate_row(run: RunId, token: Token, phase: WaitingForGate) -> GateRow:
    """The row of an open gate."""
    question = _encode(phase.schema or {}).decode() if isinstance(phase, Asking) else None
    answers = len(phase.answers)
    return GateRow(run, token.id, token.node, token.path, phase.title, phase.since, phase.deadline, answers, question)


def open_gates(state: RunState) -> list[GateRow]:
    """All open gates of a run, by token."""
    waiting = [(token, token.phase) for token in state.tokens.values()]
    found = [gate_row(state.head.run, token, phase) for token, phase in waiting if isinstance(phase, WaitingForGate)]
    return sorted(found, key=lambda row: row.token)


def changed_gates(state: RunState, touched: Touched) -> tuple[tuple[GateRow, ...], tuple[TokenId, ...]]:
    """Gates that a commit opened or changed, and those it closed."""
    opened, closed = list[GateRow](), list[TokenId]()
    for token_id in sorted(touched.rest.gates) if touched.more else ():
        token = state.tokens.get(token_id)
        if token is None or not isinstance(token.phase, WaitingForGate):
            closed.append(token_id)
        else:
            opened.append(gate_row(state.head.run, token, token.phase))
    return tuple(opened), tuple(closed)

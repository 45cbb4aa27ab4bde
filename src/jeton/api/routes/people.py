"""Gates: what people answer."""

from collections.abc import Generator
from contextlib import contextmanager

import msgspec

from jeton.actor.access.keys import ApiKey
from jeton.api.route import Answer, Call, Nothing, Route, route
from jeton.api.views import Answered, Gates, Replied, replied
from jeton.engine.views.gates import GateView, parts_of_gate
from jeton.engine.views.plain import plain
from jeton.model.failure import Refused
from jeton.model.json import Json


class GatesQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    run: str | None = None


class AnswerBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    value: Json
    by: str | None = None


class RunAnswerBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`gate`, or a `node`, whose gate need not be open yet; without either, the only gate that is open."""

    value: Json
    gate: str | None = None
    node: str | None = None
    path: str | None = None
    by: str | None = None


async def list_gates(call: Call[GatesQuery, Nothing]) -> Answer:
    """Open gates, oldest first: of one run with the runs it called, or of all."""
    return Answer(plain(Gates(await call.engine.gates(call.query.run))))


async def get_gate(call: Call[Nothing, Nothing]) -> Answer:
    """One open gate."""
    name = call.path["gate"]
    run, _ = parts_of_gate(name)
    with _of_gate(name):
        for gate in await call.engine.gates(run):
            if gate.id == name:
                return Answer(plain(gate))
    raise Refused("unknown_gate", f"there is no open gate '{name}'", "list the gates there are")


async def answer_gate(call: Call[Nothing, AnswerBody]) -> Answer:
    """Answer a gate. A key that belongs to a person answers as that person."""
    name = call.path["gate"]
    run, _ = parts_of_gate(name)
    by = person_answering(call.caller, call.body.by)
    with _of_gate(name):
        reply = await call.engine.answer(run, call.body.value, gate=name, by=by)
    return Answer(plain(replied(reply)))


@contextmanager
def _of_gate(name: str) -> Generator[None]:
    """Say that a gate is not known, if its run is not."""
    try:
        yield
    except Refused as refused:
        if refused.code != "unknown_run":
            raise
        raise Refused("unknown_gate", f"there is no gate '{name}' here", "list the gates that are open") from None


async def answer_run(call: Call[Nothing, RunAnswerBody]) -> Answer:
    """Answer a gate of a run or of a run it called: by its id, by its node, or the only one that is open."""
    body = call.body
    by = person_answering(call.caller, body.by)
    reply = await call.engine.answer(
        call.path["run"], body.value, gate=body.gate, node=body.node, path=body.path, by=by
    )
    return Answer(plain(Answered(reply.run_id, reply.outcome, reply.record)))


def person_answering(caller: ApiKey, by: str | None) -> str | None:
    """Who answers. Raises Refused for a key of one person that would answer as another."""
    if caller.person is None:
        return by
    if by is not None and by != caller.person:
        problem = f"the key belongs to {caller.person}, and answers as nobody else"
        raise Refused("answer_refused", problem, "leave `by` out")
    return caller.person


READ_OR_ANSWER = "read answer"
OF_AN_ANSWER = "unknown_gate gate_closed answer_refused input_invalid run_ended which_gate bad_value"
ROUTES: tuple[Route, ...] = (
    route(
        "GET", "/gates", READ_OR_ANSWER, list_gates, {200: Gates}, query=GatesQuery, body=Nothing, codes="unknown_run"
    ),
    route(
        "GET", "/gates/{gate}", READ_OR_ANSWER, get_gate, {200: GateView}, query=Nothing, body=Nothing,
        codes="unknown_gate",
    ),
    route(
        "POST", "/gates/{gate}/answer", "answer", answer_gate, {200: Replied}, query=Nothing, body=AnswerBody,
        codes=OF_AN_ANSWER, share="kept",
    ),
    route(
        "POST", "/runs/{run}/answer", "answer", answer_run, {200: Answered}, query=Nothing, body=RunAnswerBody,
        codes=f"{OF_AN_ANSWER} unknown_run ambiguous", share="kept",
    ),
)  # fmt: skip

"""Start runs, and change what they do."""

import asyncio
from contextlib import suppress
from typing import Any, cast

import msgspec
from msgspec import UNSET, UnsetType

from jeton.actor.replies import ended
from jeton.api.route import Answer, Call, Nothing, Route, route
from jeton.api.views import Replied, replied
from jeton.engine.control import CancelAnswer
from jeton.engine.views.flows import Overrides
from jeton.engine.views.plain import plain
from jeton.engine.views.record import RunRecord
from jeton.engine.views.what_if import WhatIf
from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject

MAX_WAIT_MS = 60_000


class StartQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    wait_ms: int = 0


class StartBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    workflow: str
    input: Json = None
    key: str | None = None
    overrides: JsonObject | None = None
    credits: int | None = None
    trace: bool = False


class ReasonBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reason: str = ""


class RetryBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    credits: int = 0


class ForkBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    at: int
    set: dict[str, Json] = {}


class SignalBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    value: Json = None
    key: str | None = None


class WhatIfBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    token: int
    result: Json | UnsetType = UNSET
    failure: str | None = None
    arrives_at: str | None = None


async def start_run(call: Call[StartQuery, StartBody]) -> Answer:
    """Start a run. With a key, one run per workflow and key."""
    body = call.body
    check_wait(call.query.wait_ms)  # before anything is started
    header = call.headers.get("idempotency-key")
    if header is not None and body.key is not None and header != body.key:
        problem = "the header Idempotency-Key and `key` differ"
        raise Refused("ambiguous", problem, "send one of them")
    key = header if header is not None else body.key
    started = await call.engine.start(
        body.workflow,
        {} if body.input is None else body.input,
        key=key,
        overrides=cast("Overrides | None", body.overrides),
        credits=body.credits,
        trace=body.trace,
        traceparent=call.headers.get("traceparent"),
    )
    record = await waited(call, started.id, call.query.wait_ms)
    headers = {"location": f"/v1/runs/{started.id}"}
    return Answer(plain(record), 201 if started.new else 200, headers)


def check_wait(wait_ms: int) -> None:
    """Raise Refused for a wait that is too long."""
    if not 0 <= wait_ms <= MAX_WAIT_MS:
        raise Refused("bad_argument", f"wait_ms: must be 0 to {MAX_WAIT_MS}", "ask again for longer waits")


async def waited(call: Call[Any, Any], run: str, wait_ms: int) -> RunRecord:
    """The record of a run, after its end if that comes within so many milliseconds."""
    check_wait(wait_ms)
    if wait_ms:
        ended = asyncio.ensure_future(call.engine.ended(run, wait_ms / 1000))
        drained = asyncio.ensure_future(call.server.draining.wait())
        try:
            await asyncio.wait((ended, drained), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in (ended, drained):
                each.cancel()
                with suppress(TimeoutError, asyncio.CancelledError):
                    await each
    return await call.engine.get(run)


async def cancel_run(call: Call[Nothing, ReasonBody]) -> Answer:
    """Stop a run. Whichever of cancel, timeout and completion is committed first wins."""
    answer = await call.engine.cancel(call.path["run"], call.body.reason)
    check_cancelled(answer)
    return Answer(plain(answer.record))


def check_cancelled(answer: CancelAnswer) -> None:
    """Raise Refused for a run that had ended before it could be cancelled."""
    if answer.outcome == "ended":
        raise ended(answer.record.run_id, answer.record.status)


async def pause_run(call: Call[Nothing, Nothing]) -> Answer:
    """Keep a run from starting anything new."""
    return Answer(plain(await call.engine.pause(call.path["run"])))


async def unpause_run(call: Call[Nothing, Nothing]) -> Answer:
    """Let a paused run go on."""
    return Answer(plain(await call.engine.unpause(call.path["run"])))


async def retry_run(call: Call[Nothing, RetryBody]) -> Answer:
    """Start a new run that does again what this one failed at."""
    run = await call.engine.retry(call.path["run"], credits=call.body.credits)
    return Answer(plain(await call.engine.get(run.id)), 201, {"location": f"/v1/runs/{run.id}"})


async def fork_run(call: Call[Nothing, ForkBody]) -> Answer:
    """Start a new run that shares this one's history up to a journal entry."""
    run = await call.engine.fork(call.path["run"], call.body.at, call.body.set)
    return Answer(plain(await call.engine.get(run.id)), 201, {"location": f"/v1/runs/{run.id}"})


async def signal_run(call: Call[Nothing, SignalBody]) -> Answer:
    """Send a run a value under a name."""
    body = call.body
    reply = await call.engine.signal(call.path["run"], body.name, body.value, key=body.key)
    return Answer(plain(replied(reply)))


async def simulate_token(call: Call[Nothing, WhatIfBody]) -> Answer:
    """What would be decided if a token finished with a result, failed, or arrived at a fan-in. Nothing is changed."""
    body = call.body
    found = await call.engine.simulate(
        call.path["run"], body.token, result=body.result, failure=body.failure, arrives_at=body.arrives_at
    )
    return Answer(plain(found))


STARTS = "input_invalid key_conflict unknown_workflow unknown_handle needs_app disabled no_account bad_value ambiguous"
OF_A_RUN = "unknown_run run_ended store_failed draining"

ROUTES: tuple[Route, ...] = (
    route(
        "POST", "/runs", "run", start_run, {201: RunRecord, 200: RunRecord}, query=StartQuery, body=StartBody,
        codes=STARTS,
    ),
    route(
        "POST", "/runs/{run}/cancel", "run", cancel_run, {200: RunRecord}, query=Nothing, body=ReasonBody,
        codes=OF_A_RUN, share="kept",
    ),
    route("POST", "/runs/{run}/pause", "run", pause_run, {200: RunRecord}, query=Nothing, body=Nothing, codes=OF_A_RUN),
    route(
        "POST", "/runs/{run}/unpause", "run", unpause_run, {200: RunRecord}, query=Nothing, body=Nothing,
        codes=OF_A_RUN,
    ),
    route(
        "POST", "/runs/{run}/retry", "run", retry_run, {201: RunRecord}, query=Nothing, body=RetryBody,
        codes=f"{OF_A_RUN} not_failed child_run history_pruned",
    ),
    route(
        "POST", "/runs/{run}/fork", "run", fork_run, {201: RunRecord}, query=Nothing, body=ForkBody,
        codes=f"{OF_A_RUN} unknown_entry child_run history_pruned state_invalid bad_value not_failed",
    ),
    route(
        "POST", "/runs/{run}/signal", "run", signal_run, {200: Replied}, query=Nothing, body=SignalBody,
        codes=f"{OF_A_RUN} signal_refused unknown_signal bad_value input_invalid",
    ),
    route(
        "POST", "/runs/{run}/simulate", "run", simulate_token, {200: WhatIf}, query=Nothing, body=WhatIfBody,
        codes=f"{OF_A_RUN} token_not_found ambiguous input_invalid bad_value history_pruned",
    ),
)  # fmt: skip

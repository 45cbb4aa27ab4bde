"""Triggers: list them, fire them, and accept requests of webhooks."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from jeton.actor.rows import FiringRow, TriggerRow
from jeton.actor.triggers import NEVER, Schedule
from jeton.engine.arguments import MOST_ROWS, check_maybe_texts, check_texts, check_whole
from jeton.engine.input import plain_input, read_input
from jeton.engine.lookup import Lookup
from jeton.engine.views.firings import Delivered, FiringView, firing_view
from jeton.executor import LoopClock, ThreadPool
from jeton.executor.secrets import SecretStore, SecretUnavailable
from jeton.executor.secrets.signatures import delivery_in, fits, signing
from jeton.expression.schema import compile_schema
from jeton.model.codes import RefusalCode
from jeton.model.definition.trigger import OnSchedule, OnWebhook, Trigger
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.reference import name_of, parse_reference
from jeton.model.times import moment
from jeton.planning.schema_problem import schema_problem
from jeton.planning.triggers.firing import Delivery

UPCOMING = 3  # times of a schedule that are shown
REMEDIES: dict[RefusalCode, str] = {
    "disabled": "enable it with engine.enable, or `jeton triggers --enable`",
    "too_deep": "check whether runs trigger each other in a cycle, or set triggers.max_depth",
    "input_invalid": "correct what is delivered, or the trigger's own input",
    "unknown_workflow": "deploy it",
}


class TriggerView(msgspec.Struct, frozen=True):
    """A trigger, when it fires next if that is known, and its last firing.

    `upcoming` has the next times of a schedule, the first of which is `next_at`. `origin` is the file or
    folder it was deployed from; without one, the name of what it starts."""

    name: str
    type: str
    start: str
    on: JsonObject
    disabled: bool
    origin: str
    next_at: datetime | None = None
    last: FiringView | None = None
    upcoming: tuple[datetime, ...] = ()


class Triggers:
    """Lists triggers, fires them, and accepts webhook requests."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._host = lookup.host
        self._secrets = SecretStore()

    async def list(self) -> tuple[TriggerView, ...]:
        """All triggers, by name."""
        disabled, now = await self._host.reads.disabled(), self._host.wall()
        views: list[TriggerView] = []
        for row in await self._host.reads.triggers():
            last = await self._host.reads.firings(trigger=row.trigger.name, limit=1)
            views.append(_view(row, last[0] if last else None, disabled, now))
        return tuple(views)

    async def firings(
        self, trigger: str | None = None, *, run: str | None = None, limit: int = 100
    ) -> tuple[FiringView, ...]:
        """Results of deliveries, newest first: to one trigger or to all, or the one that started a run."""
        check_maybe_texts(trigger=trigger, run=run)
        check_whole("limit", limit, 1, MOST_ROWS)
        known = None if run is None else RunId(run)
        found = await self._host.reads.firings(trigger=trigger, run=known, limit=limit)
        return tuple(map(firing_view, found))

    async def fire(self, trigger: str, payload: object = None, *, delivery_id: str | None = None) -> FiringView:
        """Fire a trigger by hand. The same delivery id fires once: the second time gives what the first one gave.

        Raises Refused if it may not fire: the workflow is disabled, is not there, or takes no such input."""
        check_texts(trigger=trigger)
        check_maybe_texts(delivery_id=delivery_id)
        data = None if payload is None else plain_input(payload)
        return await self._fire(await self._trigger(trigger), "manual", delivery_id, data, None)

    async def deliver_webhook(
        self, path: str, body: bytes, headers: Mapping[str, str], delivery_id: str | None = None
    ) -> Delivered:
        """Take a request to `/hooks/{path}`: check its signature, then its body, and fire the trigger.

        The sender's own delivery id is taken from the headers unless it is given; without one, every request fires.
        Raises Refused, with the codes `unknown_hook`, `bad_signature`, `input_invalid` and those of `fire`."""
        check_texts(path=path, **{f"headers[{name}]": value for name, value in headers.items()})
        check_maybe_texts(delivery_id=delivery_id)
        if not isinstance(body, bytes):  # pyright: ignore[reportUnnecessaryIsInstance] - not everybody's types are checked
            raise Refused("bad_argument", "'body' is the request's bytes", "give them as they came")
        trigger, on = await self._hook(path)
        lowered = {name.lower(): value for name, value in headers.items()}
        if on.secret is not None:
            await self._check_signature(trigger, on.secret, body, lowered)
        try:
            text = body.decode()
        except UnicodeDecodeError:
            raise Refused("input_invalid", "the body is no text in utf-8", "send JSON") from None
        data: Json = read_input(text) if text.strip() else None
        problem = schema_problem(compile_schema(on.schema), data, "body")
        if problem is not None:
            raise Refused("input_invalid", problem, "send what the trigger's schema says")
        row = await self._fired(trigger, "webhook", delivery_id or delivery_in(lowered), data, on.path)
        return Delivered(**msgspec.structs.asdict(firing_view(row)), again=row.again)

    async def enable(self, workflow: str) -> None:
        """Let triggers start a workflow or flow again."""
        await self._set_disabled(workflow, False)

    async def disable(self, workflow: str) -> None:
        """Stop triggers from starting a workflow or flow until it is enabled. It can still be started by name."""
        await self._set_disabled(workflow, True)

    async def remove_trigger(self, trigger: str) -> None:
        """Remove a trigger. What it fired stays on record."""
        check_texts(trigger=trigger)
        if not await self._host.remove_trigger(trigger):
            raise _unknown(trigger)

    async def _set_disabled(self, workflow: str, disabled: bool) -> None:
        await self._lookup.bundle(workflow)
        await self._host.set_disabled(workflow, disabled)

    async def _trigger(self, name: str) -> Trigger:
        rows = await self._host.reads.triggers()
        found = next((row.trigger for row in rows if row.trigger.name == name), None)
        if found is None:
            raise _unknown(name)
        return found

    async def _hook(self, path: str) -> tuple[Trigger, OnWebhook]:
        for row in await self._host.reads.triggers():
            if isinstance(row.trigger.on, OnWebhook) and row.trigger.on.path == path.strip("/"):
                return row.trigger, row.trigger.on
        raise Refused("unknown_hook", f"no trigger has the path '{path}'", "list the triggers there are")

    async def _check_signature(self, trigger: Trigger, name: str, body: bytes, headers: Mapping[str, str]) -> None:
        """Check the HMAC-SHA256 of the body's bytes, compared in constant time."""
        bundle, _ = await self._lookup.bundle(*parse_reference(trigger.start))
        try:
            secret = await self._secrets.of(bundle.settings).get(name, LoopClock(), ThreadPool())
        except SecretUnavailable as unavailable:
            raise Refused("secret_unavailable", str(unavailable), "check the project's secrets") from None
        if not fits(secret, body, headers, self._host.now() // 1000):
            remedy = f"send {signing(headers)} with the secret '{name}'"
            raise Refused("bad_signature", "the signature does not fit the body", remedy)

    async def _fire(
        self, trigger: Trigger, type: str, delivery_id: str | None, data: Json, source: str | None
    ) -> FiringView:
        return firing_view(await self._fired(trigger, type, delivery_id, data, source))

    async def _fired(
        self, trigger: Trigger, type: str, delivery_id: str | None, data: Json, source: str | None
    ) -> FiringRow:
        row = await self._host.fire(
            trigger, Delivery(delivery_id or self._host.new_id(), type, self._host.now(), data, source)
        )
        if row.code is not None:
            raise Refused(row.code, row.problem or "", REMEDIES.get(row.code, ""))
        return row


def _view(row: TriggerRow, last: FiringRow | None, disabled: frozenset[str], now: int) -> TriggerView:
    trigger = row.trigger
    times = _next_times(trigger, trigger.on, max(row.seen, now)) if isinstance(trigger.on, OnSchedule) else ()
    on: JsonObject = msgspec.to_builtins(trigger.on)
    kind = str(on.pop("type"))
    return TriggerView(
        trigger.name,
        kind,
        trigger.start,
        on,
        name_of(trigger.start) in disabled,
        row.origin,
        times[0] if times else None,
        None if last is None else firing_view(last),
        times,
    )


def _next_times(trigger: Trigger, on: OnSchedule, after: int) -> tuple[datetime, ...]:
    times: list[datetime] = []
    while len(times) < UPCOMING and (due := Schedule(trigger, on, after).next) < NEVER:
        times.append(moment(due))
        after = due
    return tuple(times)


def _unknown(trigger: str) -> Refused:
    return Refused("unknown_trigger", f"there is no trigger '{trigger}' in this store", "list the triggers there are")

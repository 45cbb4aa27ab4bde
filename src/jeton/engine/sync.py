"""The engine without `await`, for scripts: the same methods, carried out on an event loop in a thread of its own."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import TypeVar

from msgspec import UNSET, UnsetType

from jeton.engine.build.source import Built, Source
from jeton.engine.credits import CreditsView, UsageView
from jeton.engine.engine import GRACE_S, CancelAnswer, Deployment, Engine, Run, open
from jeton.engine.reading import Context
from jeton.engine.reply import Reply
from jeton.engine.triggers import TriggerView
from jeton.engine.views.explain.views import Explanation
from jeton.engine.views.firings import FiringView
from jeton.engine.views.flows import Overrides
from jeton.engine.views.gates import GateView
from jeton.engine.views.published import EmittedEvent, MetricValue
from jeton.engine.views.record import RunRecord
from jeton.engine.views.tokens import TokenView
from jeton.engine.views.what_if import WhatIf
from jeton.hosts.sqlite.file.connect import Durability
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunStatus

_Value = TypeVar("_Value")


@contextmanager
def open_sync(
    store: str | PathLike[str],
    *,
    durability: Durability = "full",
    owner: bool = True,
    work: bool = True,
    grace_s: float = GRACE_S,
) -> Generator["SyncEngine", None, None]:
    """As `open`, for code that is not async. Runs go on in the background between calls."""
    with _Loop() as loop:
        opening = open(store, durability=durability, owner=owner, work=work, grace_s=grace_s)
        engine = loop.wait(opening.__aenter__())
        try:
            yield SyncEngine(engine, loop)
        finally:
            loop.wait(opening.__aexit__(None, None, None))


class _Loop:
    """An event loop in a thread."""

    def __enter__(self) -> "_Loop":
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="jeton", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def wait(self, work: Coroutine[object, object, _Value]) -> _Value:
        """Have it done there, and wait for it here."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:  # an interrupt must not leave the work behind
            future.cancel()
            raise

    def each(self, items: AsyncGenerator[_Value, None]) -> Iterator[_Value]:
        """The items, one by one, as they come."""
        try:
            while True:
                yield self.wait(items.asend(None))
        except StopAsyncIteration:
            return
        finally:
            self.wait(items.aclose())


class SyncEngine:
    """All runs of one store. Each method does what the `Engine`'s of the same name does."""

    def __init__(self, engine: Engine, loop: _Loop) -> None:
        self._engine = engine
        self._loop = loop

    def deploy(self, source: Source) -> Deployment:
        return self._loop.wait(self._engine.deploy(source))

    def start(
        self,
        workflow: str | Built,
        input: object = None,
        *,
        key: str | None = None,
        overrides: Overrides | None = None,
        trace: bool = False,
        credits: int | None = None,
    ) -> "SyncRun":
        begun = self._engine.start(workflow, input, key=key, overrides=overrides, trace=trace, credits=credits)
        return SyncRun(self._loop.wait(begun), self._loop)

    def run(self, run: str) -> "SyncRun":
        return SyncRun(self._engine.run(run), self._loop)

    def get(self, run: str) -> RunRecord:
        return self._loop.wait(self._engine.get(run))

    def list(
        self,
        *,
        workflow: str | None = None,
        status: RunStatus | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> tuple[RunRecord, ...]:
        return self._loop.wait(self._engine.list(workflow=workflow, status=status, after=after, limit=limit))

    def cancel(self, run: str, reason: str = "") -> CancelAnswer:
        return self._loop.wait(self._engine.cancel(run, reason))

    def pause(self, run: str) -> RunRecord:
        return self._loop.wait(self._engine.pause(run))

    def unpause(self, run: str) -> RunRecord:
        return self._loop.wait(self._engine.unpause(run))

    def fork(self, run: str, at: int, writes: Mapping[str, Json] | None = None) -> "SyncRun":
        return SyncRun(self._loop.wait(self._engine.fork(run, at, writes)), self._loop)

    def retry(self, run: str, *, credits: int = 0) -> "SyncRun":
        return SyncRun(self._loop.wait(self._engine.retry(run, credits=credits)), self._loop)

    def answer(
        self,
        run: str,
        value: Json,
        *,
        gate: str | None = None,
        node: str | None = None,
        path: str | None = None,
        by: str | None = None,
    ) -> Reply:
        return self._loop.wait(self._engine.answer(run, value, gate=gate, node=node, path=path, by=by))

    def signal(self, run: str, name: str, value: Json = None, *, key: str | None = None) -> Reply:
        return self._loop.wait(self._engine.signal(run, name, value, key=key))

    def gates(self, run: str | None = None) -> tuple[GateView, ...]:
        return self._loop.wait(self._engine.gates(run))

    def children(self, run: str) -> tuple[RunRecord, ...]:
        return self._loop.wait(self._engine.children(run))

    def ended(self, run: str, timeout: float | None = None) -> RunRecord:
        return self._loop.wait(self._engine.ended(run, timeout))

    def events(
        self, run: str, after: int | Mapping[str, int] = -1, *, follow: bool = False, trace: bool = False
    ) -> Iterator[JsonObject]:
        return self._loop.each(self._engine.events(run, after, follow=follow, trace=trace))

    def tokens(self, run: str) -> tuple[TokenView, ...]:
        return self._loop.wait(self._engine.tokens(run))

    def context(self, run: str) -> Context:
        return self._loop.wait(self._engine.context(run))

    def emitted(
        self, *, run: str | None = None, event: str | None = None, after: int = 0, limit: int = 100
    ) -> tuple[EmittedEvent, ...]:
        return self._loop.wait(self._engine.emitted(run=run, event=event, after=after, limit=limit))

    def metrics(self, run: str | None = None) -> tuple[MetricValue, ...]:
        return self._loop.wait(self._engine.metrics(run))

    def explain(self, run: str, *, token: int | None = None, transition: int | None = None) -> Explanation:
        return self._loop.wait(self._engine.explain(run, token=token, transition=transition))

    def simulate(
        self,
        run: str,
        token: int,
        *,
        result: Json | UnsetType = UNSET,
        failure: str | None = None,
        arrives_at: str | None = None,
    ) -> WhatIf:
        return self._loop.wait(self._engine.simulate(run, token, result=result, failure=failure, arrives_at=arrives_at))

    def credits(self) -> CreditsView:
        return self._loop.wait(self._engine.credits())

    def top_up(self, amount: int) -> CreditsView:
        return self._loop.wait(self._engine.top_up(amount))

    def usage(
        self, run: str | None = None, *, workflow: str | None = None, day: str | None = None, tree: bool = False
    ) -> tuple[UsageView, ...]:
        return self._loop.wait(self._engine.usage(run, workflow=workflow, day=day, tree=tree))

    def triggers(self) -> tuple[TriggerView, ...]:
        return self._loop.wait(self._engine.triggers())

    def firings(
        self, trigger: str | None = None, *, run: str | None = None, limit: int = 100
    ) -> tuple[FiringView, ...]:
        return self._loop.wait(self._engine.firings(trigger, run=run, limit=limit))

    def fire(self, trigger: str, payload: object = None, *, delivery_id: str | None = None) -> FiringView:
        return self._loop.wait(self._engine.fire(trigger, payload, delivery_id=delivery_id))

    def deliver_webhook(
        self, path: str, body: bytes, headers: Mapping[str, str], delivery_id: str | None = None
    ) -> FiringView:
        return self._loop.wait(self._engine.deliver_webhook(path, body, headers, delivery_id))

    def enable(self, workflow: str) -> None:
        self._loop.wait(self._engine.enable(workflow))

    def disable(self, workflow: str) -> None:
        self._loop.wait(self._engine.disable(workflow))

    def remove_trigger(self, trigger: str) -> None:
        self._loop.wait(self._engine.remove_trigger(trigger))

    def idle(self) -> None:
        self._loop.wait(self._engine.idle())

    @property
    def needs_app(self) -> dict[RunId, str]:
        return self._engine.needs_app


class SyncRun:
    """One run. Each method does what the `Run`'s of the same name does."""

    def __init__(self, run: Run, loop: _Loop) -> None:
        self._run = run
        self._loop = loop
        self.id = run.id

    def result(self, timeout: float | None = None) -> RunRecord:
        return self._loop.wait(self._run.result(timeout))

    def record(self) -> RunRecord:
        return self._loop.wait(self._run.record())

    def events(self, after: int = -1, *, follow: bool = True) -> Iterator[JsonObject]:
        return self._loop.each(self._run.events(after, follow=follow))

    def answer(
        self,
        value: Json,
        *,
        gate: str | None = None,
        node: str | None = None,
        path: str | None = None,
        by: str | None = None,
    ) -> Reply:
        return self._loop.wait(self._run.answer(value, gate=gate, node=node, path=path, by=by))

    def signal(self, name: str, value: Json = None, *, key: str | None = None) -> Reply:
        return self._loop.wait(self._run.signal(name, value, key=key))

    def cancel(self, reason: str = "") -> CancelAnswer:
        return self._loop.wait(self._run.cancel(reason))

    def __repr__(self) -> str:
        return f"SyncRun({self.id!r})"

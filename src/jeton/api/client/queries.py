"""What can be asked of a server's engine. Methods have the names, arguments and results of the engine's own.

Records in lists have no outputs: a server sends those of single runs only."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from msgspec import UNSET, UnsetType

from jeton.api.client.connection import Connection, part
from jeton.api.client.streaming import Wanted, stream
from jeton.api.views import Deltas, Entries, Gates, RunAnswer, Runs, Tokens
from jeton.engine.reading import Context
from jeton.engine.views.explain.views import Explanation, RunExplained, TokenExplained, TransitionExplained
from jeton.engine.views.gates import GateView
from jeton.engine.views.past.changes import EntryChanges
from jeton.engine.views.past.entries import EntryView
from jeton.engine.views.past.graph import RunGraph
from jeton.engine.views.past.slots import SlotsView
from jeton.engine.views.published import MetricValue
from jeton.engine.views.record import RunRecord
from jeton.engine.views.tokens import TokenView
from jeton.engine.views.what_if import WhatIf
from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import TERMINAL, RunStatus

WAIT_MS = 30_000
AT_A_TIME = 1000


class RemoteQueries:
    """What can be asked of a server's engine."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    async def get(self, run: str, *, at: int | None = None) -> RunRecord:
        """A run's record; with `at`, as it was after that journal entry."""
        return await self.connection.get(f"/runs/{part(run)}", RunRecord, at=at)

    async def list(
        self,
        *,
        workflow: str | None = None,
        status: RunStatus | None = None,
        after: str | None = None,
        limit: int = 100,
        q: str | None = None,
    ) -> tuple[RunRecord, ...]:
        """Runs, newest first; `after` is the last run of the previous page. `q` is a query, see `jeton ls`.

        The records have no outputs."""
        found: builtins.list[RunRecord] = []
        place = after
        while True:  # a page may be short: the server looks at so many runs at a time
            query = {"workflow": workflow, "status": status, "q": q, "after": place}
            try:
                page = await self.connection.get("/runs", Runs, **query, limit=min(limit - len(found), AT_A_TIME))
            except Refused as refused:
                if refused.code == "bad_cursor" and place == after:  # behind a run that there is not, there is none
                    return ()
                raise
            found += page.runs
            place = page.next
            if place is None or len(found) >= limit:
                return tuple(found)

    async def children(self, run: str) -> tuple[RunRecord, ...]:
        """The runs it called, in order; not those that they called. The records have no outputs."""
        return (await self.connection.get(f"/runs/{part(run)}/children", Runs)).runs

    async def ended(self, run: str, timeout: float | None = None) -> RunRecord:
        """Wait for a run's end. Raises TimeoutError if it has not ended in time; the run goes on."""
        async with asyncio.timeout(timeout):
            while True:
                record = await self.connection.get(f"/runs/{part(run)}", RunRecord, wait_ms=WAIT_MS)
                if record.status in TERMINAL:
                    return record

    async def gates(self, run: str | None = None) -> tuple[GateView, ...]:
        """Open gates, oldest first: of one run and the runs it called, or of all."""
        return (await self.connection.get("/gates", Gates, run=run)).gates

    async def events(
        self, run: str, after: int | Mapping[str, int] = -1, *, follow: bool = False, trace: bool = False
    ) -> AsyncGenerator[JsonObject, None]:
        """The events of a run and of the runs it called, each with its own `run_id` and `seq`; the run's end is last.

        `after` is a sequence number of the run itself: what was committed up to it is left out. Or one for each run:
        those up to it are left out. With `follow`, also events to come, until the run has ended.
        """
        behind: Mapping[str, int] = after if isinstance(after, Mapping) else {}
        first = -1 if isinstance(after, Mapping) else after
        wanted = Wanted(run=run, trace=trace, follow=follow)
        async with aclosing(stream(self.connection, wanted, first)) as found:
            async for event in found:
                seq = event.get("seq")
                if not isinstance(seq, int) or seq > behind.get(str(event["run_id"]), -1):
                    yield event

    def stream(
        self,
        after: int | str = -1,
        *,
        run: str | None = None,
        conversation: str | None = None,
        trace: bool = False,
        follow: bool = True,
    ) -> AsyncGenerator[JsonObject, None]:
        """Events of a run, a conversation or all runs, each once, over any number of connections and servers.

        `after` is a position, a sequence number of the run itself, or `head`: only what is new."""
        return stream(self.connection, Wanted(run, conversation, trace, follow), after)

    async def entries(self, run: str, after: int = -1, limit: int = 100) -> tuple[EntryView, ...]:
        """A run's journal entries behind the one numbered `after`, oldest first, each in a few words."""
        found: builtins.list[EntryView] = []
        place = after
        while True:
            most = min(limit - len(found), AT_A_TIME)
            page = await self.connection.get(f"/runs/{part(run)}/entries", Entries, after=place, limit=most)
            found += page.entries
            if page.next is None or len(found) >= limit:
                return tuple(found)
            place = page.next

    async def graph(self, run: str, *, at: int | None = None) -> RunGraph:
        """How many tokens are where in a run's graph, and how far its fan-outs are; or were after an entry."""
        return await self.connection.get(f"/runs/{part(run)}/graph", RunGraph, at=at)

    async def deltas(self, run: str, first: int, last: int) -> tuple[EntryChanges, ...]:
        """What each journal entry from one number to another changed, both included: counts by node, and data.

        Added to the graph and the context before the first of them, they give those after each."""
        found: builtins.list[EntryChanges] = []
        for start in range(first, max(last, first) + 1, AT_A_TIME):
            query = {"from": start, "to": min(last, start + AT_A_TIME - 1)}
            found += (await self.connection.get(f"/runs/{part(run)}/deltas", Deltas, **query)).deltas
        return tuple(found)

    async def slots(
        self, run: str, group: int, first: int = 0, last: int | None = None, *, at: int | None = None
    ) -> SlotsView:
        """The slots of a fan-out from index `first` up to `last`, which is not included, and their failures."""
        query = {"from": first, "to": last, "at": at}
        return await self.connection.get(f"/runs/{part(run)}/groups/{group}/slots", SlotsView, **query)

    async def tokens(self, run: str, *, at: int | None = None) -> tuple[TokenView, ...]:
        """Every token the run ever had; with `at`, as they were after that journal entry."""
        return (await self.connection.get(f"/runs/{part(run)}/tokens", Tokens, at=at)).tokens

    async def context(self, run: str, *, token: int | None = None, at: int | None = None) -> Context:
        """The run's data as it is now, or was when the run ended; with `token`, as that token sees or saw it.

        With `at`, as it was after that journal entry."""
        return await self.connection.get(f"/runs/{part(run)}/context", Context, token=token, at=at)

    async def metrics(self, run: str | None = None) -> tuple[MetricValue, ...]:
        """What actions measured in a run. Those of all runs are among the numbers at /metrics."""
        if run is None:
            problem = "a server tells what actions measured in one run"
            raise Refused("bad_argument", problem, "name the run; the numbers at /metrics have those of all")
        return (await self.connection.get(f"/runs/{part(run)}", RunAnswer)).metrics

    async def explain(
        self, run: str, *, token: int | None = None, transition: int | None = None, at: int | None = None
    ) -> Explanation:
        """Why the run, one of its tokens or one of its transitions did what it did; with `at`, by that entry."""
        path = f"/runs/{part(run)}/explain"
        if transition is not None:
            return await self.connection.get(path, TransitionExplained, token=token, transition=transition, at=at)
        if token is not None:
            return await self.connection.get(path, TokenExplained, token=token, at=at)
        return await self.connection.get(path, RunExplained, at=at)

    async def simulate(
        self,
        run: str,
        token: int,
        *,
        result: Json | UnsetType = UNSET,
        failure: str | None = None,
        arrives_at: str | None = None,
    ) -> WhatIf:
        """What would be decided if this token finished with that result, failed, or arrived at that fan-in.

        `result` is what its task returns, its gate is answered, its signal carries or the run it called puts out.
        Nothing is changed, and nothing is done."""
        given = {} if result is UNSET else {"result": result}
        body = {"token": token, "failure": failure, "arrives_at": arrives_at, **given}
        return await self.connection.post(f"/runs/{part(run)}/simulate", WhatIf, body)

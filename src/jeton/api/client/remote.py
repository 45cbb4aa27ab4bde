"""The engine of a server, from elsewhere. Its methods have the names, arguments and results of the engine's own."""

from __future__ import annotations

import builtins
import os
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, NoReturn

import msgspec

from jeton.actor.retention import Pruned
from jeton.api.client.absent import ABSENT
from jeton.api.client.connection import Connection, part
from jeton.api.client.handles import RemoteConversation, RemoteRun
from jeton.api.client.queries import AT_A_TIME, RemoteQueries
from jeton.api.views import (
    Agents,
    Answered,
    Begun,
    Conversations,
    Deployed,
    Enabled,
    Firings,
    ForgottenMemories,
    Memories,
    PrunedView,
    Replied,
    Triggers,
    UsageByNode,
    Workflows,
)
from jeton.engine.browse.catalogue import WorkflowView
from jeton.engine.build.agent import Agent
from jeton.engine.build.source import Built, Source, is_built, load_source, texts_of
from jeton.engine.control import CancelAnswer
from jeton.engine.credits import CreditsView, UsageView
from jeton.engine.deploy.deploying import Deployment
from jeton.engine.engine import DAY_MS
from jeton.engine.input import plain_input, plain_value
from jeton.engine.misuse import awaited, opens
from jeton.engine.reply import Reply
from jeton.engine.triggers import TriggerView
from jeton.engine.views.conversation import ConversationRow, ConversationView
from jeton.engine.views.firings import FiringView
from jeton.engine.views.flows import Overrides
from jeton.engine.views.memory import ForgottenMemory, MemoryView
from jeton.engine.views.record import RunRecord
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import TERMINAL, RunStatus

KEY_VARIABLE = "JETON_KEY"


@awaited
class RemoteEngine(RemoteQueries):
    """The engine of a server. What it does not have (`ABSENT`) raises Refused, which says what to use instead."""

    if not TYPE_CHECKING:  # a type checker is to report these uses itself

        def __getattr__(self, name: str) -> NoReturn:
            if name in ABSENT:
                problem = f"the engine of a server has no '{name}', which needs the process that owns the store"
                raise Refused("unsupported_store", problem, ABSENT[name])
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    # definitions

    async def deploy(self, source: Source) -> Deployment:
        """Store definitions, which are sent as texts. Raises DefinitionError with every problem.

        Python functions that they use must be at the server: it imports nothing for them."""
        done = await self.connection.post("/definitions", Deployed, {"files": files_of(source)})
        return Deployment(done.versions, done.warnings, done.removed)

    async def deployed(self) -> tuple[str, ...]:
        """The names of all that was deployed: workflows, flows, and agents as `agent:NAME`."""
        return tuple(row.name for row in (await self.connection.get("/workflows", Workflows)).workflows)

    async def workflow(self, reference: str) -> Library:
        """A deployed workflow with all it calls. Raises Refused if there is none."""
        found = await self.connection.get(f"/workflows/{part(reference)}", WorkflowView)
        return load_source(found.definition).library

    # runs

    async def start(
        self,
        workflow: str | Built,
        input: object = None,
        *,
        key: str | None = None,
        overrides: Overrides | None = None,
        trace: bool = False,
        credits: int | None = None,
        traceparent: str | None = None,
    ) -> RemoteRun:
        """Start a run of a workflow or a flow: by name, by `name@3`, or one built in Python, which is deployed first.

        One run per workflow and `key`: starting it again gives the same run. Raises InputInvalid, and makes no run,
        for an input that does not fit. `overrides` are inputs of a flow's nodes for this run, by node and handle.
        With `trace` the run's events include what was decided. `credits` is all that the run, with the runs it calls,
        may cost; without it the project's account pays, if there is one. `traceparent` is the header of that name (W3C
        Trace Context) of a request that led to the run: its spans go on with that trace. What is none is ignored.
        """
        if is_built(workflow):
            await self.deploy(workflow)
        body: JsonObject = {
            "workflow": workflow if isinstance(workflow, str) else workflow.name,
            "input": plain_input({} if input is None else input),
            "key": key,
            "overrides": None if overrides is None else plain_value(overrides, "overrides"),
            "credits": credits,
            "trace": trace,
        }
        under = None if traceparent is None else {"traceparent": traceparent}
        record, new = await self.connection.post_new("/runs", RunRecord, body, under)
        return RemoteRun(self, record.run_id, trace=trace, new=new)

    async def run(self, run: str) -> RemoteRun:
        """A run that was started before. Raises Refused if there is none of that name."""
        return RemoteRun(self, (await self.get(run)).run_id)

    async def cancel(self, run: str, reason: str = "") -> CancelAnswer:
        """Stop a run. Whichever of cancel, timeout and completion is committed first wins; the answer says which."""
        try:
            record = await self.connection.post(f"/runs/{part(run)}/cancel", RunRecord, {"reason": reason})
        except Refused as refused:
            if refused.code != "run_ended":
                raise
            return CancelAnswer("ended", await self.get(run))
        return CancelAnswer("accepted" if record.status == "cancelled" else "sent", record)

    async def pause(self, run: str) -> RunRecord:
        """Keep a run, and those it called, from starting anything new. Running tasks finish, and results count."""
        return await self.connection.post(f"/runs/{part(run)}/pause", RunRecord)

    async def unpause(self, run: str) -> RunRecord:
        """Let a paused run go on."""
        return await self.connection.post(f"/runs/{part(run)}/unpause", RunRecord)

    async def fork(self, run: str, at: int, writes: Mapping[str, Json] | None = None) -> RemoteRun:
        """Start a new run that shares this one's history up to journal entry `at`.

        `writes` go into its state first: paths such as `state.verdict`. What was done by then is not done again.
        A flow has no state to write to."""
        edits = {path: plain_value(value, path) for path, value in (writes or {}).items()}
        record = await self.connection.post(f"/runs/{part(run)}/fork", RunRecord, {"at": at, "set": edits})
        return RemoteRun(self, record.run_id)

    async def retry(self, run: str, *, credits: int = 0) -> RemoteRun:
        """Start a new run that does again what this one failed at: its fork at the end.

        `credits` are added to what a run that was started with its own has left."""
        record = await self.connection.post(f"/runs/{part(run)}/retry", RunRecord, {"credits": credits})
        return RemoteRun(self, record.run_id)

    async def prune(
        self,
        *,
        older_than_ms: int = 30 * DAY_MS,
        statuses: Collection[RunStatus] = TERMINAL,
        workflow: str | None = None,
        dry_run: bool = False,
    ) -> Pruned:
        """Remove runs that ended longer ago than this, with their history. `dry_run` only counts them.

        Start keys are kept: a key that started a run starts no other."""
        ended = sorted(frozenset(statuses) & TERMINAL)
        body = {"older_than_ms": older_than_ms, "statuses": ended, "workflow": workflow, "dry_run": dry_run}
        found = await self.connection.post("/store/prune", PrunedView, body)
        return Pruned(found.entries, found.runs, found.kept, found.firings)

    # answers and signals

    async def answer(
        self,
        run: str,
        value: Json,
        *,
        gate: str | None = None,
        node: str | None = None,
        path: str | None = None,
        by: str | None = None,
    ) -> Reply:
        """Answer a gate: the one with this id, the one at this node, which may not be open yet, or the only one open.

        Without a name it is the run's own gate, else that of a run it called. Raises Refused for an answer that is
        not accepted: it does not fit, the gate asks other people, the gate is closed, the run has ended."""
        body = {"value": plain_value(value, "answer"), "gate": gate, "node": node, "path": path, "by": by}
        done = await self.connection.post(f"/runs/{part(run)}/answer", Answered, body)
        return msgspec.convert({"run_id": done.run_id, "outcome": done.outcome, "record": done.record}, Reply)

    async def signal(self, run: str, name: str, value: Json = None, *, key: str | None = None) -> Reply:
        """Send a run a value under a name: the token that waits longest for it goes on; without one it is kept.

        The same `key` twice is one signal. Raises Refused for a value that does not fit, and when the run has ended."""
        body = {"name": name, "value": plain_value(value, "signal"), "key": key}
        done = await self.connection.post(f"/runs/{part(run)}/signal", Replied, body)
        return msgspec.convert({"run_id": done.record.run_id, "outcome": done.outcome, "record": done.record}, Reply)

    # agents

    async def agents(self) -> tuple[str, ...]:
        """The agents that were deployed."""
        return (await self.connection.get("/agents", Agents)).agents

    async def converse(
        self, agent: str | Agent, *, key: str | None = None, user: str | None = None, conversation: str | None = None
    ) -> RemoteConversation:
        """Begin a conversation with an agent, or go on with one. One conversation per agent and `key`.

        The agent is given by name, by `name@3`, or as one built in Python, which is deployed first. `user` is who
        speaks in it; an agent with `scope: user` keeps memories for each user apart."""
        if isinstance(agent, Agent):
            await self.deploy(agent)
            agent = agent.name
        if conversation is not None:
            return RemoteConversation(self, (await self.conversation(conversation)).conversation_id)
        begun = await self.connection.post(f"/agents/{part(agent)}/conversations", Begun, {"key": key, "user": user})
        return RemoteConversation(self, begun.conversation_id)

    async def conversation(self, conversation: str) -> ConversationView:
        """A conversation with all its turns."""
        return await self.connection.get(f"/conversations/{part(conversation)}", ConversationView)

    async def conversations(
        self, *, agent: str | None = None, active: bool = False, after: str | None = None, limit: int = 100
    ) -> tuple[ConversationRow, ...]:
        """Conversations, newest first; `after` is the last one of the previous page.

        With `active`, only those in which a turn moves."""
        found: builtins.list[ConversationRow] = []
        place = after
        while True:
            query = {"agent": agent, "active": active, "after": place, "limit": min(limit - len(found), AT_A_TIME)}
            try:
                page = await self.connection.get("/conversations", Conversations, **query)
            except Refused as refused:
                if refused.code == "bad_cursor" and place == after:  # behind one that there is not, there is none
                    return ()
                raise
            found += page.conversations
            place = page.next
            if place is None or len(found) >= limit:
                return tuple(found)

    # triggers

    async def triggers(self) -> tuple[TriggerView, ...]:
        """All triggers, by name."""
        return (await self.connection.get("/triggers", Triggers)).triggers

    async def firings(
        self, trigger: str | None = None, *, run: str | None = None, limit: int = 100
    ) -> tuple[FiringView, ...]:
        """Results of deliveries, newest first: to one trigger or to all, or the one that started a run."""
        most = min(limit, AT_A_TIME)
        return (await self.connection.get("/firings", Firings, trigger=trigger, run=run, limit=most)).firings

    async def fire(self, trigger: str, payload: object = None, *, delivery_id: str | None = None) -> FiringView:
        """Fire a trigger by hand. The same delivery id fires once: the second time gives what the first one gave.

        Raises Refused if it may not fire: the workflow is disabled, is not there, or takes no such input."""
        body = {"payload": None if payload is None else plain_input(payload), "delivery_id": delivery_id}
        return await self.connection.post(f"/triggers/{part(trigger)}/fire", FiringView, body)

    async def enable(self, workflow: str) -> None:
        """Let triggers start a workflow or flow again."""
        await self.connection.post(f"/workflows/{part(workflow)}/enable", Enabled)

    async def disable(self, workflow: str) -> None:
        """Stop triggers from starting a workflow or flow until it is enabled. It can still be started by name."""
        await self.connection.post(f"/workflows/{part(workflow)}/disable", Enabled)

    async def remove_trigger(self, trigger: str) -> None:
        """Remove a trigger. What it fired stays on record."""
        await self.connection.delete(f"/triggers/{part(trigger)}")

    # memories

    async def memories(
        self,
        agent: str,
        *,
        user: str | None = None,
        type: str | None = None,
        superseded: bool = False,
        after: str | None = None,
        limit: int = 100,
    ) -> tuple[MemoryView, ...]:
        """What an agent remembers, newest first; `after` is the last memory of the previous page.

        `user`: only what belongs to the agent and this user; an empty text is nobody."""
        found: builtins.list[MemoryView] = []
        while True:
            page = await self.connection.get(
                f"/agents/{part(agent)}/memories",
                Memories,
                user=user,
                type=type,
                superseded=superseded,
                after=after,
                limit=min(limit - len(found), AT_A_TIME),
            )
            found += page.memories
            after = page.next
            if after is None or len(found) >= limit:
                return tuple(found)

    async def search_memories(
        self, agent: str, query: str, *, user: str | None = None, type: str | None = None, limit: int = 10
    ) -> tuple[MemoryView, ...]:
        """What an agent remembers about the words of a query, best first, with scores."""
        most, path = min(limit, AT_A_TIME), f"/agents/{part(agent)}/memories"
        return (await self.connection.get(path, Memories, q=query, user=user, type=type, limit=most)).memories

    async def memory(self, agent: str, id: str) -> MemoryView:
        """One memory with all of its content, superseded or not."""
        return await self.connection.get(f"/agents/{part(agent)}/memories/{part(id)}", MemoryView)

    async def delete_memories(self, agent: str, ids: Sequence[str]) -> tuple[ForgottenMemory, ...]:
        """Delete memories for good: rows, words, vectors and artifacts, overwritten in the file.

        Each answer names the conversations whose history still has it."""
        path = f"/agents/{part(agent)}/memories/delete"
        return (await self.connection.post(path, ForgottenMemories, {"ids": builtins.list(ids)})).deleted

    async def export_memories(self, agent: str, *, user: str | None = None) -> AsyncGenerator[MemoryView, None]:
        """All memories of an agent with all of their content, oldest first, also those that were superseded."""
        found: builtins.list[MemoryView] = []
        while page := await self.memories(
            agent, user=user, superseded=True, after=found[-1].id if found else None, limit=AT_A_TIME
        ):
            found += page
        for memory in reversed(found):
            yield memory if memory.artifact is None else await self.memory(agent, memory.id)

    # credits

    async def credits(self) -> CreditsView:
        """The state of the project's account."""
        return await self.connection.get("/credits", CreditsView)

    async def top_up(self, amount: int) -> CreditsView:
        """Add credits to the project's account. Exhausted runs go on in a `retry`."""
        return await self.connection.post("/credits/top-up", CreditsView, {"amount": amount})

    async def usage(
        self, run: str | None = None, *, workflow: str | None = None, day: str | None = None, tree: bool = False
    ) -> tuple[UsageView, ...]:
        """What was used, by day, run and node: of a run, of a workflow, on a day (`2026-05-04`), or all of it.

        `tree`: of a run and of all that it called."""
        query = {"run": run, "workflow": workflow, "day": day, "tree": tree}
        return (await self.connection.get("/credits/usage", UsageByNode, **query)).usage


def files_of(source: Source) -> list[JsonObject]:
    """The files of a source as a server takes them, by their own names if these differ, else by their paths."""
    texts = texts_of(source)
    names = [PurePath(name).name for name, _ in texts]
    short = len(set(names)) == len(names)
    return [{"name": own if short else name, "text": text} for own, (name, text) in zip(names, texts, strict=True)]


@opens("jeton.connect")
async def connect(url: str, *, key: str | None = None) -> AsyncGenerator[RemoteEngine, None]:
    """Connect to a server: the methods of an engine, over HTTP. Without a key, `$JETON_KEY` is used.

    `async with jeton.connect("http://127.0.0.1:8765", key="jtn_…") as engine:`"""
    connection = Connection(url, key if key is not None else os.environ.get(KEY_VARIABLE))
    try:
        yield RemoteEngine(connection)
    finally:
        await connection.close()

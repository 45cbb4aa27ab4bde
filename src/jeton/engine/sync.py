"""The engine without `await`, for scripts: the same methods, run on an event loop in a thread of its own.

Generated from the async engine by `make sync`; do not edit.
"""

from __future__ import annotations  # as the modules have it that these methods are from

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from os import PathLike

from jeton.actor.retention import Pruned
from jeton.engine.build.agent import Agent
from jeton.engine.build.source import Built, Source
from jeton.engine.control import CancelAnswer
from jeton.engine.credits import CreditsView, UsageView
from jeton.engine.deploy.deploying import Deployment
from jeton.engine.engine import DAY_MS, Engine
from jeton.engine.look.sync import SyncQueries
from jeton.engine.loop_thread import LoopThread
from jeton.engine.mcp.pins import PinView
from jeton.engine.misuse import opens_sync
from jeton.engine.opening import GRACE_S, open
from jeton.engine.reply import Reply
from jeton.engine.run import Run
from jeton.engine.stores import Durability
from jeton.engine.talk.sync import SyncConversation
from jeton.engine.triggers import TriggerView
from jeton.engine.views.conversation import ConversationRow, ConversationView
from jeton.engine.views.firings import Delivered, FiringView
from jeton.engine.views.flows import Overrides
from jeton.engine.views.memory import ForgottenMemory, MemoryView
from jeton.engine.views.record import RunRecord
from jeton.model.definition.workflow import Library
from jeton.model.failure import Problem
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import TERMINAL, RunStatus


class SyncRun:
    """One run. Each method does what the method of `Run` with the same name does."""

    def __init__(self, run: Run, loop: LoopThread) -> None:
        self._run = run
        self._loop = loop
        self.id = run.id
        self.new = run.new

    def __repr__(self) -> str:
        return f"SyncRun({self.id!r})"

    def result(self, timeout: float | None = None) -> RunRecord:
        """Wait for the run's end, whatever its status. Raises TimeoutError if it has not ended in time."""
        return self._loop.wait(self._run.result(timeout))

    def record(self) -> RunRecord:
        """The run's current record."""
        return self._loop.wait(self._run.record())

    def events(self, after: int = -1, *, follow: bool = True) -> Iterator[JsonObject]:
        """The run's events behind a sequence number, until it has ended."""
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
        """Answer a gate of the run."""
        return self._loop.wait(self._run.answer(value, gate=gate, node=node, path=path, by=by))

    def signal(self, name: str, value: Json = None, *, key: str | None = None) -> Reply:
        """Send the run a value under a name."""
        return self._loop.wait(self._run.signal(name, value, key=key))

    def cancel(self, reason: str = "") -> CancelAnswer:
        """Stop the run."""
        return self._loop.wait(self._run.cancel(reason))


class SyncEngine(SyncQueries):
    """All runs of one store. Each method does what the method of `Engine` with the same name does."""

    def __init__(self, engine: Engine, loop: LoopThread) -> None:
        super().__init__(engine, loop)
        self._engine = engine

    def deploy(self, source: Source) -> Deployment:
        """Store definitions. Raises DefinitionError with every problem. The same definition is the same version."""
        return self._loop.wait(self._engine.deploy(source))

    def deploy_library(self, library: Library, file: str | None, warnings: tuple[Problem, ...] = ()) -> Deployment:
        """Store definitions that were loaded and checked. `file` is where they are declared."""
        return self._loop.wait(self._engine.deploy_library(library, file, warnings))

    def deployed(self) -> tuple[str, ...]:
        """The names of all that was deployed: workflows, flows, and agents as `agent:NAME`."""
        return self._loop.wait(self._engine.deployed())

    def mcp_pins(self, server: str | None = None) -> tuple[PinView, ...]:
        """The tools of MCP servers that are pinned: of one server, or of all."""
        return self._loop.wait(self._engine.mcp_pins(server))

    def pin_mcp(
        self, server: str, tool: str | None = None, *, settings: JsonObject | None = None, folder: str = "."
    ) -> tuple[PinView, ...]:
        """Pin a tool of an MCP server as it is now, or all that are pinned, and return the new pins.

        The server is started or reached as `settings` (`project.settings`) say; without them, as the definitions say
        that were deployed. `folder` is that of the store. Raises Refused if the server cannot be reached."""
        return self._loop.wait(self._engine.pin_mcp(server, tool, settings=settings, folder=folder))

    def workflow(self, reference: str) -> Library:
        """A deployed workflow with all it calls. Raises Refused if there is none."""
        return self._loop.wait(self._engine.workflow(reference))

    def start(
        self,
        workflow: str | Built,
        input: object = None,
        *,
        key: str | None = None,
        overrides: Overrides | None = None,
        trace: bool = False,
        credits: int | None = None,
        traceparent: str | None = None,
    ) -> SyncRun:
        """Start a run of a workflow or a flow: by name, by `name@3`, or one built in Python, which is deployed first.

        One run per workflow and `key`: starting it again gives the same run. Raises InputInvalid, and makes no run,
        for an input that does not fit. `overrides` are inputs of a flow's nodes for this run, by node and handle.
        With `trace` the run's events include what was decided. `credits` is all that the run, with the runs it calls,
        may cost; without it the project's account pays, if there is one. `traceparent` is the header of that name (W3C
        Trace Context) of a request that led to the run: its spans go on with that trace. What is none is ignored."""
        return SyncRun(
            self._loop.wait(
                self._engine.start(
                    workflow, input, key=key, overrides=overrides, trace=trace, credits=credits, traceparent=traceparent
                )
            ),
            self._loop,
        )

    def converse(
        self, agent: str | Agent, *, key: str | None = None, user: str | None = None, conversation: str | None = None
    ) -> SyncConversation:
        """Begin a conversation with an agent, or go on with one. One conversation per agent and `key`.

        The agent is given by name, by `name@3`, or as one built in Python, which is deployed first. `user` is who
        speaks in it; an agent with `scope: user` keeps memories for each user apart."""
        return SyncConversation(
            self._loop.wait(self._engine.converse(agent, key=key, user=user, conversation=conversation)), self._loop
        )

    def conversation(self, conversation: str) -> ConversationView:
        """A conversation with all its turns."""
        return self._loop.wait(self._engine.conversation(conversation))

    def conversations(
        self, *, agent: str | None = None, active: bool = False, after: str | None = None, limit: int = 100
    ) -> tuple[ConversationRow, ...]:
        """Conversations, newest first; `after` is the last one of the previous page.

        With `active`, only those in which a turn moves."""
        return self._loop.wait(self._engine.conversations(agent=agent, active=active, after=after, limit=limit))

    def run(self, run: str) -> SyncRun:
        """A run that was started before. Raises Refused if there is none of that name."""
        return SyncRun(self._loop.wait(self._engine.run(run)), self._loop)

    def cancel(self, run: str, reason: str = "") -> CancelAnswer:
        """Stop a run. Whichever of cancel, timeout and completion is committed first wins; the answer says which.

        Beside an owner that does not answer in time, the outcome is `sent`: the run may still complete."""
        return self._loop.wait(self._engine.cancel(run, reason))

    def pause(self, run: str) -> RunRecord:
        """Keep a run, and those it called, from starting anything new. Running tasks finish, and results count.

        Beside an owner that does not answer in time, the record is not `paused` yet."""
        return self._loop.wait(self._engine.pause(run))

    def unpause(self, run: str) -> RunRecord:
        """Let a paused run go on."""
        return self._loop.wait(self._engine.unpause(run))

    def fork(self, run: str, at: int, writes: Mapping[str, Json] | None = None) -> SyncRun:
        """Start a new run that shares this one's history up to journal entry `at`.

        `writes` go into its state first: paths such as `state.verdict`. What was done by then is not done again.
        A flow has no state to write to."""
        return SyncRun(self._loop.wait(self._engine.fork(run, at, writes)), self._loop)

    def retry(self, run: str, *, credits: int = 0) -> SyncRun:
        """Start a new run that does again what this one failed at: its fork at the end.

        `credits` are added to what a run that was started with its own has left."""
        return SyncRun(self._loop.wait(self._engine.retry(run, credits=credits)), self._loop)

    def idle(self) -> None:
        """Wait until nothing moves: every run has ended, or waits for a time or for people."""
        self._loop.wait(self._engine.idle())

    def prune(
        self,
        *,
        older_than_ms: int = 30 * DAY_MS,
        statuses: Collection[RunStatus] = TERMINAL,
        workflow: str | None = None,
        dry_run: bool = False,
    ) -> Pruned:
        """Remove runs that ended longer ago than this, with their history. `dry_run` only counts them.

        Start keys are kept: a key that started a run starts no other."""
        return self._loop.wait(
            self._engine.prune(older_than_ms=older_than_ms, statuses=statuses, workflow=workflow, dry_run=dry_run)
        )

    @property
    def needs_app(self) -> dict[RunId, str]:
        """Runs that are parked because a Python function of theirs is not here, and the function's name."""
        return self._engine.needs_app

    @property
    def set_aside(self) -> dict[RunId, str]:
        """Runs that are left alone because the process ended three times while it advanced them, each with the problem.

        `unpause` tries one again, `cancel` ends it."""
        return self._engine.set_aside

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
        """Answer a gate: the one with this id, the one at this node, which may not be open yet, or the only one open.

        Without a name it is the run's own gate, else that of a run it called. Raises Refused for an answer that is
        not accepted: it does not fit, the gate asks other people, the gate is closed, the run has ended."""
        return self._loop.wait(self._engine.answer(run, value, gate=gate, node=node, path=path, by=by))

    def signal(self, run: str, name: str, value: Json = None, *, key: str | None = None) -> Reply:
        """Send a run a value under a name: the token that waits longest for it goes on; without one it is kept.

        The same `key` twice is one signal. Raises Refused for a value that does not fit, and when the run has ended."""
        return self._loop.wait(self._engine.signal(run, name, value, key=key))

    def triggers(self) -> tuple[TriggerView, ...]:
        """All triggers, by name."""
        return self._loop.wait(self._engine.triggers())

    def firings(
        self, trigger: str | None = None, *, run: str | None = None, limit: int = 100
    ) -> tuple[FiringView, ...]:
        """Results of deliveries, newest first: to one trigger or to all, or the one that started a run."""
        return self._loop.wait(self._engine.firings(trigger, run=run, limit=limit))

    def fire(self, trigger: str, payload: object = None, *, delivery_id: str | None = None) -> FiringView:
        """Fire a trigger by hand. The same delivery id fires once: the second time gives what the first one gave.

        Raises Refused if it may not fire: the workflow is disabled, is not there, or takes no such input."""
        return self._loop.wait(self._engine.fire(trigger, payload, delivery_id=delivery_id))

    def deliver_webhook(
        self, path: str, body: bytes, headers: Mapping[str, str], delivery_id: str | None = None
    ) -> Delivered:
        """Take a request to `/hooks/{path}`: check its signature, then its body, and fire the trigger.

        The sender's own delivery id is taken from the headers unless it is given; without one, every request fires.
        Raises Refused, with the codes `unknown_hook`, `bad_signature`, `input_invalid` and those of `fire`."""
        return self._loop.wait(self._engine.deliver_webhook(path, body, headers, delivery_id))

    def enable(self, workflow: str) -> None:
        """Let triggers start a workflow or flow again."""
        self._loop.wait(self._engine.enable(workflow))

    def disable(self, workflow: str) -> None:
        """Stop triggers from starting a workflow or flow until it is enabled. It can still be started by name."""
        self._loop.wait(self._engine.disable(workflow))

    def remove_trigger(self, trigger: str) -> None:
        """Remove a trigger. What it fired stays on record."""
        self._loop.wait(self._engine.remove_trigger(trigger))

    def memories(
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
        return self._loop.wait(
            self._engine.memories(agent, user=user, type=type, superseded=superseded, after=after, limit=limit)
        )

    def search_memories(
        self, agent: str, query: str, *, user: str | None = None, type: str | None = None, limit: int = 10
    ) -> tuple[MemoryView, ...]:
        """What an agent remembers about the words of a query, best first, with scores."""
        return self._loop.wait(self._engine.search_memories(agent, query, user=user, type=type, limit=limit))

    def memory(self, agent: str, id: str) -> MemoryView:
        """One memory with all of its content, superseded or not."""
        return self._loop.wait(self._engine.memory(agent, id))

    def delete_memories(self, agent: str, ids: Sequence[str]) -> tuple[ForgottenMemory, ...]:
        """Delete memories for good: rows, words, vectors and artifacts, overwritten in the file.

        Also works beside the owner of the store. Each answer names the conversations whose history still has it."""
        return self._loop.wait(self._engine.delete_memories(agent, ids))

    def export_memories(self, agent: str, *, user: str | None = None) -> Iterator[MemoryView]:
        """All memories of an agent with all of their content, oldest first, also those that were superseded."""
        return self._loop.each(self._engine.export_memories(agent, user=user))

    def credits(self) -> CreditsView:
        """The state of the project's account."""
        return self._loop.wait(self._engine.credits())

    def top_up(self, amount: int) -> CreditsView:
        """Add credits to the project's account. Exhausted runs go on in a `retry`."""
        return self._loop.wait(self._engine.top_up(amount))

    def usage(
        self, run: str | None = None, *, workflow: str | None = None, day: str | None = None, tree: bool = False
    ) -> tuple[UsageView, ...]:
        """What was used, by day, run and node: of a run, of a workflow, on a day (`2026-05-04`), or all of it.

        `tree`: of a run and of all that it called."""
        return self._loop.wait(self._engine.usage(run, workflow=workflow, day=day, tree=tree))


@opens_sync
def open_sync(
    store: str | PathLike[str],
    *,
    durability: Durability = "full",
    owner: bool = True,
    work: bool = True,
    grace_s: float = GRACE_S,
) -> Generator[SyncEngine, None, None]:
    """Open a store for code that is not async, as `open` does. Runs go on in the background between calls."""
    with LoopThread() as loop:
        opening = open(store, durability=durability, owner=owner, work=work, grace_s=grace_s)
        engine = loop.wait(opening.__aenter__())
        try:
            yield SyncEngine(engine, loop)
        finally:
            loop.wait(opening.__aexit__(None, None, None))

"""The engine: deploy definitions, start runs, query them and control them.

It checks arguments and calls a host through the `Host` protocol. The rules are in the layers below.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from jeton.actor.host import Host
from jeton.actor.queries.vitals import Census, Vitals
from jeton.actor.retention import Pruned, Rule
from jeton.actor.starts import NewRun
from jeton.definitions.bundle import bundle_of, deployable
from jeton.engine.arguments import check_credits, check_maybe_texts, check_startable, check_texts, check_whole
from jeton.engine.build.source import Built, Source, declared_in, is_built, load_source
from jeton.engine.control import CancelAnswer, Control
from jeton.engine.deploy.deploying import Deployment, deploy_library
from jeton.engine.input import check_input, plain_input
from jeton.engine.look.queries import Queries
from jeton.engine.lookup import Lookup
from jeton.engine.misuse import awaited
from jeton.engine.reply import Reply
from jeton.engine.run import Run
from jeton.engine.views.flows import Overrides, overrides_in
from jeton.engine.views.record import RunRecord
from jeton.executor.deltas import Deltas
from jeton.model.chat import Delta
from jeton.model.definition.workflow import Library
from jeton.model.failure import Problem
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.reference import parse_reference
from jeton.model.state.run import TERMINAL, RunStatus
from jeton.model.trace_parent import parse_traceparent

if TYPE_CHECKING:
    from jeton.actor.access.store import AccessStore
    from jeton.engine.browse.browse import Browse
    from jeton.engine.build.agent import Agent
    from jeton.engine.credits import Credits, CreditsView, UsageView
    from jeton.engine.mcp.pins import PinView
    from jeton.engine.talk.conversation import Conversation
    from jeton.engine.talk.conversations import Conversations
    from jeton.engine.talk.looking_back import LookingBack
    from jeton.engine.talk.memories import Memories
    from jeton.engine.triggers import Triggers, TriggerView
    from jeton.engine.views.conversation import ConversationRow, ConversationView
    from jeton.engine.views.firings import Delivered, FiringView
    from jeton.engine.views.memory import ForgottenMemory, MemoryView

DAY_MS = 24 * 60 * 60 * 1000
LONGEST_MS = 1 << 53


@awaited
class Engine(Queries):
    """All runs of one store, on any host."""

    def __init__(
        self,
        host: Host,
        deltas: Deltas | None = None,
        pin_tools: Callable[[Library], Awaitable[None]] | None = None,
    ) -> None:
        """`pin_tools` pins the tools of MCP servers that definitions use."""
        self._host = host
        self._pin_tools = pin_tools
        self._lookup = Lookup(host)
        super().__init__(self._lookup)
        self._control = Control(self._lookup, self._reading)
        self._deltas = deltas

    # each is loaded with its first use: a process that starts a run needs none of them

    @cached_property
    def _triggers(self) -> Triggers:
        from jeton.engine.triggers import Triggers

        return Triggers(self._lookup)

    @cached_property
    def _credits(self) -> Credits:
        from jeton.engine.credits import Credits

        return Credits(self._lookup)

    @cached_property
    def _conversations(self) -> Conversations:
        from jeton.engine.talk.conversations import Conversations

        return Conversations(self._lookup, self._deltas)

    @cached_property
    def _looking_back(self) -> LookingBack:
        from jeton.engine.talk.looking_back import LookingBack

        return LookingBack(self._lookup, self._conversations)

    @cached_property
    def _memories(self) -> Memories:
        from jeton.engine.talk.memories import Memories

        return Memories(self._lookup)

    @property
    def access(self) -> AccessStore:
        """The keys, sessions and saved queries of a server."""
        return self._host.access

    @cached_property
    def browse(self) -> Browse:
        """What a server's clients look through."""
        from jeton.engine.browse.browse import Browse

        return Browse(self._lookup)

    async def vitals(self) -> Vitals:
        """How the host fares: commits, runs in memory, messages that wait, and whether it can still write."""
        return await self._host.vitals()

    async def census(self) -> Census:
        """All runs by workflow and status, and the position of the line at which they were counted."""
        return await self._host.reads.census()

    def wall(self) -> int:
        """The system clock's time, in milliseconds."""
        return self._host.wall()

    # definitions

    async def deploy(self, source: Source) -> Deployment:
        """Store definitions. Raises DefinitionError with every problem. The same definition is the same version."""
        loaded = load_source(source)
        return await self.deploy_library(loaded.require(), declared_in(source), loaded.problems)

    async def deploy_library(
        self, library: Library, file: str | None, warnings: tuple[Problem, ...] = ()
    ) -> Deployment:
        """Store definitions that were loaded and checked. `file` is where they are declared."""
        deployment = await deploy_library(self._host, library, file, warnings)
        if self._pin_tools is not None and library.settings.get("mcp"):
            for name in deployable(library):
                await self._pin_tools(bundle_of(library, name))
        return deployment

    async def deployed(self) -> tuple[str, ...]:
        """The names of all that was deployed: workflows, flows, and agents as `agent:NAME`."""
        return tuple(await self._host.reads.deployed())

    async def mcp_pins(self, server: str | None = None) -> tuple[PinView, ...]:
        """The tools of MCP servers that are pinned: of one server, or of all."""
        from jeton.engine.mcp.pins import mcp_pins

        return await mcp_pins(self._host, server)

    async def pin_mcp(
        self, server: str, tool: str | None = None, *, settings: JsonObject | None = None, folder: str = "."
    ) -> tuple[PinView, ...]:
        """Pin a tool of an MCP server as it is now, or all that are pinned, and return the new pins.

        The server is started or reached as `settings` (`project.settings`) say; without them, as the definitions say
        that were deployed. `folder` is that of the store. Raises Refused if the server cannot be reached."""
        check_texts(server=server, folder=folder)
        check_maybe_texts(tool=tool)
        from jeton.engine.mcp.pins import pin_again

        return await pin_again(self._host, server, tool, settings, Path(folder).absolute())

    async def workflow(self, reference: str) -> Library:
        """A deployed workflow with all it calls. Raises Refused if there is none."""
        return await self._reading.workflow(reference)

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
    ) -> Run:
        """Start a run of a workflow or a flow: by name, by `name@3`, or one built in Python, which is deployed first.

        One run per workflow and `key`: starting it again gives the same run. Raises InputInvalid, and makes no run,
        for an input that does not fit. `overrides` are inputs of a flow's nodes for this run, by node and handle.
        With `trace` the run's events include what was decided. `credits` is all that the run, with the runs it calls,
        may cost; without it the project's account pays, if there is one. `traceparent` is the header of that name (W3C
        Trace Context) of a request that led to the run: its spans go on with that trace. What is none is ignored.
        """
        if key is not None:
            check_texts(key=key)
        if traceparent is not None:
            check_texts(traceparent=traceparent)
        if credits is not None:
            check_credits("credits", credits)
        if is_built(workflow):
            await self.deploy(workflow)
        else:
            check_texts(workflow=workflow)
        name, version = parse_reference(workflow if isinstance(workflow, str) else workflow.name)
        check_startable(name)
        bundle, version = await self._lookup.bundle(name, version)
        value = plain_input({} if input is None else input)
        check_input(await self._lookup.program(name, version), value)
        given = {} if overrides is None else overrides_in(bundle, name, overrides)
        under = None if traceparent is None else parse_traceparent(traceparent)
        new = NewRun(name, version, value, key, overrides=given, credits=credits, under=under)
        started = await self._host.start(new)
        return Run(self, started.run, trace=trace, new=started.new)

    async def converse(
        self, agent: str | Agent, *, key: str | None = None, user: str | None = None, conversation: str | None = None
    ) -> Conversation:
        """Begin a conversation with an agent, or go on with one. One conversation per agent and `key`.

        The agent is given by name, by `name@3`, or as one built in Python, which is deployed first. `user` is who
        speaks in it; an agent with `scope: user` keeps memories for each user apart."""
        from jeton.engine.talk.conversation import Conversation

        if not isinstance(agent, str):
            from jeton.engine.build.agent import Agent

            # anything else is refused below, as a name that is no text
            if isinstance(agent, Agent):  # pyright: ignore[reportUnnecessaryIsInstance]
                await self.deploy(agent)
                agent = agent.name
        if conversation is not None:
            return Conversation(self, self._looking_back, (await self._conversations.row(conversation)).run)
        return Conversation(self, self._looking_back, await self._conversations.begin(agent, key, user))

    async def conversation(self, conversation: str) -> ConversationView:
        """A conversation with all its turns."""
        return await self._conversations.view(conversation)

    async def conversations(
        self, *, agent: str | None = None, active: bool = False, after: str | None = None, limit: int = 100
    ) -> tuple[ConversationRow, ...]:
        """Conversations, newest first; `after` is the last one of the previous page.

        With `active`, only those in which a turn moves."""
        return await self._conversations.list(agent, after, limit, active)

    def listen_to_deltas(self, conversation: str, listener: Callable[[Delta], None]) -> Callable[[], None]:
        """Call a function with each piece of an answer while it is made. Returns a function that ends this."""
        deltas = self._conversations.deltas
        return (lambda: None) if deltas is None else deltas.listen(conversation, listener)

    async def run(self, run: str) -> Run:
        """A run that was started before. Raises Refused if there is none of that name."""
        return Run(self, (await self._lookup.row(run)).run)

    async def cancel(self, run: str, reason: str = "") -> CancelAnswer:
        """Stop a run. Whichever of cancel, timeout and completion is committed first wins; the answer says which.

        Beside an owner that does not answer in time, the outcome is `sent`: the run may still complete."""
        return await self._control.cancel(run, reason)

    async def pause(self, run: str) -> RunRecord:
        """Keep a run, and those it called, from starting anything new. Running tasks finish, and results count.

        Beside an owner that does not answer in time, the record is not `paused` yet."""
        return await self._control.pause(run, paused=True)

    async def unpause(self, run: str) -> RunRecord:
        """Let a paused run go on."""
        return await self._control.pause(run, paused=False)

    async def fork(self, run: str, at: int, writes: Mapping[str, Json] | None = None) -> Run:
        """Start a new run that shares this one's history up to journal entry `at`.

        `writes` go into its state first: paths such as `state.verdict`. What was done by then is not done again.
        A flow has no state to write to."""
        return Run(self, await self._control.fork(run, at, writes))

    async def retry(self, run: str, *, credits: int = 0) -> Run:
        """Start a new run that does again what this one failed at: its fork at the end.

        `credits` are added to what a run that was started with its own has left."""
        return Run(self, await self._control.retry(run, credits))

    async def idle(self) -> None:
        """Wait until nothing moves: every run has ended, or waits for a time or for people."""
        await self._host.idle()

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
        check_whole("older_than_ms", older_than_ms, 0, LONGEST_MS)
        check_maybe_texts(workflow=workflow)
        rule = Rule("run", older_than_ms, frozenset(statuses), workflow)
        return await self._host.prune((rule,), dry_run=dry_run)

    @property
    def needs_app(self) -> dict[RunId, str]:
        """Runs that are parked because a Python function of theirs is not here, and the function's name."""
        return dict(self._host.needs_app)

    @property
    def set_aside(self) -> dict[RunId, str]:
        """Runs that are left alone because the process ended three times while it advanced them, each with the problem.

        `unpause` tries one again, `cancel` ends it."""
        return {run: refused.problem for run, refused in self._host.set_aside.items()}

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
        return await self._control.answer(run, value, gate, node, path, by)

    async def signal(self, run: str, name: str, value: Json = None, *, key: str | None = None) -> Reply:
        """Send a run a value under a name: the token that waits longest for it goes on; without one it is kept.

        The same `key` twice is one signal. Raises Refused for a value that does not fit, and when the run has ended."""
        return await self._control.signal(run, name, value, key)

    # triggers

    async def triggers(self) -> tuple[TriggerView, ...]:
        """All triggers, by name."""
        return await self._triggers.list()

    async def firings(
        self, trigger: str | None = None, *, run: str | None = None, limit: int = 100
    ) -> tuple[FiringView, ...]:
        """Results of deliveries, newest first: to one trigger or to all, or the one that started a run."""
        return await self._triggers.firings(trigger, run=run, limit=limit)

    async def fire(self, trigger: str, payload: object = None, *, delivery_id: str | None = None) -> FiringView:
        """Fire a trigger by hand. The same delivery id fires once: the second time gives what the first one gave.

        Raises Refused if it may not fire: the workflow is disabled, is not there, or takes no such input."""
        return await self._triggers.fire(trigger, payload, delivery_id=delivery_id)

    async def deliver_webhook(
        self, path: str, body: bytes, headers: Mapping[str, str], delivery_id: str | None = None
    ) -> Delivered:
        """Take a request to `/hooks/{path}`: check its signature, then its body, and fire the trigger.

        The sender's own delivery id is taken from the headers unless it is given; without one, every request fires.
        Raises Refused, with the codes `unknown_hook`, `bad_signature`, `input_invalid` and those of `fire`."""
        return await self._triggers.deliver_webhook(path, body, headers, delivery_id)

    async def enable(self, workflow: str) -> None:
        """Let triggers start a workflow or flow again."""
        await self._triggers.enable(workflow)

    async def disable(self, workflow: str) -> None:
        """Stop triggers from starting a workflow or flow until it is enabled. It can still be started by name."""
        await self._triggers.disable(workflow)

    async def remove_trigger(self, trigger: str) -> None:
        """Remove a trigger. What it fired stays on record."""
        await self._triggers.remove_trigger(trigger)

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
        return await self._memories.list(agent, user, type, superseded, after, limit)

    async def search_memories(
        self, agent: str, query: str, *, user: str | None = None, type: str | None = None, limit: int = 10
    ) -> tuple[MemoryView, ...]:
        """What an agent remembers about the words of a query, best first, with scores."""
        return await self._memories.search(agent, query, user, type, limit)

    async def memory(self, agent: str, id: str) -> MemoryView:
        """One memory with all of its content, superseded or not."""
        return await self._memories.get(agent, id)

    async def delete_memories(self, agent: str, ids: Sequence[str]) -> tuple[ForgottenMemory, ...]:
        """Delete memories for good: rows, words, vectors and artifacts, overwritten in the file.

        Also works beside the owner of the store. Each answer names the conversations whose history still has it."""
        return await self._memories.delete(agent, ids)

    def export_memories(self, agent: str, *, user: str | None = None) -> AsyncGenerator[MemoryView, None]:
        """All memories of an agent with all of their content, oldest first, also those that were superseded."""
        return self._memories.export(agent, user)

    # credits

    async def credits(self) -> CreditsView:
        """The state of the project's account."""
        return await self._credits.account()

    async def top_up(self, amount: int) -> CreditsView:
        """Add credits to the project's account. Exhausted runs go on in a `retry`."""
        return await self._credits.top_up(amount)

    async def usage(
        self, run: str | None = None, *, workflow: str | None = None, day: str | None = None, tree: bool = False
    ) -> tuple[UsageView, ...]:
        """What was used, by day, run and node: of a run, of a workflow, on a day (`2026-05-04`), or all of it.

        `tree`: of a run and of all that it called."""
        return await self._credits.usage(run, workflow=workflow, day=day, tree=tree)

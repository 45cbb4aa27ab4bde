"""The engine: deploy definitions, start runs, query them and control them.

It checks arguments and calls a host through the `Host` protocol. The rules are in the layers below.
"""

from collections.abc import AsyncGenerator, Collection, Mapping

from msgspec import UNSET, UnsetType

from jeton.actor.host import Host
from jeton.actor.retention import Pruned, Rule
from jeton.actor.starts import NewRun
from jeton.engine.arguments import check_credits, check_maybe_texts, check_texts, check_whole
from jeton.engine.build.source import Built, Source, declared_in, is_built, load_source
from jeton.engine.control import CancelAnswer, Control
from jeton.engine.credits import Credits, CreditsView, UsageView
from jeton.engine.deploying import Deployment, deploy_library
from jeton.engine.input import check_input, plain_input
from jeton.engine.lookup import Lookup
from jeton.engine.misuse import awaited
from jeton.engine.reading import Context, Reading
from jeton.engine.reply import Reply
from jeton.engine.run import Run
from jeton.engine.triggers import Triggers, TriggerView
from jeton.engine.views.explain.views import Explanation
from jeton.engine.views.firings import FiringView
from jeton.engine.views.flows import Overrides, overrides_in
from jeton.engine.views.gates import GateView
from jeton.engine.views.published import EmittedEvent, MetricValue
from jeton.engine.views.record import RunRecord
from jeton.engine.views.tokens import TokenView
from jeton.engine.views.what_if import WhatIf
from jeton.model.definition.workflow import Library
from jeton.model.entry import Entry
from jeton.model.failure import Problem
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.reference import parse_reference
from jeton.model.state.run import TERMINAL, RunStatus

DAY_MS = 24 * 60 * 60 * 1000
LONGEST_MS = 1 << 53


@awaited
class Engine:
    """All runs of one store, on any host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lookup = Lookup(host)
        self._reading = Reading(self._lookup)
        self._control = Control(self._lookup, self._reading)
        self._triggers = Triggers(self._lookup)
        self._credits = Credits(self._lookup)

    # definitions

    async def deploy(self, source: Source) -> Deployment:
        """Store definitions. Raises DefinitionError with every problem. The same definition is the same version."""
        loaded = load_source(source)
        return await self.deploy_library(loaded.require(), declared_in(source), loaded.problems)

    async def deploy_library(
        self, library: Library, file: str | None, warnings: tuple[Problem, ...] = ()
    ) -> Deployment:
        """Store definitions that were loaded and checked. `file` is where they are declared."""
        return await deploy_library(self._host, library, file, warnings)

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
    ) -> Run:
        """Start a run of a workflow or a flow: by name, by `name@3`, or one built in Python, which is deployed first.

        One run per workflow and `key`: starting it again gives the same run. Raises InputInvalid, and makes no run,
        for an input that does not fit. `overrides` are inputs of a flow's nodes for this run, by node and handle.
        With `trace` the run's events include what was decided. `credits` is all that the run, with the runs it calls,
        may cost; without it the project's account pays, if there is one.
        """
        check_maybe_texts(key=key)
        if credits is not None:
            check_credits("credits", credits)
        if is_built(workflow):
            await self.deploy(workflow)
        else:
            check_texts(workflow=workflow)
        name, version = parse_reference(workflow if isinstance(workflow, str) else workflow.name)
        bundle, version = await self._lookup.bundle(name, version)
        value = plain_input({} if input is None else input)
        check_input(await self._lookup.program(name, version), value)
        given = {} if overrides is None else overrides_in(bundle, name, overrides)
        started = await self._host.start(NewRun(name, version, value, key, overrides=given, credits=credits))
        return Run(self, started.run, trace=trace)

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

    # queries

    async def get(self, run: str) -> RunRecord:
        """A run's record."""
        return await self._reading.get(run)

    async def list(
        self,
        *,
        workflow: str | None = None,
        status: RunStatus | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> tuple[RunRecord, ...]:
        """Runs, newest first; `after` is the last run of the previous page.

        A damaged run keeps its status, and has the error `run_damaged`."""
        return await self._reading.list(workflow=workflow, status=status, after=after, limit=limit)

    async def children(self, run: str) -> tuple[RunRecord, ...]:
        """The runs it called, in order; not those that they called."""
        return await self._reading.children(run)

    async def ended(self, run: str, timeout: float | None = None) -> RunRecord:
        """Wait for a run's end. Raises TimeoutError if it has not ended in time; the run goes on."""
        return await self._reading.ended(run, timeout)

    async def gates(self, run: str | None = None) -> tuple[GateView, ...]:
        """Open gates, oldest first: of one run and the runs it called, or of all."""
        return await self._reading.gates(run)

    def events(
        self, run: str, after: int | Mapping[str, int] = -1, *, follow: bool = False, trace: bool = False
    ) -> AsyncGenerator[JsonObject, None]:
        """The events of a run and of the runs it called, each with its own `run_id` and `seq`; the run's end is last.

        `after` is a sequence number of the run itself, or one for each run: those up to it are left out, and so are
        runs that ended by then. With `follow`, also events to come, until the run has ended.
        """
        return self._reading.events(run, after, follow=follow, trace=trace)

    def tree(self, run: str, after: int = -1, *, follow: bool = False) -> AsyncGenerator[tuple[RunId, Entry], None]:
        """The journals of a run and of the runs it called, in an order in which they may have been made.

        Calls that ended by event `after` of the run are left out."""
        return self._reading.tree(run, after, follow=follow)

    def journal(self, run: str, after: int = -1, *, follow: bool = False) -> AsyncGenerator[Entry, None]:
        """A run's own journal entries, oldest first; with `follow`, also those to come, until the run has ended."""
        return self._reading.journal(run, after, follow=follow)

    async def tokens(self, run: str) -> tuple[TokenView, ...]:
        """Every token the run ever had."""
        return await self._reading.tokens(run)

    async def context(self, run: str, *, token: int | None = None) -> Context:
        """The run's data as it is now, or was when the run ended; with `token`, as that token sees or saw it."""
        return await self._reading.context(run, token)

    async def emitted(
        self, *, run: str | None = None, event: str | None = None, after: int = 0, limit: int = 100
    ) -> tuple[EmittedEvent, ...]:
        """Events that actions published, oldest first: of a run, of a name, or all, behind the number `after`."""
        return await self._reading.emitted(run=run, event=event, after=after, limit=limit)

    async def metrics(self, run: str | None = None) -> tuple[MetricValue, ...]:
        """What actions measured in a run; or in all runs, including those that were pruned."""
        return await self._reading.metrics(run)

    async def explain(self, run: str, *, token: int | None = None, transition: int | None = None) -> Explanation:
        """Why the run, one of its tokens or one of its transitions did what it did."""
        return await self._reading.explain(run, token=token, transition=transition)

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
        return await self._reading.simulate(run, token, result=result, failure=failure, arrives_at=arrives_at)

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
    ) -> FiringView:
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

"""A host in memory, in virtual time: an engine on it runs as on any other, deterministically for a seed."""

from collections.abc import Callable, Mapping, Sequence

from jeton.actor.access.store import MemoryAccessStore
from jeton.actor.queries.vitals import Vitals
from jeton.actor.retention import Pruned, Rule, uploads_kept_from
from jeton.actor.rows import FiringRow, RunRow
from jeton.actor.starts import (
    NewFork,
    NewRun,
    Started,
    StartKey,
    check_same_input,
    check_same_run,
    check_start,
    input_hash,
    run_exists,
    start_message,
    unknown_run,
)
from jeton.actor.storable import check_storable
from jeton.executor.event_sink import ActionEvent, MetricSample
from jeton.executor.mcp.pins import MemoryPinStore
from jeton.executor.memory import InMemoryStore
from jeton.hosts.simulated.driver import REACTIONS, Driver
from jeton.hosts.simulated.faults import FaultPlan
from jeton.hosts.simulated.memory.artifacts import MemoryArtifacts
from jeton.hosts.simulated.memory.definitions import Definitions
from jeton.hosts.simulated.memory.idempotency import IdempotencyKeys
from jeton.hosts.simulated.memory.listing import SimulatedListing
from jeton.hosts.simulated.memory.retention import prune
from jeton.hosts.simulated.observer import Observer
from jeton.hosts.simulated.reads import SimulatedReads
from jeton.hosts.simulated.script import Script, ScriptedAnswer
from jeton.hosts.simulated.signals import SimulatedSignals
from jeton.hosts.simulated.tasks import RealTasks
from jeton.hosts.simulated.world import World
from jeton.model.definition.agent import MemoryPolicy, agent_bundle, agent_of
from jeton.model.definition.trigger import Trigger
from jeton.model.definition.workflow import Library, memory_policy
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import Message, StartRun
from jeton.planning.triggers.firing import Delivery, Planned, plan_firing


class SimulatedHost:
    """Runs in a `World`. Fulfils `jeton.actor.host.Host`.

    Calls that wait let virtual time pass, step by step; other tasks of the event loop react to each step before time
    moves on. A `Script` answers every task; given answers by node, the tasks of all other nodes are really run."""

    def __init__(
        self,
        *,
        seed: int = 0,
        plan: FaultPlan | None = None,
        script: Script | Mapping[str, ScriptedAnswer] | None = None,
        observer: Observer | None = None,
        reactions: int = REACTIONS,
    ) -> None:
        """`reactions`: for how many iterations of the event loop other tasks may react to a step."""
        answers = script if isinstance(script, Script) else RealTasks(script or {}, seed)
        self._tasks = answers if isinstance(answers, RealTasks) else None
        self.world = World(
            Library(), seed=seed, plan=plan, script=answers, observer=observer, definitions=Definitions()
        )
        self._ids = 0
        self._store = self.world.store
        self._bundles = self._store.definitions.bundles
        self._driver = Driver(self.world, self._tasks, reactions=reactions)
        self.now = self.world.clock.now
        self.wall = self.world.clock.wall
        self.reads = SimulatedReads(self._store, self._driver)
        self.artifacts = MemoryArtifacts(self._store.tables.artifacts)
        self.idempotency = IdempotencyKeys(self.now)
        self.events = SimulatedEventSink(self.world)
        self.pins = MemoryPinStore()
        self.access = MemoryAccessStore()
        self.listing = SimulatedListing(self._store)
        self.memory = InMemoryStore(self.now, self._memory_policy)
        if self._tasks is not None:
            self._tasks.use(self.artifacts, self.idempotency, SimulatedSignals(self.world), self.pins, self.memory)

    def _memory_policy(self, agent: str) -> MemoryPolicy | None:
        found = self._bundles.find(agent_bundle(agent), None)
        return None if found is None else memory_policy(found[0], agent)

    @property
    def needs_app(self) -> Mapping[RunId, str]:
        return self.world.needs_app

    @property
    def set_aside(self) -> Mapping[RunId, Refused]:
        return {}  # a simulated process ends between batches only

    def new_id(self) -> str:
        self._ids += 1
        return f"id-{self._ids}"

    async def vitals(self) -> Vitals:
        """It has no file, no thread that writes, and no worker that it waits for: all is well, and nothing counted."""
        return Vitals()

    async def sleep(self, ms: int) -> None:
        """Let this much virtual time pass, with all that happens in it."""
        self._driver.check()
        until = self.world.clock.steady + ms
        self.world.after(ms, _nothing)
        await self._driver.until(lambda: self.world.clock.steady >= until)

    async def until(self, done: Callable[[], bool]) -> None:
        """Let virtual time pass until a condition holds, or until nothing more will happen by itself."""
        await self._driver.until(lambda: done() or self.world.next_at is None)

    # definitions and triggers

    async def deploy(self, bundle: Library, name: str) -> int:
        self._driver.check()
        if not (name in bundle.workflows or name in bundle.flows or agent_of(name) in bundle.agents):
            raise Refused("unknown_workflow", f"the bundle has no workflow '{name}'", "name one that it has")
        version = self._store.definitions.deploy(bundle, name, self.wall())
        self._bundles.set_newest(name, version)
        return version

    async def deploy_triggers(
        self, triggers: Mapping[str, Trigger], *, file: str = "", origins: Sequence[str] = ()
    ) -> list[str]:
        self._driver.check()
        removed = self._store.triggers.deploy(triggers, self.wall(), file, origins)
        self.world.triggers_changed()
        return removed

    async def remove_trigger(self, name: str) -> bool:
        self._driver.check()
        there = self._store.triggers.remove(name)
        self.world.triggers_changed()
        return there

    async def set_disabled(self, workflow: str, disabled: bool) -> None:
        self._driver.check()
        (self._store.triggers.disabled.add if disabled else self._store.triggers.disabled.discard)(workflow)

    async def fire(self, trigger: Trigger, delivery: Delivery) -> FiringRow:
        self._driver.check()
        firing = plan_firing(trigger, delivery, self._bundles.startable(trigger))
        row = self.world.fire(Planned(trigger, delivery, firing))
        if row.run is not None:
            await self._begun(row.run)
        return row

    # credits

    async def open_account(self, declared: int) -> None:
        self._driver.check()
        self._store.open_account(declared)

    async def top_up(self, amount: int) -> bool:
        self._driver.check()
        return self._store.top_up(amount)

    # runs

    async def start(self, new: NewRun) -> Started:
        self._driver.check()
        check_start(new)
        known = None if new.key is None else self._store.start_key(new.workflow, new.key)
        if known is not None:
            check_same_input(known, input_hash(new))
            await self._begun(known.run)
            return Started(known.run, new=False)
        if new.run is not None and self._store.has(new.run):
            if new.key is not None:
                raise run_exists(new.run)
            check_same_run(new.run, self._store.workflow(new.run), self._input(new.run), new)
            await self._begun(new.run)
            return Started(new.run, new=False)
        self._bundles.program(new.workflow, new.version)
        message = start_message(new, self.now())
        check_storable(message)
        run = new.run or self._store.new_run_id(new.workflow)
        key = None if new.key is None else StartKey(new.workflow, new.key, run, input_hash(new))
        self._store.submit(run, new.workflow, new.version, key)
        self.world.deliver(run, message)
        await self._begun(run)
        return Started(run, new=True)

    def _input(self, run: RunId) -> Json:
        """What a run was given, whether it has begun or not."""
        waiting = [message for message in self._store.inbox(run).values() if isinstance(message, StartRun)]
        return waiting[0].input if waiting else self.world.load(run).state.input

    async def _begun(self, run: RunId) -> None:
        self._driver.go_on()
        await self._driver.until(lambda: self._store.row(run) is not None)

    async def fork(self, fork: NewFork) -> RunId:
        self._driver.check()
        planned = self.world.begin_fork(fork)
        run = planned.live.state.head.run
        self.idempotency.share_steps(fork.run, run, planned.sleeping)
        await self._begun(run)
        return run

    async def deliver(self, run: RunId, message: Message) -> None:
        self._driver.check()
        check_storable(message)
        if not self._store.has(run):
            raise unknown_run(run)
        number = self.world.deliver(run, message)
        self._driver.go_on()
        await self._driver.until(lambda: not self._store.waits(run, number))

    async def ended(self, run: RunId) -> RunRow:
        self._driver.check()
        if not self._store.has(run):
            raise unknown_run(run)
        await self._driver.until(lambda: self._store.has_ended(run))
        row = self._store.row(run)
        if row is None:
            raise unknown_run(run)
        return row

    async def idle(self) -> None:
        await self._driver.until(lambda: self.world.idle)

    async def prune(self, rules: Sequence[Rule], *, dry_run: bool = False) -> Pruned:
        self._driver.check()
        pruned, gone = prune(self._store, rules, self.now(), dry_run=dry_run)
        for row in gone:
            self.idempotency.remove_steps(row.run)
            self.memory.forget_run(row.run)
        if not dry_run:
            await self.artifacts.release_uploads(uploads_kept_from(self.wall()))
            await self.artifacts.collect()
        return pruned

    async def close(self, grace_s: float = 5.0) -> None:
        await self._driver.close()
        if self._tasks is not None:
            await self._tasks.close()


class SimulatedEventSink:
    """Fulfils `jeton.executor.event_sink.EventSink`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def emit(self, event: ActionEvent) -> None:
        self._world.publish(event)

    async def measure(self, sample: MetricSample) -> None:
        self._world.store.triggers.measure(sample)


def _nothing() -> None:
    pass

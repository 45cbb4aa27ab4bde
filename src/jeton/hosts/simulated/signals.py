"""Signals that actions send on a simulated host."""

from collections.abc import Callable

from jeton.actor.replies import ended, heard, refusal
from jeton.actor.starts import unknown_run
from jeton.executor.signals import SentSignal
from jeton.hosts.simulated.world import World
from jeton.model.decision import ReplyTo
from jeton.model.message import SignalRun
from jeton.planning.plan_run import plan_run


class SimulatedSignals:
    """Signals of actions. Fulfils `jeton.executor.signals.Signals`.

    A task is worked out while time stands still, so the run's reply is planned before the signal is delivered."""

    def __init__(self, world: World, new_id: Callable[[], str]) -> None:
        self._world = world
        self._new_id = new_id

    async def send(self, sent: SentSignal) -> None:
        world = self._world
        if not world.store.has(sent.run):
            raise unknown_run(sent.run)
        state = world.load(sent.run).state
        if state.head.ended:
            if not heard(world.store.entries(sent.run), sent.key):
                raise ended(sent.run, state.head.status)
            return
        message = SignalRun(world.clock.now(), self._new_id(), sent.name, sent.value, sent.key)
        for decision in plan_run(world.program(sent.run), state, message).decisions:
            if isinstance(decision, ReplyTo) and not decision.accepted:
                raise refusal(decision, message)
        world.deliver(sent.run, message)

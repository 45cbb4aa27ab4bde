"""Signals that actions send on a simulated host."""

from jeton.actor.replies import ended, heard, refusal
from jeton.actor.starts import unknown_run
from jeton.executor.signals import SentSignal
from jeton.hosts.simulated.world import World
from jeton.model.decision import ReplyTo
from jeton.model.message import SignalRun
from jeton.planning.plan_run import plan_run


class SimulatedSignals:
    """Signals of actions. Fulfils `jeton.executor.signals.Signals`.

    A task is worked out while time stands still: the run's reply is planned as if the signal were there, and the signal
    is sent with the task's result."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._sent: list[SentSignal] = []

    def take(self) -> tuple[SentSignal, ...]:
        """The signals that were sent since this was last asked."""
        taken, self._sent = tuple(self._sent), []
        return taken

    async def send(self, sent: SentSignal) -> None:
        world = self._world
        if not world.store.has(sent.run):
            raise unknown_run(sent.run)
        state = world.load(sent.run).state
        if state.head.ended:
            if not heard(world.store.entries(sent.run), sent.key):
                raise ended(sent.run, state.head.status)
            return
        message = SignalRun(world.clock.now(), sent.key, sent.name, sent.value, sent.key)
        for decision in plan_run(world.program(sent.run), state, message).decisions:
            if isinstance(decision, ReplyTo) and not decision.accepted:
                raise refusal(decision, message)
        self._sent.append(sent)

"""Lets virtual time pass while a call waits for it."""

import asyncio
from asyncio import Future, Task
from collections.abc import Callable
from typing import TypeAlias

from jeton.hosts.simulated.tasks import RealTasks
from jeton.hosts.simulated.world import MOST_STEPS, World
from jeton.model.failure import Refused

REACTIONS = 20
"""Iterations of the event loop before virtual time moves on, so that other tasks can react to what happened."""

NO_END = "look for a loop without an end, or a worker that never answers"

_Waiter: TypeAlias = tuple[Callable[[], bool], "Future[None]"]


class Driver:
    """Takes a step of the world at a time, and lets other tasks of the event loop run in between.

    Time stands still when no call waits. When the agenda is empty, calls wait until something is put on it."""

    def __init__(self, world: World, tasks: RealTasks | None, *, reactions: int = REACTIONS) -> None:
        self._world = world
        self._reactions = reactions
        self._tasks = tasks
        self._waiting: list[_Waiter] = []
        self._driving: Task[None] | None = None
        self._refusing: Refused | None = None

    def check(self) -> None:
        """Raise Refused after the host was closed."""
        if self._refusing is not None:
            raise self._refusing

    async def until(self, done: Callable[[], bool]) -> None:
        """Let time pass until a condition holds."""
        self.check()
        if done():
            return
        waiter = done, asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self.go_on()
        try:
            await waiter[1]
        finally:
            self._waiting.remove(waiter)

    def go_on(self) -> None:
        """Go on if a call waits: something was put on the agenda."""
        if self._waiting and (self._driving is None or self._driving.done()):
            self._driving = asyncio.get_running_loop().create_task(self._drive())

    async def _drive(self) -> None:
        try:
            for _ in range(MOST_STEPS):  # a worker that never answers would keep it busy for ever
                self._tell()
                await self._let_others_react()
                if not self._waiting or not self._world.step():
                    break
                while self._tasks is not None and self._world.unanswered:
                    await self._tasks.work(self._world.unanswered.pop(0))
            else:
                raise Refused("never_ends", f"after {MOST_STEPS} steps what is waited for has not happened", NO_END)
            self._tell()
        except Exception as problem:
            for _, answer in self._waiting:
                if not answer.done():
                    answer.set_exception(problem)

    async def _let_others_react(self) -> None:
        at = self._world.next_at
        moves_on = at is not None and at > self._world.clock.steady
        for _ in range(self._reactions if moves_on else 1):
            await asyncio.sleep(0)

    def _tell(self) -> None:
        for done, answer in self._waiting:
            if not answer.done() and done():
                answer.set_result(None)

    async def close(self) -> None:
        """Refuse whatever is asked from now on."""
        self._refusing = Refused("store_closed", "the store is being closed", "open it again")
        if self._driving is not None:
            self._driving.cancel()
            await asyncio.gather(self._driving, return_exceptions=True)
        for _, answer in self._waiting:
            if not answer.done():
                answer.set_exception(self._refusing)

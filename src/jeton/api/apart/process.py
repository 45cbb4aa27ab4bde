"""Jobs in a process of their own, one at a time, each with a bound on its time.

Definitions are data, yet data can ask for more work than there is time for: a graph with more ways than can be walked,
a schema that refers to itself twice. A thread can neither be ended nor kept from holding up all others."""

import asyncio
import logging
import pickle
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress

from jeton.api.apart.jobs import Check, Checked, FailedJob, Job, RefusedJob, Result, Simulate
from jeton.api.apart.worker import LENGTH, READY
from jeton.model.failure import Refused
from jeton.testing.trials import Report

log = logging.getLogger("jeton.server")
START_S = 60
CHECK_S = 20
SIMULATE_S = 60
MOST_WAITING = 4  # jobs of one key, each of which may be 4 MiB
MOST_WAITING_OF_ALL = 32


class Apart:
    """One process, started for the first job, and again after one that had to be ended.

    It imports the same `app` as the server, so that definitions may name its actions."""

    def __init__(self, seconds: int, app: str | None = None) -> None:
        self._seconds = seconds
        self._app = app
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._waiting: dict[str, int] = {}  # jobs by key

    async def check(self, caller: str, job: Check) -> Checked:
        """Check definitions. Raises Refused if that takes too long."""
        found = await self._do(caller, job)
        assert isinstance(found, Checked)
        return found

    async def simulate(self, caller: str, job: Simulate) -> Report:
        """Simulate a definition. Raises Refused or DefinitionError, or Refused if that takes too long."""
        found = await self._do(caller, job)
        assert isinstance(found, Report)
        return found

    async def _do(self, caller: str, job: Job) -> Checked | Report:
        waiting = self._waiting.get(caller, 0)
        if waiting >= MOST_WAITING or sum(self._waiting.values()) >= MOST_WAITING_OF_ALL:
            raise Refused("rate_limited", "too many definitions are being looked at", "wait for those to be answered")
        self._waiting[caller] = waiting + 1
        try:
            async with self._turn:
                found = await self._result(job)
        finally:
            self._waiting[caller] -= 1
            if not self._waiting[caller]:
                del self._waiting[caller]
        match found:
            case RefusedJob():
                raise found.error()
            case FailedJob(bounded=True):
                raise _too_much("more memory than a request may have")
            case FailedJob():
                log.error("definitions could not be looked at: %s", found.traceback)
                raise RuntimeError("the process for definitions failed")
            case _:
                return found

    async def _result(self, job: Job) -> Result:
        content = pickle.dumps(job)
        for again in (True, False):
            try:
                process = await self._running()
                assert process.stdin is not None
                assert process.stdout is not None
                async with asyncio.timeout(self._seconds):
                    process.stdin.write(LENGTH.pack(len(content)) + content)
                    await process.stdin.drain()
                    size = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))[0]
                    found: Result = pickle.loads(await process.stdout.readexactly(size))
                    return found
            except TimeoutError:
                await self.close()
                raise _too_much(f"more than {self._seconds} seconds") from None
            except (OSError, asyncio.IncompleteReadError):  # it has ended: before the job came, or because of it
                await self.close()
                if not again:
                    log.error("the process for definitions ended, and the one after it")
            except asyncio.CancelledError:
                await self.close()
                raise
        raise _too_much("more than a request may have")

    async def _running(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            app = () if self._app is None else (self._app,)
            words = ("-m", "jeton.api.apart.worker", str(self._seconds), *app)
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, *words, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
            )
            assert self._process.stdout is not None
            async with asyncio.timeout(START_S):
                await self._process.stdout.readexactly(len(READY))
        return self._process

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _too_much(what: str) -> Refused:
    return Refused("bad_argument", f"to look at these definitions takes {what}", "send fewer, or simpler ones")

"""Processes for Python functions with `isolation: process`, which can be killed.

A process runs one call at a time and is reused. If a call is abandoned, its process is killed with all descendants.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import TypeAlias

import msgspec

from jeton.executor.call import CurrentCall
from jeton.executor.python.bytes_paths import Path
from jeton.executor.workers.supervised import STDOUT, SupervisedProcess
from jeton.model.codes import FailureName
from jeton.model.definition.profile import ModelProfile
from jeton.model.json import Json
from jeton.model.note import Note

DEFAULT_PROCESSES = 8
MAX_REPLY_BYTES = 16 * 1024 * 1024
WORKER = (sys.executable, "-m", "jeton.executor.workers.worker")


class WorkerRequest(msgspec.Struct, frozen=True):
    """One call of a function, by its reference."""

    function: str
    input: object  # plain JSON, and bytes where artifacts were referenced
    call: CurrentCall
    profiles: dict[str, ModelProfile] = {}


class WorkerFailure(msgspec.Struct, frozen=True):
    """A failed call."""

    type: FailureName
    message: str
    transient: bool = False
    retry_after_ms: int | None = None
    stack: str | None = None


class WorkerReply(msgspec.Struct, frozen=True, tag="reply"):
    """The result of a call. `last`: the process accepts no other."""

    failure: WorkerFailure | None = None
    value: Json = None
    contents: tuple[tuple[Path, bytes], ...] = ()  # taken out of the value
    last: bool = False


class WorkerNote(msgspec.Struct, frozen=True, tag="note"):
    """A note that a call sends before its reply."""

    note: Note


WorkerMessage: TypeAlias = WorkerReply | WorkerNote
"""What a process sends: any number of notes, then the reply."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder[WorkerMessage](WorkerMessage).decode


class ProcessPool:
    """Runs functions in processes. The lanes limit how many run at a time; idle processes are kept."""

    def __init__(self) -> None:
        self._idle: list[_Process] = []
        self._closed = False

    async def run(self, request: WorkerRequest, report: Callable[[Note], None]) -> WorkerReply:
        """The reply of the function. Notes go to `report`. If the caller is cancelled, the process is killed."""
        process = self._take_idle() or await _Process.start()
        done = False
        try:
            reply = await process.ask(request, report)
            done = process.child.alive and not reply.last
            return reply
        finally:
            if done and not self._closed:
                self._idle.append(process)
            else:
                await process.child.stop()

    async def close(self) -> None:
        """End the idle processes."""
        self._closed = True
        idle, self._idle = self._idle, []
        await asyncio.gather(*(process.child.stop() for process in idle))

    def _take_idle(self) -> "_Process | None":
        while self._idle:
            process = self._idle.pop()
            if process.child.alive:
                return process
        return None


class _Process:
    """One process, and the reply it is working on."""

    child: SupervisedProcess

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._reply: asyncio.Future[WorkerReply] | None = None
        self._report: Callable[[Note], None] | None = None

    @classmethod
    async def start(cls) -> "_Process":
        process = cls()
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}  # the worker can import what we can
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            process.child = await SupervisedProcess.start(
                WORKER, folder=folder, env=env, output=process._received, ended=process._ended, errors_too=False
            )
        finally:
            os.close(folder)
        return process

    async def ask(self, request: WorkerRequest, report: Callable[[Note], None]) -> WorkerReply:
        self._report = report
        self._reply = asyncio.get_running_loop().create_future()
        self.child.write(_encode(request) + b"\n")
        reply = await self._reply
        if reply is _LOST:
            return await self._how_it_ended()
        return reply

    async def _how_it_ended(self) -> WorkerReply:
        code = await self.child.ended()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return WorkerReply(
            WorkerFailure("process_died", f"the process of the function {how} before it replied", transient=True)
        )

    def _received(self, stream: int, data: bytes) -> None:
        assert stream == STDOUT
        searched = len(self._buffer)
        self._buffer += data
        while (end := self._buffer.find(b"\n", searched)) >= 0:
            line, searched = bytes(self._buffer[:end]), 0
            del self._buffer[: end + 1]
            self._handle(_decode(line))
        if len(self._buffer) > MAX_REPLY_BYTES:
            self._buffer.clear()
            problem = f"the result is larger than {MAX_REPLY_BYTES} bytes, the limit of a process"
            self._resolve(WorkerReply(WorkerFailure("too_large", problem), last=True))

    def _handle(self, message: WorkerMessage) -> None:
        if isinstance(message, WorkerReply):
            self._resolve(message)
        elif self._report is not None:
            self._report(message.note)

    def _ended(self) -> None:
        self._resolve(_LOST)

    def _resolve(self, reply: WorkerReply) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_result(reply)


_LOST = WorkerReply(last=True)

"""ProcessPool for Python functions that must be possible to kill: `isolation: process`.

A process serves one call at a time, and the next one when it is done. One whose call is given up is killed, with every
process that the function has started.
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
MOST_ANSWER_BYTES = 16 * 1024 * 1024
WORKER = (sys.executable, "-m", "jeton.executor.workers.worker")


class WorkerRequest(msgspec.Struct, frozen=True):
    """One call of a function, by its reference."""

    function: str
    input: object  # with contents among plain JSON
    call: CurrentCall
    profiles: dict[str, ModelProfile] = {}


class WorkerFailure(msgspec.Struct, frozen=True):
    """A call that gave no value."""

    type: FailureName
    message: str
    transient: bool = False
    retry_after_ms: int | None = None


class WorkerReply(msgspec.Struct, frozen=True, tag="reply"):
    """What a call gave; `last` if the process takes no other."""

    failure: WorkerFailure | None = None
    value: Json = None
    contents: tuple[tuple[Path, bytes], ...] = ()  # what was lifted out of the value
    last: bool = False


class WorkerNote(msgspec.Struct, frozen=True, tag="note"):
    """What a call says before it answers."""

    note: Note


WorkerMessage: TypeAlias = WorkerReply | WorkerNote
"""What a process says: any number of notes, and then the answer."""

_encode = msgspec.json.Encoder().encode
_line = msgspec.json.Decoder[WorkerMessage](WorkerMessage)


class ProcessPool:
    """Runs functions in processes. How many at a time is up to the lanes; as many as were ever needed stay."""

    def __init__(self) -> None:
        self._idle: list[_Process] = []
        self._closed = False

    async def run(self, request: WorkerRequest, tell: Callable[[Note], None]) -> WorkerReply:
        """What the function gives, or how it failed; `tell` hears what it says meanwhile.

        Whoever is cancelled while waiting has the process killed."""
        process = self._borrow() or await _Process.start()
        done = False
        try:
            answer = await process.ask(request, tell)
            done = process.child.alive and not answer.last
            return answer
        finally:
            if done and not self._closed:
                self._idle.append(process)
            else:
                await process.child.stop()

    async def close(self) -> None:
        """End those that rest."""
        self._closed = True
        idle, self._idle = self._idle, []
        await asyncio.gather(*(process.child.stop() for process in idle))

    def _borrow(self) -> "_Process | None":
        while self._idle:
            process = self._idle.pop()
            if process.child.alive:
                return process
        return None


class _Process:
    """One process, and the answer it is working on."""

    child: SupervisedProcess

    def __init__(self) -> None:
        self._line = bytearray()
        self._answer: asyncio.Future[WorkerReply] | None = None
        self._note: Callable[[Note], None] | None = None

    @classmethod
    async def start(cls) -> "_Process":
        process = cls()
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}  # what can be imported here can be there
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            process.child = await SupervisedProcess.start(
                WORKER, folder=folder, env=env, output=process._heard, ended=process._ended, errors_too=False
            )
        finally:
            os.close(folder)
        return process

    async def ask(self, request: WorkerRequest, tell: Callable[[Note], None]) -> WorkerReply:
        self._note = tell
        self._answer = asyncio.get_running_loop().create_future()
        self.child.write(_encode(request) + b"\n")
        answer = await self._answer
        if answer is _LOST:
            return await self._how_it_ended()
        return answer

    async def _how_it_ended(self) -> WorkerReply:
        code = await self.child.ended()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return WorkerReply(WorkerFailure("process_died", f"its process {how} before it had answered", transient=True))

    def _heard(self, stream: int, data: bytes) -> None:
        assert stream == STDOUT
        begun = len(self._line)
        self._line += data
        while (end := self._line.find(b"\n", begun)) >= 0:
            line, begun = bytes(self._line[:end]), 0
            del self._line[: end + 1]
            self._take(_line.decode(line))
        if len(self._line) > MOST_ANSWER_BYTES:
            self._line.clear()
            problem = f"its result has more than {MOST_ANSWER_BYTES} bytes, which is the most"
            self._tell(WorkerReply(WorkerFailure("too_large", problem), last=True))

    def _take(self, said: WorkerMessage) -> None:
        if isinstance(said, WorkerReply):
            self._tell(said)
        elif self._note is not None:
            self._note(said.note)

    def _ended(self) -> None:
        self._tell(_LOST)

    def _tell(self, answer: WorkerReply) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)


_LOST = WorkerReply(last=True)

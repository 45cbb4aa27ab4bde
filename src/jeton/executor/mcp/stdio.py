"""An MCP server as a program: messages are lines on its standard streams. Imports the SDK.

The program runs below a supervisor, so that it ends with the engine and takes its descendants with it. What it writes
is read no faster than it is handled, and a message has a longest length.
"""

import asyncio
import os
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from jeton.executor.workers.supervised import STDERR, STDOUT, SupervisedProcess

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
MAX_UNREAD_BYTES = 1024 * 1024
MAX_STDERR_BYTES = 4_000
EXIT_S = 0.5  # for a server to end by itself when its input has ended
PASSED_ON = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER")


class Program:
    """A server's program: what it says on stderr, and why it was stopped. One object per start."""

    def __init__(self) -> None:
        self._stderr = bytearray()
        self.problem: str | None = None  # why we stopped it
        self.alive = True

    def complain(self, data: bytes) -> None:
        """Keep the end of what it writes to stderr."""
        self._stderr += data
        del self._stderr[:-MAX_STDERR_BYTES]

    @property
    def last_words(self) -> str:
        """The end of what it wrote to stderr."""
        return self._stderr.decode(errors="replace").strip()

    @asynccontextmanager
    async def connect(
        self, command: Sequence[str], env: Mapping[str, str], folder: Path
    ) -> AsyncGenerator[
        tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
    ]:
        """Run the program, with streams of the messages from it and to it. Fulfils the SDK's `Transport`."""
        unread = _Unread(self)
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        place = await asyncio.to_thread(os.open, folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            child = await SupervisedProcess.start(
                command, folder=place, env={**passed, **env}, output=unread, ended=unread.end
            )
        finally:
            os.close(place)
        unread.child = child
        inbound, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, outbound = anyio.create_memory_object_stream[SessionMessage](0)
        pumps = [asyncio.create_task(self._read(unread, inbound)), asyncio.create_task(_write(child, outbound))]
        try:
            yield received, sent
        finally:
            self.alive = False
            for pump in pumps:
                pump.cancel()
            unread.drop()
            await _stop(child)
            await asyncio.wait(pumps)
            for stream in (inbound, received, sent, outbound):
                stream.close()

    async def _read(self, unread: "_Unread", inbound: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass on each line as a message, until the program ends or writes what is too long."""
        with inbound:
            buffer = bytearray()
            while (data := await unread.take()) is not None:
                *lines, rest = data.split(b"\n")
                for line in lines:
                    buffer += line
                    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                        await inbound.send(_message(bytes(buffer)))
                    buffer.clear()
                buffer += rest
                if len(buffer) > MAX_MESSAGE_BYTES:
                    self.problem = f"it sent a message of more than {MAX_MESSAGE_BYTES} bytes"
                    break
        self.alive = False


class _Unread:
    """What the program wrote and nobody has read yet. If it is much, the program has to wait."""

    def __init__(self, program: Program) -> None:
        self.child: SupervisedProcess | None = None
        self._program = program
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._ended = False
        self._dropped = False
        self._changed = asyncio.Event()

    def __call__(self, stream: int, data: bytes, /) -> None:
        if stream == STDERR:
            self._program.complain(data)
            return
        if self._dropped:
            return
        self._chunks.append(data)
        self._size += len(data)
        self._changed.set()
        if self._size > MAX_UNREAD_BYTES and self.child is not None:
            self.child.pause(STDOUT)

    def end(self) -> None:
        self._ended = True
        self._changed.set()

    def drop(self) -> None:
        """Drop what comes from now on: a program that waits to write could not end."""
        self._dropped = True
        if self.child is not None:
            self.child.resume(STDOUT)

    async def take(self) -> bytes | None:
        """The next chunk; None when the program has ended and all is read."""
        while not self._chunks:
            if self._ended:
                return None
            self._changed.clear()
            await self._changed.wait()
        chunk = self._chunks.popleft()
        self._size -= len(chunk)
        if self._size <= MAX_UNREAD_BYTES and self.child is not None:
            self.child.resume(STDOUT)
        return chunk


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as problem:  # a line that is no message: servers print such things
        return problem


async def _write(child: SupervisedProcess, outbound: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async for message in outbound:
        if child.alive:
            child.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")


async def _stop(child: SupervisedProcess) -> None:
    """Let the program end by itself, as the protocol has it, then end it with its descendants."""
    try:
        if child.alive:
            child.end_of_input()
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(EXIT_S):
                    await child.ended()
    finally:
        await child.stop()

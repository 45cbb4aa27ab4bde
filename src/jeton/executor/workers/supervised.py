"""Programs that the engine runs, each under a supervisor that leaves nothing of them behind."""

import asyncio
import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

SUPERVISE = Path(__file__).with_name("supervise.py")
STDOUT, STDERR = 1, 2
DEFAULT_GRACE_MS = 500
OVERTIME_S = 6.0  # the supervisor gives up a little sooner


class SupervisorLost(ConnectionError):
    """Somebody killed the supervisor, and nobody knows what became of the program: a passing failure."""


class Output(Protocol):
    """Whoever wants to know what a program writes, as it writes it."""

    def __call__(self, stream: int, data: bytes, /) -> None: ...


class SupervisedProcess(asyncio.SubprocessProtocol):
    """One program, from `start` to `ended` or `stop`. One of the two must be awaited."""

    _transport: asyncio.SubprocessTransport

    def __init__(self, output: Output, control: socket.socket, ended: Callable[[], None]) -> None:
        self._output = output
        self._control = control
        self._tell_ended = ended
        self._gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @classmethod
    async def start(
        cls,
        program: Sequence[str],
        *,
        folder: int,
        env: Mapping[str, str],
        output: Output,
        ended: Callable[[], None] = lambda: None,
        errors_too: bool = True,
        grace_ms: int = DEFAULT_GRACE_MS,
        memory_bytes: int = 0,
    ) -> "SupervisedProcess":
        """Start a program in a folder, given as an open file. Without `errors_too`, stderr is that of the engine."""
        ours, theirs = socket.socketpair()
        limits = (str(theirs.fileno()), str(folder), str(grace_ms), str(memory_bytes))
        try:
            transport, child = await asyncio.get_running_loop().subprocess_exec(
                lambda: cls(output, ours, ended),
                *(sys.executable, "-I", "-S", str(SUPERVISE), *limits, *program),
                stderr=asyncio.subprocess.PIPE if errors_too else None,
                pass_fds=(theirs.fileno(), folder),
                env=env,
                start_new_session=True,  # an interrupt typed at the terminal is the engine's to handle
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        child._transport = transport
        return child

    @property
    def alive(self) -> bool:
        return not self._gone.done()

    def write(self, data: bytes) -> None:
        """To its stdin. What it does not read is dropped when it ends."""
        self._stdin().write(data)

    def end_of_input(self) -> None:
        self._stdin().close()

    async def ended(self) -> int:
        """Its exit code, negative for a signal, once no process of it is left. Raises OSError if it did not start."""
        await asyncio.shield(self._gone)
        with self._control:
            told = self._control.recv(64).decode()
        what, _, number = told.partition(" ")
        match what:
            case "exit":
                return int(number)
            case "signal":
                return -int(number)
            case "errno":
                raise OSError(int(number), os.strerror(int(number)))
            case _:
                raise SupervisorLost("its supervisor was killed, and nobody knows what became of it")

    async def stop(self) -> None:
        """Have it ended with all its descendants, and wait until it is; nothing, if it has ended before."""
        with self._control, suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
            await asyncio.wait([self._gone], timeout=OVERTIME_S)
        self._transport.close()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._output(fd, data)

    def connection_lost(self, exc: Exception | None) -> None:
        """The supervisor has ended, and so have the streams."""
        self._gone.set_result(None)
        self._tell_ended()

    def _stdin(self) -> asyncio.WriteTransport:
        stdin = self._transport.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)
        return stdin

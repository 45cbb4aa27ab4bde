"""Programs run by the engine, each below a supervisor that ends all its descendants."""

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
STOP_TIMEOUT_S = 6.0  # a little longer than the supervisor's own


class SupervisorLost(ConnectionError):
    """The supervisor was killed, so the fate of the program is unknown. A transient failure."""


class Output(Protocol):
    """Receives what a program writes, as it is written."""

    def __call__(self, stream: int, data: bytes, /) -> None: ...


class SupervisedProcess(asyncio.SubprocessProtocol):
    """A running program. After `start`, `ended` or `stop` must be awaited."""

    _transport: asyncio.SubprocessTransport

    def __init__(self, output: Output, control: socket.socket, ended: Callable[[], None]) -> None:
        self._output = output
        self._control = control
        self._on_ended = ended
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
        """Start a program in a folder, given as a file descriptor. Without `errors_too`, stderr is the engine's."""
        ours, theirs = socket.socketpair()
        limits = (str(theirs.fileno()), str(folder), str(grace_ms), str(memory_bytes))
        try:
            transport, child = await asyncio.get_running_loop().subprocess_exec(
                lambda: cls(output, ours, ended),
                *(sys.executable, "-I", "-S", str(SUPERVISE), *limits, *program),
                stderr=asyncio.subprocess.PIPE if errors_too else None,
                pass_fds=(theirs.fileno(), folder),
                env=env,
                start_new_session=True,  # Ctrl-C at the terminal is for the engine only
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
        """Write to stdin. What the program does not read is dropped when it ends."""
        self._stdin().write(data)

    def end_of_input(self) -> None:
        self._stdin().close()

    def pause(self, stream: int) -> None:
        """Stop reading what the program writes to a stream: it then has to wait."""
        pipe = self._transport.get_pipe_transport(stream)
        if isinstance(pipe, asyncio.ReadTransport) and not pipe.is_closing():
            pipe.pause_reading()

    def resume(self, stream: int) -> None:
        """Read a stream again."""
        pipe = self._transport.get_pipe_transport(stream)
        if isinstance(pipe, asyncio.ReadTransport) and not pipe.is_closing():
            pipe.resume_reading()

    async def ended(self) -> int:
        """The exit code, negative for a signal, once no descendant is left. Raises OSError if it did not start."""
        await asyncio.shield(self._gone)
        with self._control:
            report = self._control.recv(64).decode()
        verdict, _, number = report.partition(" ")
        match verdict:
            case "exit":
                return int(number)
            case "signal":
                return -int(number)
            case "errno":
                raise OSError(int(number), os.strerror(int(number)))
            case _:
                raise SupervisorLost("the supervisor of the program was killed, so its result is unknown")

    async def stop(self) -> None:
        """End the program with all its descendants and wait for that. Does nothing if it has ended."""
        with self._control, suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
            await asyncio.wait([self._gone], timeout=STOP_TIMEOUT_S)
        self._transport.close()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._output(fd, data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called when the supervisor has ended and the streams are closed."""
        self._gone.set_result(None)
        self._on_ended()

    def _stdin(self) -> asyncio.WriteTransport:
        stdin = self._transport.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)
        return stdin

"""Run one program and end all its descendants. A script that runs in a process of its own.

A program may ignore SIGTERM, fork, and leave its session; its orphans are then reparented to the nearest ancestor that
is a child subreaper. This process is one, so all descendants of the program stay below it. It ends them when the
program has ended, and when the other end of `control` is closed, which is how the engine stops a program and what
happens when the engine dies.

usage: supervise.py CONTROL FOLDER GRACE_MS MEMORY_BYTES PROGRAM ARGUMENT…
CONTROL and FOLDER are file descriptors. The result of the program, such as `exit 3`, is written to CONTROL.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
KILL_TIMEOUT_S = 5.0  # what survives SIGKILL longer is stuck in the kernel
KILL_INTERVAL_S = 0.005


def main(arguments: list[str]) -> None:
    """Run the program of a command line."""
    control, folder, grace_ms, memory = (int(argument) for argument in arguments[:4])
    for file in (control, folder):
        os.set_inheritable(file, False)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    wake_reader = _watch_children()
    program = _start(arguments[4:], folder, memory)
    if isinstance(program, OSError):
        os.write(control, f"errno {program.errno}".encode())
        return
    _release_streams()
    tree = _ProcessTree(program)
    while tree.status is None:
        ready, _, _ = select.select([control, wake_reader], [], [])
        tree.reap(wake_reader)
        if control in ready:
            break
    tree.end(wake_reader, grace_ms / 1000)
    with suppress(OSError):  # the engine may be gone
        os.write(control, tree.verdict().encode())


class _ProcessTree:
    """The program and all its descendants."""

    def __init__(self, program: int) -> None:
        self._program = program
        self.status: int | None = None

    def reap(self, wake_reader: int) -> bool:
        """Reap the processes that have ended. False if none is left."""
        with suppress(BlockingIOError):
            os.read(wake_reader, 1024)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._program:
                self.status = status

    def end(self, wake_reader: int, grace_s: float) -> None:
        """Send SIGTERM to all, and after the grace time SIGKILL, until none is left."""
        if not self.reap(wake_reader):
            return
        _signal(_descendants(), signal.SIGTERM, signal.SIGCONT)
        until = time.monotonic() + grace_s
        while self.reap(wake_reader) and (left := until - time.monotonic()) > 0:
            select.select([wake_reader], [], [], left)
        until = time.monotonic() + KILL_TIMEOUT_S
        while self.reap(wake_reader) and time.monotonic() < until:
            _signal(_descendants(), signal.SIGKILL)
            select.select([wake_reader], [], [], KILL_INTERVAL_S)

    def verdict(self) -> str:
        if self.status is None:
            return "lost"
        if os.WIFSIGNALED(self.status):
            return f"signal {os.WTERMSIG(self.status)}"
        return f"exit {os.WEXITSTATUS(self.status)}"


def _start(program: list[str], folder: int, memory: int) -> int | OSError:
    """Start the program: its process id, or the error. It is killed if this process dies."""
    error_reader, error_writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(error_writer)
        problem = os.read(error_reader, 16)
        os.close(error_reader)
        return OSError(int(problem), "") if problem else pid
    try:
        os.setsid()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, which programs do not expect
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        os.fchdir(folder)
        os.execvpe(program[0], program, _environment())
    except OSError as problem:
        os.write(error_writer, str(problem.errno).encode())
    finally:
        os._exit(127)


def _environment() -> dict[bytes, bytes]:
    """The environment as it was passed on. `os.environ` may have a locale that Python added."""
    variables = [variable.partition(b"=") for variable in _read("/proc/self/environ").split(b"\0") if variable]
    return {name: value for name, _, value in variables}


def _watch_children() -> int:
    """A file descriptor that is readable when a child has ended. Signals for the program do not end this process."""
    wake_reader, wake_writer = os.pipe()
    os.set_blocking(wake_reader, False)
    os.set_blocking(wake_writer, False)
    signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, _ignore)  # a handler, unlike SIG_IGN, is not inherited by the program
    return wake_reader


def _ignore(_number: int, _frame: object) -> None:
    pass


def _release_streams() -> None:
    """Close our copies of the streams, so that they end when the last descendant does."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)


def _descendants() -> list[int]:
    """All descendants, found by the parent of every process."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):  # it has ended meanwhile
                state, parent = _state_and_parent(entry.name)
                if state != b"Z":
                    children.setdefault(int(parent), []).append(int(entry.name))
    found, pending = list[int](), [os.getpid()]
    while pending:
        children_of = children.get(pending.pop(), [])
        found += children_of
        pending += children_of
    return found


def _state_and_parent(process: str) -> list[bytes]:
    # the name of the program is in parentheses and may contain anything
    return _read(f"/proc/{process}/stat").rpartition(b")")[2].split()[:2]


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY)
    try:
        content = b""
        while chunk := os.read(file, 65536):
            content += chunk
        return content
    finally:
        os.close(file)


def _signal(processes: list[int], *numbers: int) -> None:
    for process in processes:
        for number in numbers:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, number)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Runs one program, and sees to it that nothing of it is left. A script: it runs in a process of its own.

A program may ignore SIGTERM, fork, and leave its session; what it leaves behind is then handed to its nearest ancestor
that has asked for such orphans. This process asks, so all descendants of the program stay below it, and it ends them:
when the program has ended, and when the other end of `control` is closed, which is how the engine stops a program, and
what happens when the engine dies.

usage: supervise.py CONTROL FOLDER GRACE_MS MEMORY_BYTES PROGRAM ARGUMENT…
CONTROL and FOLDER are open files. What became of the program is written to CONTROL, such as `exit 3`.
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
KILLING_S = 5.0  # what cannot be killed within this is stuck in the kernel, and we are of no more use
LOOK_S = 0.005


def main(words: list[str]) -> None:
    """From the first word to the last process."""
    control, folder, grace_ms, memory = (int(word) for word in words[:4])
    for file in (control, folder):
        os.set_inheritable(file, False)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    bell = _hear_of_children()
    program = _start(words[4:], folder, memory)
    if isinstance(program, OSError):
        os.write(control, f"errno {program.errno}".encode())
        return
    _let_go_of_streams()
    family = _Family(program)
    while family.status is None:
        ready, _, _ = select.select([control, bell], [], [])
        family.reap(bell)
        if control in ready:
            break
    family.end(bell, grace_ms / 1000)
    with suppress(OSError):  # the engine may be gone
        os.write(control, family.verdict().encode())


class _Family:
    """The program and all its descendants."""

    def __init__(self, program: int) -> None:
        self._program = program
        self.status: int | None = None

    def reap(self, bell: int) -> bool:
        """Take leave of those who have ended; whether anybody is left."""
        with suppress(BlockingIOError):
            os.read(bell, 1024)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._program:
                self.status = status

    def end(self, bell: int, grace_s: float) -> None:
        """Ask all to end, and after the grace time make them: those born meanwhile too."""
        if not self.reap(bell):
            return
        _signal(_descendants(), signal.SIGTERM, signal.SIGCONT)
        until = time.monotonic() + grace_s
        while self.reap(bell) and (left := until - time.monotonic()) > 0:
            select.select([bell], [], [], left)
        until = time.monotonic() + KILLING_S
        while self.reap(bell) and time.monotonic() < until:
            _signal(_descendants(), signal.SIGKILL)
            select.select([bell], [], [], LOOK_S)

    def verdict(self) -> str:
        if self.status is None:
            return "lost"
        if os.WIFSIGNALED(self.status):
            return f"signal {os.WTERMSIG(self.status)}"
        return f"exit {os.WEXITSTATUS(self.status)}"


def _start(program: list[str], folder: int, memory: int) -> int | OSError:
    """The program's process, or why there is none. It ends with us, should somebody kill us."""
    heard, told = os.pipe()
    pid = os.fork()
    if pid:
        os.close(told)
        problem = os.read(heard, 16)
        os.close(heard)
        return OSError(int(problem), "") if problem else pid
    try:
        os.setsid()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and programs do not expect that
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        os.fchdir(folder)
        os.execvpe(program[0], program, _environment())
    except OSError as problem:
        os.write(told, str(problem.errno).encode())
    finally:
        os._exit(127)


def _environment() -> dict[bytes, bytes]:
    """What we were given. Not `os.environ`: Python adds a locale to it when there is none."""
    variables = [variable.partition(b"=") for variable in _read("/proc/self/environ").split(b"\0") if variable]
    return {name: value for name, _, value in variables}


def _hear_of_children() -> int:
    """A file that can be read when a child has ended. Signals meant for the program do not end us."""
    bell, rope = os.pipe()
    os.set_blocking(bell, False)
    os.set_blocking(rope, False)
    signal.set_wakeup_fd(rope, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, _go_on)  # a handler, unlike SIG_IGN, is not handed on to the program
    return bell


def _go_on(_number: int, _frame: object) -> None:
    pass


def _let_go_of_streams() -> None:
    """The streams are the program's: they end when its last process does."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _descendants() -> list[int]:
    """All processes below us, by asking every process for its parent."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):  # it has ended since
                state, parent = _state_and_parent(entry.name)
                if state != b"Z":
                    children.setdefault(int(parent), []).append(int(entry.name))
    found, waiting = list[int](), [os.getpid()]
    while waiting:
        born = children.get(waiting.pop(), [])
        found += born
        waiting += born
    return found


def _state_and_parent(process: str) -> list[bytes]:
    # the name of the program comes in parentheses, and may hold anything
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

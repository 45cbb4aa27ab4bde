"""Functions that another process can import."""

import os
import subprocess
import sys
import time
from pathlib import Path

import jeton
from jeton.executor import TransientError


@jeton.action
def whoami(name: str = "") -> dict[str, int | str]:
    call = jeton.current_call()
    return {"pid": os.getpid(), "name": name, "key": call.idempotency_key, "cwd": os.getcwd()}  # noqa: PTH109


@jeton.action
async def whoami_async() -> dict[str, int | str]:
    return {"pid": os.getpid()}


@jeton.action
def talk() -> dict[str, str]:
    print("this is no answer")
    return {"read": sys.stdin.read()}


@jeton.action
def fail(how: str) -> None:
    match how:
        case "raise":
            raise ValueError("no such order")
        case "transient":
            raise TransientError("busy", retry_after_ms=5)
        case "exit":
            raise SystemExit(3)
        case "die":
            os._exit(7)
        case "killed":
            os.kill(os.getpid(), 9)
        case _:
            raise AssertionError(how)


@jeton.action
def large(bytes: int) -> str:
    return "x" * bytes


@jeton.action
def hang(note: str) -> None:
    """Starts a process that starts a process, and waits for ever."""
    child = [sys.executable, "-c", "import time; time.sleep(60)"]
    started = subprocess.Popen(child, start_new_session=True)
    Path(note).write_text(f"{os.getpid()}\n{started.pid}\n")
    while True:
        time.sleep(1)


@jeton.action
def leave_behind() -> dict[str, int]:
    """Ends, and leaves a process running."""
    left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    left.returncode = 0  # so that nobody complains about what is the point of this function
    return {"pid": os.getpid(), "left": left.pid}


@jeton.action
def report(items: int) -> int:
    """Says how far it is, and what it should not."""
    call = jeton.current_call()
    for item in range(items):
        call.progress((item + 1) / items, f"item {item}")
    call.log("the token is correct horse battery staple")
    return items


@jeton.action
def flood(lines: int) -> int:
    for number in range(lines):
        jeton.current_call().log(f"line {number}")
    return lines


@jeton.action
def ask_models(calls: list[tuple[str, int, int]], cost: int = 0) -> None:
    """Says what model calls used, and what else it cost, twice."""
    call = jeton.current_call()
    for profile, tokens_in, tokens_out in calls:
        call.tokens(profile, input=tokens_in, output=tokens_out)
    if cost:
        call.cost(cost)
        call.cost(cost)


@jeton.action
def doubled(content: bytes) -> dict[str, bytes | int]:
    """Bytes in, and more bytes out, of a process of its own."""
    return {"content": content * 2, "pid": os.getpid()}


class ServiceBusy(Exception):
    pass


@jeton.action(retry_on=ServiceBusy)
def busy_service(counter: str) -> int:
    calls = jeton.current_call().action_attempt
    if calls < 3:
        raise ServiceBusy(counter)
    return calls


@jeton.action
async def raise_deep(secret: str) -> None:
    raise LookupError(secret)

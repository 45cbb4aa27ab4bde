"""A contest with six judges, killed in the middle with `kill -9`, and finished all the same."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import jeton

LIBRARY = Path(__file__).with_name("demo.yaml")
INPUT = '{"judges": ["ada", "ben", "cleo", "dora", "emil", "finn"]}'
SHOW_CURSOR = "\x1b[?25h"
PATIENCE_S = 20


def contest(store: str) -> subprocess.Popen[bytes]:
    """`jeton run` in a process of its own. The key makes it one run, however often it is started."""
    verb = ["run", str(LIBRARY), "--store", store, "--key", "demo", "--input", INPUT]
    return subprocess.Popen([sys.executable, "-m", "jeton.cli.main", *verb])


def completed_tasks(store: str) -> int:
    """What another process can see of the run while its owner is at work."""
    if not Path(store).exists():
        return 0
    try:
        with jeton.open_sync(store, owner=False) as engine:
            runs = engine.list()
            events = engine.events(runs[0].run_id) if runs else ()
            return sum(event["type"] == "task.completed" for event in events)
    except jeton.Refused:
        return 0  # the store is just being made


def wait_until(happened: Callable[[], bool]) -> None:
    """Look again and again, but not for ever."""
    deadline = time.monotonic() + PATIENCE_S
    while not happened() and time.monotonic() < deadline:
        time.sleep(0.05)


def say(text: str) -> None:
    print(f"\n── {text}\n", flush=True)


def main() -> int:
    with TemporaryDirectory() as folder:
        store = f"{folder}/demo.db"
        say("six judges vote, four votes are enough, and nobody told finn's doctor")
        first = contest(store)
        wait_until(lambda: completed_tasks(store) >= 2 or first.poll() is not None)
        first.kill()
        first.wait()
        if sys.stdout.isatty():
            print(SHOW_CURSOR, end="")
        say(f"killed with kill -9, after {completed_tasks(store)} votes; the same command again")
        exit_code = contest(store).wait()
        with jeton.open_sync(store, owner=False) as engine:
            run = engine.list()[0].run_id
            again = [token.id for token in engine.tokens(run) if token.deliveries > 1]
        say(f"one run; tasks the crash had cut off, and that were given out again: {len(again)}")
    return exit_code


if __name__ == "__main__":
    sys.exit(main())

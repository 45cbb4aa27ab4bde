"""A contest with six judges, killed in the middle with `kill -9`, and finished all the same.

    python examples/demo.py

On a terminal, or with `--serve`, the run is served in the end: the link shows it on the page until Ctrl-C.
"""

import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
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


def wait_for_votes(store: str, votes: int) -> None:
    """Look into the store, as any other process may while its owner is at work."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with suppress(jeton.Refused), jeton.open_sync(store, owner=False) as engine:
            while votes_in(engine) < votes and time.monotonic() < deadline:
                time.sleep(0.05)
            return
        time.sleep(0.05)  # the store is just being made


def votes_in(engine: jeton.SyncEngine) -> int:
    """How many judges have voted."""
    return sum(token.waits_at == "think" for run in engine.list() for token in engine.tokens(run.run_id))


def show(store: str, run: str) -> None:
    """Serve the store, and print the link to its run on the page."""
    serve = [sys.executable, "-m", "jeton.cli.main", "serve", "--store", store, "--port", "0", "--json"]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        told = json.loads(server.stdout.readline())
        say(f"look at it: {told['serving']}/#key={told['key']}&to=/runs/{run}\n   until Ctrl-C")
        server.wait()
    except KeyboardInterrupt:
        pass
    finally:
        server.terminate()
        server.wait()


def say(text: str) -> None:
    print(f"\n── {text}\n", flush=True)


def end(number: int, frame: object) -> None:
    """Leave, and let everything that was started end."""
    sys.exit(0)


def main() -> int:
    signal.signal(signal.SIGTERM, end)  # what it started ends with it
    with TemporaryDirectory() as folder:
        store = f"{folder}/demo.db"
        say("six judges vote, four votes are enough, and nobody told finn's doctor")
        first = contest(store)
        wait_for_votes(store, 2)
        first.kill()
        first.wait()
        if sys.stdout.isatty():
            print(SHOW_CURSOR, end="")
        with jeton.open_sync(store, owner=False) as engine:
            say(f"killed with kill -9, after {votes_in(engine)} votes; the same command again")
        exit_code = contest(store).wait()
        with jeton.open_sync(store, owner=False) as engine:
            (run,) = engine.list()
            again = [token.id for token in engine.tokens(run.run_id) if token.deliveries > 1]
        say(f"one run; tasks the crash had cut off, and that were given out again: {len(again)}")
        if "--serve" in sys.argv or sys.stdout.isatty():
            show(store, run.run_id)
    return exit_code


if __name__ == "__main__":
    sys.exit(main())

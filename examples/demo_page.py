"""The page with something to see: a live fan-out of 10,000, a gate, a quorum that fails, an agent that wants to pay.

    python examples/demo_page.py

Serves until Ctrl-C. `--no-open` only prints the link, `--many N` makes the fan-out smaller.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import webbrowser
from pathlib import Path
from tempfile import TemporaryDirectory

import jeton

LIBRARY = Path(__file__).with_name("demo_page.yaml")


def serve(store: str) -> "subprocess.Popen[str]":
    """`jeton serve` in a process of its own, at a port that is free."""
    command = [sys.executable, "-m", "jeton.cli.main", "serve", str(LIBRARY), "--store", store, "--port", "0", "--json"]
    environment = {**os.environ, "DEMO_PAYMENTS": "demo"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)


def fill(engine: jeton.SyncEngine, many: int) -> list[tuple[str, str]]:
    """Start what there is to see. Returns what it is, and where on the page."""
    for amount in (12, 80, 31, 120, 7):
        engine.start("charge", {"amount": amount})
    order = engine.start("order", {})
    launch = engine.start("launch", {})
    jury = engine.start("jury", {"judges": ["ada", "ben", "cleo", "ill dora", "ill emil", "ill finn"]})
    talk = engine.converse("clerk")
    talk.send("I want a refund for A-17.")
    fan_out = engine.start("enrich", {"many": many})
    launch.answer({"ok": True, "note": "all tests are green"}, node="ask", by="ada")  # the second answer is yours
    return [
        (f"a fan-out of {many:,}, live", f"/runs/{fan_out.id}"),
        ("a gate that one of two has answered", "/gates"),
        ("a quorum that becomes impossible", f"/runs/{jury.id}"),
        ("retries, a loop and a run that it calls", f"/runs/{order.id}?tab=timeline"),
        ("an agent that wants to pay", f"/chat/{talk.id}"),
    ]


def end(number: int, frame: object) -> None:
    """Leave, and let everything that was started end."""
    sys.exit(0)


def main() -> int:
    """Serve, fill, and say where to look."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-open", action="store_true", help="print the link, and open no browser")
    parser.add_argument("--many", type=int, default=10_000, help="how many slots the fan-out has")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, end)  # the server ends with us
    with TemporaryDirectory() as folder:
        server = serve(f"{folder}/demo.db")
        try:
            assert server.stdout is not None
            told = json.loads(server.stdout.readline())
            with jeton.connect_sync(told["serving"], key=told["key"]) as engine:
                places = fill(engine, options.many)
            sign_in = f"{told['serving']}/#key={told['key']}"
            for what, place in (("all runs", "/runs"), *places):
                print(f"{what:<42}{sign_in}&to={place}", flush=True)
            print("Ctrl-C ends it", flush=True)
            if not options.no_open:
                webbrowser.open(sign_in)
            server.wait()
        except KeyboardInterrupt:
            pass
        finally:
            server.terminate()
            server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())

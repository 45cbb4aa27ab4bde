"""A refund asked for in a chat. The process is killed twice with `kill -9`, and the money is paid once.

    python examples/demo_refund.py

The second kill is the hard one: the bank has paid, and nobody is left to hear it. The call is made again with the same
idempotency key, and the bank knows it.
"""

import json
import os
import shlex
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

import jeton

FILE = "demo_refund.py"
PATIENCE_S = 30


@jeton.tool(needs_approval="input.amount > 10")
def refund(order: str, amount: int) -> dict[str, str]:
    """Refund an order, in full or in part."""
    body = json.dumps({"order": order, "amount": amount}).encode()
    headers = {"Idempotency-Key": jeton.current_call().idempotency_key}
    with urlopen(Request(os.environ["BANK"], body, headers), timeout=PATIENCE_S) as answer:
        return {"receipt": answer.read().decode()}


fake = jeton.ModelProfile(
    "fake",
    provider="scripted",
    script=[
        {
            "when": "moves == 0",
            "text": "I ask for the refund of 20 for A-17. That takes a moment.",
            "tool_calls": [{"name": "refund", "input": {"order": "A-17", "amount": 20}}],
            "delay_ms": 1500,
        },
        {"text": "Done: 20 for A-17 are on their way to you."},
    ],
)
helper = jeton.Persona(instructions="You help customers of a small shop.", model_profile=fake, tools=[refund])
bob = jeton.Agent("bob", persona=helper)


class Bank:
    """Pays once per idempotency key. The first time, its answer comes too late to be heard."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.has_paid = threading.Event()
        self.may_answer = threading.Event()

    def pay(self, key: str) -> str:
        first = key not in self.keys
        self.keys.append(key)
        if first:
            self.has_paid.set()
            self.may_answer.wait(PATIENCE_S)
        return f"receipt {len(set(self.keys))}"

    def serve(self) -> ThreadingHTTPServer:
        bank = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                receipt = bank.pay(self.headers["Idempotency-Key"]).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(receipt)))
                with suppress(BrokenPipeError):  # whoever asked may have been killed
                    self.end_headers()
                    self.wfile.write(receipt)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def say(text: str) -> None:
    print(f"\n── {text}\n", flush=True)


def jeton_verb(*words: str) -> subprocess.Popen[bytes]:
    """A jeton command in a process of its own, which prints to this terminal."""
    print("$ jeton", shlex.join(words), flush=True)
    command = [__file__ if word == FILE else word for word in words]
    return subprocess.Popen([sys.executable, "-m", "jeton.cli.main", *command])


def conversation_in(store: str) -> str:
    """Wait until the model of the conversation has been asked. Any process may read a store while its owner works."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with suppress(jeton.Refused), jeton.open_sync(store, owner=False) as engine:
            while time.monotonic() < deadline:
                for row in engine.conversations(active=True):
                    return row.id
                time.sleep(0.05)
        time.sleep(0.05)  # the store is just being made
    raise TimeoutError("the model was not asked")


def main() -> int:
    bank = Bank()
    with TemporaryDirectory() as folder, bank.serve() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        os.environ["BANK"] = f"http://127.0.0.1:{server.server_port}"
        os.environ["JETON_STORE"] = f"{folder}/shop.db"
        chat = ("chat", FILE, "bob", "--message", "I want 20 back for A-17.", "--key", "refund")

        say("a customer asks for a refund, and the process is killed while the model answers")
        first = jeton_verb(*chat)
        conversation = conversation_in(os.environ["JETON_STORE"])
        first.kill()
        first.wait()
        say("killed with kill -9; the same command again: the message is there, and the model is asked again")
        jeton_verb(*chat).wait()

        say("nothing was paid yet, and no process waits; now somebody approves")
        second = jeton_verb("answer", conversation, "--value", '{"decision": "approve"}', "--by", "ada", "--app", FILE)
        bank.has_paid.wait(PATIENCE_S)
        second.kill()
        second.wait()
        bank.may_answer.set()
        say("killed with kill -9 again: the bank has paid, and its answer is lost; whoever comes next goes on")
        done = jeton_verb("resume", "--app", FILE).wait()
        print()
        jeton_verb("show", conversation).wait()
        server.shutdown()
    say(f"the bank was asked {len(bank.keys)} times, and paid {len(set(bank.keys))} time, because the key was the same")
    return done


if __name__ == "__main__":
    sys.exit(main())

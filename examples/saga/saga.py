"""A saga: reserve, approve, charge, ship; and if that goes wrong, take back what was done, in reverse order.

    python examples/saga/saga.py

Prints:
    A-1: {'status': 'shipped'}
    X-2: {'status': 'cancelled'}
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import jeton

SHOP = "http://127.0.0.1:8800"  # unless the variable SHOP of the environment says otherwise


class ShopSaysNo(Exception):
    """An answer that will not change: calling again is useless."""


def ask(what: str, order: str, amount: int = 0) -> None:
    """Call the shop. The key makes the same call, made again after a crash or a timeout, one call for the shop."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": jeton.current_call().idempotency_key}
    body = json.dumps({"order": order, "amount": amount}).encode()
    try:
        urlopen(Request(f"{os.environ.get('SHOP', SHOP)}/{what}", body, headers), timeout=30).close()
    except HTTPError as error:
        if error.code < 500:
            raise ShopSaysNo(json.load(error)["problem"]) from error
        raise jeton.TransientError(f"the shop answered {error.code}") from error


# connection errors and timeouts are transient: the same call is made again
AGAIN = jeton.RetryPolicy(max_attempts=5, backoff="exponential", initial_delay_ms=200)


@jeton.action(retry=AGAIN)
def reserve(order: str) -> None:
    """Take the goods from the stock."""
    ask("reserve", order)


@jeton.action(retry=AGAIN)
def charge(order: str, amount: int) -> None:
    """Take the money."""
    ask("charge", order, amount)


@jeton.action(retry=AGAIN)
def ship(order: str) -> None:
    """Send the goods."""
    ask("ship", order)


@jeton.action(retry=AGAIN)
def refund(order: str) -> None:
    """Give back what was charged for the order, if anything was."""
    ask("refund", order)


@jeton.action(retry=AGAIN)
def release(order: str) -> None:
    """Put back what was reserved for the order, if anything was."""
    ask("release", order)


ORDER = {"order": "input.order"}
YES_OR_NO = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}
FAILED = "has(state._last_error)"

saga = jeton.Workflow(
    "saga",
    input={
        "type": "object",
        "required": ["order", "amount"],
        "properties": {"order": {"type": "string"}, "amount": {"type": "integer"}},
    },
)
reserved = saga.node("reserve", action=reserve, input=ORDER)
approve = saga.node("approve", gate={"title": "Sell {{ input.order }} for {{ input.amount }}?", "schema": YES_OR_NO})
charged = saga.node("charge", action=charge, input={**ORDER, "amount": "input.amount"})
sent = saga.node("ship", action=ship, input=ORDER)
done = saga.node("done", output={"output.status": "'shipped'"})
refunded = saga.node("refund", action=refund, input=ORDER)
released = saga.node("release", action=release, input=ORDER)
cancelled = saga.node("cancelled", output={"output.status": "'cancelled'"})

saga.transition(reserved, approve, condition="input.amount > 100", priority=1)
saga.transition(reserved, charged, priority=2)
saga.transition(approve, charged, condition="result.ok", priority=1)
saga.transition(charged, sent)
saga.transition(sent, done)

# After a failure only transitions that read `state._last_error` are considered. A call that failed may have been made
# all the same, its answer lost on the way: so what failed is taken back too.
saga.transition(reserved, released, condition=FAILED)
saga.transition(approve, released, priority=2)
saga.transition(charged, refunded, condition=FAILED)
saga.transition(sent, refunded, condition=FAILED)
saga.transition(refunded, released)
saga.transition(released, cancelled)


def main() -> None:
    shop = [sys.executable, str(Path(__file__).with_name("shop.py")), "0"]
    with TemporaryDirectory() as folder, subprocess.Popen(shop, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        os.environ["SHOP"] = service.stdout.readline().strip()
        try:
            with jeton.open_sync(f"{folder}/saga.db") as engine:
                for order in ("A-1", "X-2"):
                    print(f"{order}: {engine.start(saga, {'order': order, 'amount': 80}).result().output}")
        finally:
            service.terminate()


if __name__ == "__main__":
    main()

"""The services of the shop. Put your own calls here; each is given a key by which the service knows a repeated call."""

import jeton

AGAIN = jeton.RetryPolicy(max_attempts=5, backoff="exponential", initial_delay_ms=200)


class CannotShip(Exception):
    """An answer that will not change, so that it is not retried."""


@jeton.action(retry=AGAIN)
def reserve(order: str) -> None:
    """Take the goods from the stock."""
    call("reserve", order)


@jeton.action(retry=AGAIN)
def charge(order: str, amount: int) -> None:
    """Take the money."""
    call("charge", order, amount)


@jeton.action(retry=AGAIN)
def ship(order: str) -> None:
    """Send the parcel."""
    if order.startswith("X"):
        raise CannotShip(f"nobody ships to {order}")
    call("ship", order)


@jeton.action(retry=AGAIN)
def refund(order: str) -> None:
    """Give back what was charged for the order, if anything was."""
    call("refund", order)


@jeton.action(retry=AGAIN)
def release(order: str) -> None:
    """Put back what was reserved for the order, if anything was."""
    call("release", order)


def call(what: str, order: str, amount: int = 0) -> None:
    """Stands for a request with the header Idempotency-Key: jeton.current_call().idempotency_key."""
    print(what, order, amount or "")

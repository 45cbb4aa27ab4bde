"""The shop: orders, and a bank that pays once per key."""

import jeton

ORDERS = {"A-17": {"what": "lamp", "amount": 20}}
PAID: dict[str, int] = {}


@jeton.action
def look_up(order: str) -> dict[str, str | int]:
    """An order, as the shop knows it."""
    return ORDERS[order]  # type: ignore[return-value]


@jeton.action
def refund(order: str, amount: int) -> dict[str, int]:
    """Pay once, however often it is asked: a call that was under way in a crash is made again with the same key."""
    PAID.setdefault(jeton.current_call().idempotency_key, amount)
    return {"refunded": amount}

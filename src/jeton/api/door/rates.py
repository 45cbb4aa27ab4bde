"""How many requests a key or an address may make: a bucket each, in memory, refilled as time passes."""

from collections import OrderedDict

from jeton.model.failure import Refused

KEY_RATE = 200.0
ADDRESS_RATE = 100.0
BURST = 400.0
MOST_BUCKETS = 10_000


class Rates:
    """One bucket per name. The least recently used are forgotten, which can only fill them."""

    def __init__(self, per_second: float, burst: float = BURST) -> None:
        self._per_second = per_second
        self._burst = burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, now: float) -> None:
        """Take one request. Raises Refused if there is none left."""
        if not self.count(name, now):
            problem = f"more than {self._per_second:.0f} requests a second"
            raise Refused("rate_limited", problem, "wait a second, and try again")

    def count(self, name: str, now: float) -> bool:
        """Count one request. Returns False if there was none left."""
        left, at = self._buckets.get(name, (self._burst, now))
        left = min(self._burst, left + max(0.0, now - at) * self._per_second)
        taken = left >= 1
        self._buckets[name] = (left - taken, now)
        self._buckets.move_to_end(name)
        while len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return taken

"""Idempotency keys in memory."""

from collections.abc import Mapping

from jeton.executor.limits.idempotency import MemoryIdempotencyStore, step_key, steps_prefix
from jeton.model.ids import RunId, TokenId


class IdempotencyKeys(MemoryIdempotencyStore):
    """The keys of actions and of steps, in the order they were begun."""

    def share_steps(self, run: RunId, fork: RunId, sleeping: Mapping[TokenId, str]) -> None:
        """Give a fork the steps that functions had taken when they last went to sleep."""
        for token, sleep in sleeping.items():
            theirs, ours = step_key(run, token, ""), step_key(fork, token, "")
            steps = [key for key in self._calls if key.startswith(theirs)]
            last = f"{theirs}sleep:{sleep}"
            for key in steps[: steps.index(last) + 1] if last in steps else ():
                self._calls.setdefault(ours + key.removeprefix(theirs), self._calls[key])

    def remove_steps(self, run: RunId) -> None:
        """Remove the steps of a run."""
        for key in [key for key in self._calls if key.startswith(steps_prefix(run))]:
            del self._calls[key]

"""What a run may still spend, and what it has spent. A run without a purse spends without limit.

A run that was started with credits of its own is the account of every run below it, so that what it was given covers
the whole tree.
"""

import msgspec

from jeton.model.ids import RunId

ACCOUNT = RunId("account:project")
"""The project's account, as messages are sent to it. No run has such a name."""


class Purse(msgspec.Struct, frozen=True, omit_defaults=True):
    """A node's price is taken when it begins, and what it turns out to need less is put back."""

    account: RunId | None = None  # where more comes from: the project, or a run above; None: what it was given is all
    free: int = 0
    used: int = 0  # by its own nodes
    below: int = 0  # by runs that drew on it, and are over
    shortfall: int = 0  # what actions used beyond their price, and nobody paid
    asked: int = 0  # of the account, and not answered yet
    awaiting: bool = False  # some node waits to be paid for
    dry: int | None = None  # the entry with which the account gave less than was asked
    short: bool = False  # nothing new begins

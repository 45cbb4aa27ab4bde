"""A run's credits. A run without a purse spends without limit.

A run that was started with credits of its own is the account of every run below it, so that its credits cover the
whole tree.
"""

import msgspec

from jeton.model.ids import RunId

ACCOUNT = RunId("account:project")
"""The address of the project's account. No run has this id."""


class Purse(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a run may spend and has spent. A node's price is taken when it begins; what it did not use is put back."""

    account: RunId | None = None  # who gives more: the project or a run above; None: nobody
    free: int = 0
    used: int = 0  # by its own nodes
    below: int = 0  # by runs below that are over
    shortfall: int = 0  # what actions used beyond their price
    asked: int = 0  # of the account, not answered yet
    awaiting: bool = False  # a node waits to be paid for
    dry: int | None = None  # the entry in which the account gave less than asked for
    short: bool = False  # nothing new begins

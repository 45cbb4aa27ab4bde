"""The budget that an agent has for a day, over all its conversations.

Its account is kept by the host. A turn reserves the most that its next call may cost, and gives back what was not used.
"""

from typing import Literal

import msgspec

from jeton.model.ids import RunId

DAYS = RunId("account:agent_day")
"""The address of the accounts of all agents and days. No run has this id."""


class DayBudget(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a turn has of its agent's budget for a day, in millionths of a credit."""

    day: str  # in UTC
    amount: int  # asked for, or reserved
    phase: Literal["asked", "granted", "short"] = "asked"
    spent: int = 0  # of what is reserved
    used: int = 0  # if it is short: by all conversations of the agent
    limit: int = 0  # if it is short: the credits of the day, with those that people added

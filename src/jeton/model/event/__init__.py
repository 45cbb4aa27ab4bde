"""Facts and events: what happened in a run. They are not stored, but derived from the decisions."""

from typing import TypeAlias

import msgspec

from jeton.model.event.credits import *
from jeton.model.event.flow import *
from jeton.model.event.fork import *
from jeton.model.event.group import *
from jeton.model.event.run import *
from jeton.model.event.token import *
from jeton.model.event.turn import *
from jeton.model.event.waits import *
from jeton.model.ids import RunId

Fact: TypeAlias = RunFact | TokenFact | GroupFact | WaitsFact | FlowFact | CreditsFact | ForkFact | TurnFact


class Event(msgspec.Struct, frozen=True):
    """A fact with its time and its number in the run's sequence."""

    seq: int
    at: int
    run: RunId
    fact: Fact

"""Every fact kept in a run's history. Events are not stored: each is read off the decision that made it true."""

from typing import TypeAlias

import msgspec

from jeton.model.event.credits import *
from jeton.model.event.flow import *
from jeton.model.event.fork import *
from jeton.model.event.group import *
from jeton.model.event.run import *
from jeton.model.event.token import *
from jeton.model.event.waits import *
from jeton.model.ids import RunId

Fact: TypeAlias = RunFact | TokenFact | GroupFact | WaitsFact | FlowFact | CreditsFact | ForkFact


class Event(msgspec.Struct, frozen=True):
    """A fact at its place in the run's one sequence."""

    seq: int
    at: int
    run: RunId
    fact: Fact

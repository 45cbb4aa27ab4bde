"""Everything planning can decide. A decision is complete in itself: folding it needs nothing but the state.

The journal is made of these, so field names are short words and defaults are left out.
"""

from typing import TypeAlias

from jeton.model.decision.credits import *
from jeton.model.decision.flow import *
from jeton.model.decision.fork import *
from jeton.model.decision.group import *
from jeton.model.decision.run import *
from jeton.model.decision.token import *
from jeton.model.decision.waits import *

Decision: TypeAlias = (
    RunDecision | TokenDecision | GroupDecision | WaitsDecision | FlowDecision | CreditsDecision | ForkDecision
)

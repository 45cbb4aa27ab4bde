"""Decisions: what planning says should change. A decision is complete: folding it needs nothing but the state.

The journal stores these, so field names are short and defaults are left out.
"""

from typing import TypeAlias

from jeton.model.decision.agent import *
from jeton.model.decision.budget import *
from jeton.model.decision.credits import *
from jeton.model.decision.flow import *
from jeton.model.decision.fork import *
from jeton.model.decision.group import *
from jeton.model.decision.run import *
from jeton.model.decision.token import *
from jeton.model.decision.turn import *
from jeton.model.decision.waits import *

Decision: TypeAlias = (
    RunDecision
    | TokenDecision
    | GroupDecision
    | WaitsDecision
    | FlowDecision
    | CreditsDecision
    | ForkDecision
    | TurnDecision
    | AgentDecision
    | BudgetDecision
)

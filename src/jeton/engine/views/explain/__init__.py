"""Why a run, a token or a transition did, or did not do, what it did: read off the journal, never stored."""

from jeton.engine.views.explain.answer import explain_run, explain_token, explain_transition
from jeton.engine.views.explain.text import explained
from jeton.engine.views.explain.views import (
    Cancelled,
    Considering,
    FanInView,
    MissingPaths,
    Routing,
    RunExplained,
    TokenExplained,
    TransitionExplained,
    Wait,
)

__all__ = [
    "Cancelled",
    "Considering",
    "FanInView",
    "MissingPaths",
    "Routing",
    "RunExplained",
    "TokenExplained",
    "TransitionExplained",
    "Wait",
    "explain_run",
    "explain_token",
    "explain_transition",
    "explained",
]

"""Explanations of why a run, a token or a transition did what it did, made from the journal."""

from jeton.engine.views.explain.explain import explain_run, explain_token, explain_transition
from jeton.engine.views.explain.text import explained
from jeton.engine.views.explain.views import (
    Cancelled,
    ConsideredTransition,
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
    "ConsideredTransition",
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

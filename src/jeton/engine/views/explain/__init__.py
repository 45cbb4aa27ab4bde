"""Explanations of why a run, a token or a transition did what it did, made from the journal.

Each name is found when it is first asked for, so that a process loads only what it uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_HOMES = {
    "explain_run": "jeton.engine.views.explain.explain",
    "explain_token": "jeton.engine.views.explain.explain",
    "explain_transition": "jeton.engine.views.explain.explain",
    "explained": "jeton.engine.views.explain.text",
    "Cancelled": "jeton.engine.views.explain.views",
    "ConsideredTransition": "jeton.engine.views.explain.views",
    "FanInView": "jeton.engine.views.explain.views",
    "MissingPaths": "jeton.engine.views.explain.views",
    "Routing": "jeton.engine.views.explain.views",
    "RunExplained": "jeton.engine.views.explain.views",
    "TokenExplained": "jeton.engine.views.explain.views",
    "TransitionExplained": "jeton.engine.views.explain.views",
    "Wait": "jeton.engine.views.explain.views",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute {name!r}")
    found: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found

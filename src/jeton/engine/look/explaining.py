"""Explanations of a run from its history, and its data as a token saw it."""

from typing import cast

from jeton.engine.reading import Context
from jeton.engine.views.explain.explain import (
    RunHistory,
    explain_run,
    explain_token,
    explain_transition,
    scope_of_token,
)
from jeton.engine.views.explain.views import Explanation
from jeton.model.failure import Refused
from jeton.model.json import JsonObject


def context_of_token(history: RunHistory, token: int) -> Context:
    """A run's data as a token sees it, or saw it last."""
    names = scope_of_token(history, token)
    return Context(names["input"], cast("JsonObject", names["state"]), names["output"], names.get("_branch"))


def explanation_of(
    history: RunHistory, token: int | None, transition: int | None, needs_app: str | None
) -> Explanation:
    """An explanation of a run, of one of its tokens, or of one of its transitions."""
    if token is not None and transition is not None:
        raise Refused("ambiguous", "asked about a token and about a transition", "ask about one of them")
    if token is not None:
        return explain_token(history, token)
    if transition is not None:
        return explain_transition(history, transition)
    return explain_run(history, needs_app)

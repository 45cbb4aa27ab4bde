"""What spans need to know of a run beside its journal."""

from collections.abc import Mapping

import msgspec

from jeton.model.definition.profile import ModelProfile
from jeton.model.ids import RunId
from jeton.model.trace_parent import TraceParent
from jeton.telemetry import names
from jeton.telemetry.span import AttributeValue


class RunFacts(msgspec.Struct, frozen=True):
    """A run or conversation, as its row and its definition tell of it."""

    run: RunId
    workflow: str  # of a conversation `agent:NAME`
    version: int
    forked_from: RunId | None = None
    profiles: Mapping[str, ModelProfile] = {}
    traceparent: TraceParent | None = None  # the root run was started under it
    other_traces: Mapping[RunId, str] = {}  # of runs that are linked to, if they were started under a span too
    contents: bool = False  # what was said, and inputs and results of tools, become attributes too


def model_attributes(facts: RunFacts, profile: str, model: str = "") -> dict[str, AttributeValue]:
    """The attributes of a model call. `model`: as the provider named it in its answer."""
    found: dict[str, AttributeValue] = {names.OPERATION: names.CHAT, names.PROFILE: profile}
    known = facts.profiles.get(profile)
    if known is not None:
        found[names.PROVIDER] = names.PROVIDERS.get(known.provider, known.provider)
        found[names.REQUEST_MODEL] = known.model or known.provider
    if model:
        found[names.RESPONSE_MODEL] = model
    return found

"""Whatever agents are garbled to, loading says what is wrong, all of it at once, and never breaks."""

import copy
from typing import Any, cast

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from jeton.definitions import library_from
from jeton.definitions.bundle import bundle_of, deployable
from jeton.definitions.read.location import Path, parts_of, path_text
from jeton.definitions.read.persona import AGENT_KEYS, BUDGET_KEYS, MEMORY_KEYS, PERSONA_KEYS
from jeton.definitions.read.profile import KEYS as PROFILE_KEYS
from jeton.definitions.read.prompt import PROMPT_KEYS
from jeton.definitions.read.script import ENTRY_KEYS
from jeton.definitions.read.tool import APPROVAL_KEYS, TARGETS, TOOL_KEYS
from jeton.definitions.write import written
from jeton.model.json import Json, JsonObject
from tests.definitions.agents.given_agents import SHOP
from tests.definitions.test_properties import SCALARS, is_well_formed

WHOLE = cast("JsonObject", yaml.safe_load(SHOP))
PLACES: list[Path] = [path for path, _ in parts_of(WHOLE) if path]
KEYS = sorted({*PROFILE_KEYS, *PROMPT_KEYS, *ENTRY_KEYS, *TOOL_KEYS, *APPROVAL_KEYS, *PERSONA_KEYS, *AGENT_KEYS})
NAMES = ("bob", "helper", "refund", "fast", "fake", "triage", "tainted", "{{ x }}", "{%", "input.x")
LEAVES = cast("st.SearchStrategy[Json]", SCALARS | st.sampled_from(NAMES))
ODD = LEAVES | st.lists(LEAVES, max_size=2) | st.dictionaries(st.sampled_from(KEYS), LEAVES, max_size=3)


def inside(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


def garble(data: JsonObject, path: Path, how: str, value: Json, key: str) -> None:
    """Replace, remove, rename or repeat one value, if what came before has left it there."""
    try:
        around = inside(data, path[:-1])
        here = around[path[-1]]
    except (KeyError, IndexError, TypeError):
        return
    if how == "replace":
        around[path[-1]] = value
    elif how == "remove":
        del around[path[-1]]
    elif isinstance(path[-1], int):
        around.append(copy.deepcopy(here))
    elif how == "rename":
        around[key] = around.pop(path[-1])


CHANGES = st.tuples(
    st.sampled_from(PLACES), st.sampled_from(("replace", "remove", "rename", "repeat")), ODD, st.sampled_from(KEYS)
)


@given(st.lists(CHANGES, min_size=1, max_size=4))
@settings(max_examples=300, deadline=None)
def test_no_garbled_library_breaks_loading(changes: list[tuple[Path, str, Json, str]]) -> None:
    data = copy.deepcopy(WHOLE)
    for change in changes:
        garble(data, *change)
    loaded = library_from(data)
    assert all(is_well_formed(problem) for problem in loaded.problems)
    for name in deployable(loaded.library):
        assert name in deployable(bundle_of(loaded.library, name))
    if loaded.ok:
        assert library_from(written(loaded.library)).require() == loaded.library


TYPED: list[Path] = [
    *(("model_profiles", "slow", key) for key in PROFILE_KEYS),
    *(("model_profiles", "fake", "script", 0, key) for key in ENTRY_KEYS),
    *(("prompts", "verdict", key) for key in PROMPT_KEYS),
    *(("tools", "ask_eve", key) for key in TOOL_KEYS if key not in TARGETS),
    *(("tools", "ask_bob", "agent"), ("tools", "report", "workflow"), ("tools", "judge", "task")),
    *(("tools", "search", "mcp", key) for key in ("server", "tool")),
    *(("tools", "refund", "needs_approval", key) for key in APPROVAL_KEYS),
    *(("personas", "judge", key) for key in PERSONA_KEYS),
    *(("personas", "helper", "memory", key) for key in MEMORY_KEYS),
    *(("personas", "helper", "budget", key) for key in BUDGET_KEYS),
    *(("agents", "bob", key) for key in AGENT_KEYS),
    *(("workflows", "triage", "nodes", "ask", "agent", key) for key in ("name", "output_schema", "conversation")),
]
"""Keys whose value can never be 2.5."""


@given(st.sets(st.sampled_from(TYPED), min_size=1))
@settings(deadline=None)
def test_every_wrong_value_is_reported_at_once(wrong: set[Path]) -> None:
    data = copy.deepcopy(WHOLE)
    for path in wrong:
        inside(data, path[:-1])[path[-1]] = 2.5
    found = {problem.path for problem in library_from(data).problems if problem.severity == "error"}
    assert {path_text(path) for path in wrong} <= found


SECTIONS = ("model_profiles", "prompts", "tools", "personas", "agents")
FIXED: list[Path] = [
    *(
        path
        for path in PLACES
        if len(path) == 2 and path[0] in ("model_profiles", "prompts", "tools", "personas", "agents")
    ),
    *(("model_profiles", "fake", "script", index) for index in range(4)),
    *(("tools", "refund", "needs_approval"), ("tools", "search", "mcp"), ("prompts", "verdict", "examples", 0)),
    *(("personas", "helper", "memory"), ("personas", "helper", "memory", "types", "fact")),
    *(("personas", "helper", "budget"), ("workflows", "triage", "nodes", "ask", "agent")),
]
"""Objects whose keys are ours, and not names or data that the author chose."""


@given(st.sets(st.sampled_from(FIXED), min_size=1), st.sampled_from(("mx", "nmae", "tols")))
@settings(deadline=None)
def test_every_unknown_key_is_reported_at_once(places: set[Path], key: str) -> None:
    data = copy.deepcopy(WHOLE)
    for path in places:
        inside(data, path)[key] = 1
    found = {problem.path for problem in library_from(data).problems if problem.code == "unknown_key"}
    assert found == {path_text((*path, key)) for path in places}

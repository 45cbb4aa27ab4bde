"""Whatever a flow says, if checking finds no error in it, it can be run, and whatever its nodes give back."""

import string
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from jeton.definitions import library_from
from jeton.model.definition.flow import BUILT_IN_TYPES
from jeton.model.json import Json
from tests.planning.flow_drive import Driver, compiled_in

KEYS: SearchStrategy[str] = st.sampled_from(
    (
        *("main", "a", "b", "value", "values", "cases", "condition", "template", "seconds", "timestamp", "label"),
        *("workflow", "agent", "title", "schema", "url", "on_timeout", "approvals", "_branch", "_wait"),
    )
)
HANDLES: SearchStrategy[str] = st.sampled_from(("main", "a", "b", "value", "values", "seconds", "template"))
TEXTS: SearchStrategy[str] = st.sampled_from(
    (
        *("x", "f", "inputs.main", "context.a", "'x'", "{{ inputs.main }}", "inputs.main > 1", "1 +", "2 * 3"),
        *("2026-01-01T00:00:00Z", "2026-01-01", "https://x.example/", ""),
    )
)
SCALARS: SearchStrategy[Any] = st.none() | st.booleans() | st.integers(-2, 2**62) | st.floats(-2, 1e308) | TEXTS
VALUES: SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2), max_leaves=5
)
TYPES = tuple(type for type in BUILT_IN_TYPES if type not in ("agent", "llm"))  # what they need is not there yet
NEEDED: dict[str, dict[str, SearchStrategy[Any]]] = {
    "if_else": {"condition": TEXTS | st.booleans()},
    "switch": {"value": VALUES, "cases": st.lists(TEXTS, max_size=2)},
    "template": {"template": TEXTS},
    "workflow": {"workflow": TEXTS},
    "wait": {"seconds": VALUES},
    "wait_until": {"timestamp": TEXTS},
}


def node(type: str) -> SearchStrategy[Any]:
    """A node that has what its type cannot do without, sound or not."""
    data: SearchStrategy[Any] = st.dictionaries(KEYS, VALUES, max_size=2)
    if type in NEEDED:
        data = st.fixed_dictionaries(NEEDED[type])
    type_of_node: SearchStrategy[Any] = st.just(type)
    more: dict[str, SearchStrategy[Any]] = {
        "inputs": st.dictionaries(HANDLES, VALUES, max_size=2),
        "repeated": st.lists(HANDLES, max_size=1),
    }
    return st.fixed_dictionaries({"type": type_of_node, "data": data}, optional=more)


NODES = st.one_of(*(node(type) for type in (*TYPES, "work", "nobody")))
NAMES = st.sampled_from(string.ascii_lowercase[:4])
CONNECTIONS = st.fixed_dictionaries(
    {"from": NAMES, "to": NAMES}, optional={"from_output": HANDLES, "to_input": HANDLES}
)
FLOWS: SearchStrategy[dict[str, object]] = st.fixed_dictionaries(
    {
        "nodes": st.fixed_dictionaries(dict.fromkeys(string.ascii_lowercase[:4], NODES)),
        "connections": st.lists(CONNECTIONS, max_size=5),
        "cycles": st.just("ignore_back_edges"),
    }
)


@given(FLOWS, VALUES, st.lists(VALUES, max_size=4))
@settings(max_examples=300)
def test_a_flow_without_an_error_runs(flow: dict[str, object], given_input: Json, results: list[Json]) -> None:
    loaded = library_from({"flows": {"f": flow}})
    assert all(problem.code and problem.remedy for problem in loaded.problems)
    if loaded.ok:
        run = Driver(compiled_in(loaded.library), given_input)
        while run.calls or run.state.waiting:
            if run.calls:
                run.finish(next(iter(run.calls)), results.pop() if results else {})
            else:
                run.wake(next(iter(run.state.waiting)))
        assert run.status in ("completed", "failed")
        assert run.status == "failed" or isinstance(run.output, dict)

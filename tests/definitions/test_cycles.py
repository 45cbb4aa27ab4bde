"""Which nodes lead back to themselves."""

from hypothesis import given
from hypothesis import strategies as st

from jeton.definitions.checks.graph.cycles import components, shortest_cycle
from jeton.definitions.checks.graph.graph import reached

NODES = [f"n{number}" for number in range(7)]
STEPS = st.dictionaries(st.sampled_from(NODES), st.lists(st.sampled_from(NODES), max_size=4), max_size=7)


def leads_to(start: str, end: str, steps: dict[str, list[str]]) -> bool:
    """By at least one step."""
    return end in reached(steps.get(start, ()), steps)


@given(STEPS)
def test_components_are_the_nodes_that_lead_to_each_other(steps: dict[str, list[str]]) -> None:
    expected = {
        frozenset(other for other in NODES if leads_to(node, other, steps) and leads_to(other, node, steps))
        for node in NODES
        if leads_to(node, node, steps)
    }
    found = components(NODES, steps)
    assert len(found) == len(expected)
    assert set(found) == expected


@given(STEPS)
def test_a_cycle_is_one(steps: dict[str, list[str]]) -> None:
    for component in components(NODES, steps):
        for start in component:
            around = shortest_cycle(start, component, steps)
            assert around[0] == start
            assert len(set(around)) == len(around)
            pairs = zip(around, [*around[1:], start], strict=True)
            assert all(target in steps[source] for source, target in pairs)


def test_a_long_chain_does_not_overflow_the_stack() -> None:
    steps = {f"n{number}": [f"n{number + 1}"] for number in range(50_000)}
    assert components(steps, steps) == []

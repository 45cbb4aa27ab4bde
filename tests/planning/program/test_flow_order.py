"""In which order a flow is walked: where it begins, which connections close a cycle, and what comes after what."""

import pytest

from jeton.model.definition.flow import Connection, Flow, FlowNode
from jeton.model.failure import BrokenInvariant
from jeton.planning.program.flow_order import FlowGraph, graph_of_flow
from tests.planning.flow_drive import MERGE, Object, program_of, wire


def flow(nodes: str, *connections: str, ignore: bool = False) -> Flow:
    """Nodes by one letter each, as declared, and connections as `ab`."""
    return Flow(
        "f",
        {name: FlowNode("merge") for name in nodes},
        tuple(nodes),
        tuple(Connection(each[0], each[1]) for each in connections),
        cycles="ignore_back_edges" if ignore else "refuse",
    )


def graph(roots: str, ignored: set[int], order: str) -> FlowGraph:
    return FlowGraph(tuple(roots), frozenset(ignored), tuple(order))


@pytest.mark.parametrize(
    ("given", "then"),
    [
        pytest.param(flow(""), graph("", set(), ""), id="nothing"),
        pytest.param(flow("cba"), graph("cba", set(), "cba"), id="without connections all begin, as declared"),
        pytest.param(flow("cba", "ab", "bc"), graph("a", set(), "abc"), id="a node comes after all that lead to it"),
        pytest.param(
            flow("dcba", "ad", "bc"), graph("ba", set(), "bcad"), id="among equals the one declared first, at each step"
        ),
        pytest.param(
            flow("abcd", "ab", "ac", "bd", "cd"), graph("a", set(), "abcd"), id="where paths meet, after both of them"
        ),
        pytest.param(
            flow("ab", "ab", "ab"), graph("a", set(), "ab"), id="two connections between the same are counted twice"
        ),
        pytest.param(
            flow("ab", "ab", "ba", ignore=True),
            graph("a", {1}, "ab"),
            id="a flow that is all cycle is walked from its first node",
        ),
        pytest.param(
            flow("ba", "ab", "ba", ignore=True), graph("b", {0}, "ba"), id="which is the first that was declared"
        ),
        pytest.param(
            flow("abs", "ab", "ba", "sb", ignore=True),
            graph("s", {0}, "sba"),
            id="from a root the walk decides what closes the cycle",
        ),
        pytest.param(flow("a", "aa", ignore=True), graph("a", {0}, "a"), id="a connection to itself closes one"),
        pytest.param(
            flow("abcd", "ab", "ac", "bd", "cd", ignore=True),
            graph("a", set(), "abcd"),
            id="a node that is reached twice closes none",
        ),
        pytest.param(
            flow("abc", "ab", "bc", "cb", "ac", ignore=True),
            graph("a", {2}, "abc"),
            id="a cycle into which two connections lead is closed once",
        ),
        pytest.param(
            flow("abcde", "ab", "cd", "dc", "de", ignore=True),
            graph("ac", {2}, "abcde"),
            id="a part that no root leads to is walked from its first node",
        ),
    ],
)
def test_the_walk(given: Flow, then: FlowGraph) -> None:
    assert graph_of_flow(given) == then


def test_a_cycle_that_should_have_been_refused_is_our_bug() -> None:
    with pytest.raises(BrokenInvariant):
        graph_of_flow(flow("ab", "ab", "ba"))


def test_the_order_is_that_of_the_connections_and_else_of_the_declaration() -> None:
    """D14"""
    given: Object = {
        "nodes": {"d": MERGE, "c": MERGE, "b": MERGE, "a": MERGE},
        "connections": [wire("a", "d"), wire("b", "c")],
    }
    assert program_of(**given).order == ("b", "c", "a", "d")

"""Which nodes of a flow are ready, skipped or dead."""

import pytest

from jeton.model import decision as d
from jeton.model.failure import BrokenInvariant, RunError
from jeton.model.state.flow_run import Executed, FlowState, FlowStatus, Settled, SkipReason
from jeton.planning.flow.progress import flow_of
from jeton.planning.flow.readiness import (
    connection_status,
    is_live,
    limit_problem,
    remaining_of,
    reopened,
    settle_executed,
    settle_failed,
    skip_reason,
    start_flow,
    status_of,
)
from jeton.planning.program.workflow import Program
from tests.planning.given import Given, at, before, done, failed, flow, given, started


def works(nodes: str, connections: str = "", more: str = "", **run_when: str) -> Program:
    """Nodes of one letter that work, and connections as `ab` (from `main`) or `ab.x` (from the handle `x`)."""
    listed = "".join(
        f"\n- {{from: {each[0]}, to: {each[1]}, from_output: {each[3:] or 'main'}}}" for each in connections.split()
    )
    made = ", ".join(f"{name}: {{type: work, run_when: {run_when.get(name, 'all')}}}" for name in nodes)
    return flow(f"nodes: {{{made}}}\n" + (f"connections: {listed}\n" if listed else "") + more)


PAIR = works("ab", "ab")
DIAMOND = works("abcd", "ab ac bd cd")
CHOICE = works("abcd", "ab.x ac.y bd cd")
LONG = works("abcd", "ab bc cd")
MEET = works("abc", "ac bc")
STRICT = works("abc", "ac", "on_error: fail")


def executed(run: Given, node: str, outputs: Executed) -> Settled:
    return settle_executed(flow_of(run.program), run.state().flow, node, outputs)


@pytest.mark.parametrize(
    ("run", "node", "outputs", "then"),
    [
        pytest.param(given(PAIR, started()), "a", Executed({}), Settled(("b",)), id="what waits for it alone is ready"),
        pytest.param(
            given(MEET, started()),
            "b",
            Executed({}),
            Settled(remaining={"c": 1}),
            id="what waits for another too has one connection left",
        ),
        pytest.param(
            given(MEET, started(), done(0, {})), "b", Executed({}), Settled(("c",)), id="with the last it is ready"
        ),
        pytest.param(
            given(DIAMOND, started()), "a", Executed({}), Settled(("b", "c")), id="several are ready in their order"
        ),
        pytest.param(
            given(CHOICE, started()),
            "a",
            Executed({}, "y"),
            Settled(("c",), ("b",), {"d": 1}),
            id="what the other branch leads to is skipped, and counts for what is behind it",
        ),
        pytest.param(
            given(CHOICE, started()),
            "a",
            Executed({}, "z"),
            Settled((), ("b", "c", "d"), dead_end=True),
            id="a branch that nothing leaves by skips everything behind it, and is a dead end",
        ),
        pytest.param(
            given(CHOICE, started()),
            "a",
            Executed({}),
            Settled((), ("b", "c", "d")),
            id="handles that nothing came out of are dead, which is no dead end",
        ),
        pytest.param(
            given(CHOICE, started(), done(0, {"_branch": "x"})),
            "b",
            Executed({}),
            Settled(("d",)),
            id="where paths meet one that delivered is enough",
        ),
        pytest.param(
            given(MEET, started(), failed(0)),
            "b",
            Executed({}),
            Settled((), ("c",)),
            id="but one that failed skips it",
        ),
        pytest.param(
            given(works("abc", "ac bc", c="any"), started(), failed(0)),
            "b",
            Executed({}),
            Settled(("c",)),
            id="unless what was delivered is enough for it",
        ),
        pytest.param(
            given(works("abc", "ac bc", c="any"), started(), failed(0)),
            "b",
            Executed({}, "x"),
            Settled((), ("c",), dead_end=True),
            id="but something has to be",
        ),
        pytest.param(
            given(works("abc", "ac bc", c="settled"), started(), failed(0)),
            "b",
            Executed({}, "x"),
            Settled(("c",), dead_end=True),
            id="a clean-up needs nothing",
        ),
        pytest.param(
            given(works("abc", "ac bc", c="settled"), started()),
            "b",
            Executed({}),
            Settled(remaining={"c": 1}),
            id="and waits for all",
        ),
    ],
)
def test_what_follows_from_a_node_that_ran(run: Given, node: str, outputs: Executed, then: Settled) -> None:
    assert executed(run, node, outputs) == then


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(given(LONG, started()), Settled((), ("b", "c", "d")), id="all that depends on it is skipped"),
        pytest.param(given(MEET, started()), Settled(remaining={"c": 1}), id="what waits for another too is not yet"),
        pytest.param(given(STRICT, started()), Settled(), id="if the run ends with it nothing follows"),
    ],
)
def test_what_follows_from_a_node_that_failed(run: Given, then: Settled) -> None:
    assert settle_failed(flow_of(run.program), run.state().flow, "a") == then


TRIGGERS = flow("""
nodes: {w: {type: work}, t: {type: trigger}, u: {type: trigger}, a: {type: work}, b: {type: work}}
connections: [{from: t, to: a}, {from: u, to: a}, {from: u, to: b}]
""")


@pytest.mark.parametrize(
    ("program", "fired", "then"),
    [
        pytest.param(MEET, None, Settled(("a", "b")), id="every root begins"),
        pytest.param(TRIGGERS, None, Settled(("w", "t"), ("u", "b"), {"a": 1}), id="of triggers only the first"),
        pytest.param(TRIGGERS, "u", Settled(("w", "u"), ("t",), {"a": 1}), id="or the one that fired"),
        pytest.param(TRIGGERS, "w", Settled(("w", "t"), ("u", "b"), {"a": 1}), id="what is no trigger cannot fire"),
    ],
)
def test_where_a_run_begins(program: Program, fired: str | None, then: Settled) -> None:
    assert start_flow(flow_of(program), FlowState(), fired) == then


@pytest.mark.parametrize(
    ("outputs", "handle", "then"),
    [
        pytest.param(Executed({}), "main", True, id="main sends, whatever came out"),
        pytest.param(Executed({"x": None}), "x", True, id="a handle sends what was produced under its name, null too"),
        pytest.param(Executed({}), "x", False, id="and nothing else"),
        pytest.param(Executed({"y": 1}, "x"), "x", True, id="a branch that was chosen sends"),
        pytest.param(Executed({"y": 1}, "x"), "y", False, id="and no other, produced or not"),
        pytest.param(Executed({}, "x"), "main", False, id="main neither"),
    ],
)
def test_which_handles_send_anything(outputs: Executed, handle: str, then: bool) -> None:
    assert is_live(outputs, handle) is then


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(given(PAIR, started(), done(0, {})), "delivered", id="what ran delivers"),
        pytest.param(given(PAIR, started(), done(0, {"_branch": "x"})), "dead", id="or not, if it chose otherwise"),
        pytest.param(given(PAIR, started(), failed(0)), "failed", id="what failed fails it"),
    ],
)
def test_how_a_connection_is_settled(run: Given, then: str) -> None:
    program = flow_of(run.program)
    assert connection_status(program, run.state().flow, program.nodes["b"].incoming[0]) == then


def test_the_connections_of_a_skipped_node_are_dead_or_failed_like_what_was_before() -> None:
    for run, then in (
        (given(LONG, started(), done(0, {"_branch": "x"})), "dead"),
        (given(LONG, started(), failed(0)), "failed"),
    ):
        program = flow_of(run.program)
        assert connection_status(program, run.state().flow, program.nodes["d"].incoming[0]) == then


def test_a_connection_whose_source_is_not_settled_is_not_asked_for() -> None:
    program = flow_of(PAIR)
    with pytest.raises(BrokenInvariant):
        connection_status(program, given(PAIR, started()).state().flow, program.nodes["b"].incoming[0])


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(given(PAIR, started()), "running", id="until every node is settled it runs"),
        pytest.param(given(MEET, started(), failed(0)), "running", id="also behind an error"),
        pytest.param(given(STRICT, started(), failed(0)), "failed", id="unless that ends it"),
        pytest.param(given(PAIR, started(), done(0, {}), done(1, {})), "completed", id="all ran"),
        pytest.param(given(PAIR, started(), done(0, {"_branch": "x"})), "completed", id="or were not on the way"),
        pytest.param(given(PAIR, started(), failed(0)), "failed", id="one failed"),
        pytest.param(given(flow("nodes: {}"), started()), "completed", id="an empty flow is done"),
    ],
)
def test_how_a_run_stands(run: Given, then: FlowStatus) -> None:
    assert status_of(flow_of(run.program), run.state().flow) == then


MIXED = works("abcde", "ac.x bc cd be.y")


@pytest.mark.parametrize(
    ("run", "node", "then"),
    [
        pytest.param(given(LONG, started(), failed(0)), "d", "upstream_failure", id="however far before it"),
        pytest.param(given(LONG, started(), done(0, {"_branch": "x"})), "d", "branch_not_taken", id="nothing failed"),
        pytest.param(
            given(MIXED, started(), done(0, {}), failed(1)),
            "d",
            "upstream_failure",
            id="one failure among what was not taken is enough",
        ),
    ],
)
def test_why_a_node_was_skipped(run: Given, node: str, then: SkipReason) -> None:
    assert skip_reason(flow_of(run.program), run.state().flow, node) == then


@pytest.mark.parametrize(
    ("run", "error"),
    [
        pytest.param(at("a", works("ab", "ab", "limits: {max_nodes: 1}"), started()), None, id="as many as it says"),
        pytest.param(
            at("b", works("ab", "ab", "limits: {max_nodes: 1}"), started(), done(0, {})),
            RunError("limit_exceeded", "max_nodes: node 'b' would be node 2 of this run", "b"),
            id="and not one more",
        ),
        pytest.param(
            at("c", works("abc", "bc", "limits: {max_nodes: 2}"), started(), failed(0), done(1, {})),
            RunError("limit_exceeded", "max_nodes: node 'c' would be node 3 of this run", "c"),
            id="one that failed has run too",
        ),
    ],
)
def test_how_many_nodes_may_begin(run: Given, error: RunError | None) -> None:
    assert run.node is not None
    assert limit_problem(flow_of(run.program), run.state().flow, run.node) == error


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(given(PAIR, started()), {}, id="nothing is counted before anything is settled"),
        pytest.param(given(DIAMOND, started(), done(0, {})), {}, id="what is ready is not counted any more"),
        pytest.param(given(DIAMOND, started(), done(0, {}), done(1, {})), {"d": 1}, id="one of two is left"),
        pytest.param(given(MEET, started(), failed(0)), {"c": 1}, id="a failure counts down like any other end"),
        pytest.param(given(CHOICE, started(), done(0, {"_branch": "x"})), {"d": 1}, id="and so does a skipped node"),
    ],
)
def test_the_counters_of_a_run_that_was_read_back(run: Given, then: dict[str, int]) -> None:
    state = run.state().flow
    assert remaining_of(flow_of(run.program), state) == then
    assert state.remaining == then, "folding leaves the same"


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(before(d.EndRun, PAIR, started(), done(0, {}), done(1, {})), None, id="without an error nothing"),
        pytest.param(
            before(d.EndRun, LONG, started(), done(0, {}), failed(1)),
            d.ReopenNodes(("b",), ("c", "d"), {"c": 1, "d": 1}),
            id="what failed, and all that was skipped for it",
        ),
        pytest.param(
            before(d.EndRun, MEET, started(), failed(0), done(1, {})),
            d.ReopenNodes(("a",), ("c",), {"c": 1}),
            id="what another node delivered stays delivered",
        ),
        pytest.param(
            before(d.EndRun, MIXED, started(), done(0, {"x": 1}), failed(1)),
            d.ReopenNodes(("b",), ("c", "d", "e"), {"c": 1, "d": 1, "e": 1}),
            id="in the order of the flow",
        ),
        pytest.param(
            before(d.EndRun, works("abcd", "ac.x bd"), started(), done(0, {}), failed(1)),
            d.ReopenNodes(("b",), ("d",), {"d": 1}),
            id="what was skipped for another reason stays skipped",
        ),
        pytest.param(
            before(d.EndRun, works("abcd", "ac.x cd bd"), started(), done(0, {}), failed(1)),
            d.ReopenNodes(("b",), ("d",), {"d": 1}),
            id="and is not waited for again",
        ),
        pytest.param(
            before(d.EndRun, works("abcd", "ab bc bd.y", b="settled"), started(), failed(0), done(1, {}), done(2, {})),
            d.ReopenNodes(("a",), ("d",), {"b": 1, "c": 1, "d": 1}, ("b", "c")),
            id="what ran in spite of a failure is done again, and all behind it is as if it was never reached",
        ),
        pytest.param(
            before(d.EndRun, works("abc", "ab bc", b="settled"), started(), failed(0), failed(1)),
            d.ReopenNodes(("a",), ("c",), {"b": 1, "c": 1}, ("b",)),
            id="what failed behind a failure waits for it",
        ),
    ],
)
def test_what_a_run_that_goes_on_does_again(run: Given, then: d.ReopenNodes | None) -> None:
    assert reopened(flow_of(run.program), run.state().flow) == then

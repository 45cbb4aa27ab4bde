"""Nodes that end the run, whatever else is under way."""

import pytest

from jeton.model import decision as d
from jeton.model.failure import BrokenInvariant, RunError
from jeton.model.ids import RunId, TokenId
from jeton.planning.tokens.end import plan_end
from tests.planning.given import RUN, Given, at, given, started, token_at, workflow

NOW = 9
MISSING = ("input.gone",)
STOP = TokenId(1)
ALONE = workflow("""
nodes: {s: {output_mapping: {output.x: "1"}}, stop: {end: completed}}
transitions: [{from: s, to: stop}]
output_mapping: {y: output.x}
""")
BESIDE = workflow("""
nodes: {s: {}, call: {workflow: child}, work: {task: work}, rest: {wait: {seconds: 1}}, stop: {end: completed}}
transitions:
- {from: s, to: call}
- {from: s, to: work}
- {from: s, to: rest}
- {from: rest, to: stop}
""")
STRICT = workflow("""
nodes: {s: {}, stop: {end: completed}}
transitions: [{from: s, to: stop}]
output_mapping: {y: input.n}
output_schema: {properties: {y: {type: string}}}
""")
FAILED = workflow("""
nodes: {s: {}, stop: {end: {failed: {type: dear, message: "{{ input.n }} is too much"}}}, catch: {}}
transitions: [{from: s, to: stop}, {from: stop, to: catch, condition: has(state._last_error)}]
""")
SILENT = workflow("""
nodes: {s: {}, stop: {end: {failed: {type: dear}}}}
transitions: [{from: s, to: stop}]
""")
ENDED = [d.FinishNode(STOP, "stop", missing=MISSING), d.RouteToken(STOP, "stop", "completed")]


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            at("stop", ALONE, started()),
            [*ENDED, d.EndRun(NOW, "completed", {"y": 1}, ended_by=STOP)],
            id="the run completes, with its output mapped",
        ),
        pytest.param(
            at("stop", STRICT, started({"n": 3})),
            [
                *ENDED,
                d.EndRun(
                    NOW,
                    "failed",
                    error=RunError("output_invalid", 'output.y: 3 is not of type "string"'),
                    ended_by=STOP,
                ),
            ],
            id="or fails, if the output does not fit",
        ),
        pytest.param(
            at("stop", FAILED, started({"n": 3})),
            [
                d.RouteToken(STOP, "stop", "failed"),
                d.EndRun(NOW, "failed", error=RunError("dear", "3 is too much", "stop", STOP)),
            ],
            id="a failed end has a type and a message, and no transition handles it",
        ),
        pytest.param(
            at("stop", SILENT, started()),
            [
                d.RouteToken(STOP, "stop", "failed"),
                d.EndRun(NOW, "failed", error=RunError("dear", "the run ends at 'stop'", "stop", STOP)),
            ],
            id="without a message it says where the run ended",
        ),
    ],
)
def test_an_end(run: Given, then: list[d.Decision]) -> None:
    state = run.state()
    assert plan_end(run.program, state, token_at(state, "stop"), MISSING, NOW) == then


def test_an_end_cancels_all_that_is_under_way_children_first() -> None:
    state = given(BESIDE, started()).state()
    # the token that waits stands for one at the end: planning does not look at its phase
    (rest,) = [token for token in state.tokens.values() if token.node == "rest"]
    state.tokens[rest.id] = token = type(rest)(rest.id, "stop", rest.path, rest.phase, rest.slot)
    reason = "run completed at 'stop'"
    assert plan_end(BESIDE, state, token, (), NOW) == [
        d.FinishNode(rest.id, "stop"),
        d.RouteToken(rest.id, "stop", "completed"),
        d.StopChild(TokenId(1), RunId(f"{RUN}.1"), reason),
        d.EndTokens(((1, 2),), "cancelled", reason),
        d.EndRun(NOW, "completed", {}, ended_by=rest.id),
    ]


def test_a_message_that_cannot_be_rendered_fails_the_node_and_no_transition_from_it_handles_that() -> None:
    state = at("stop", FAILED, started()).state()
    failed, routed, end = plan_end(FAILED, state, token_at(state, "stop"), (), NOW)
    assert isinstance(failed, d.FailNode)
    assert failed.error["type"] == "template_error"
    assert routed == d.RouteToken(STOP, "stop", "failed")
    assert isinstance(end, d.EndRun)
    assert end.error is not None
    assert end.error.type == "template_error"


def test_a_node_that_is_no_end_is_a_bug() -> None:
    state = at("stop", ALONE, started()).state()
    other = token_at(given(BESIDE, started()).state(), "work")
    with pytest.raises(BrokenInvariant):
        plan_end(BESIDE, state, other, (), NOW)

"""Every token a run ever had, from its journal alone."""

import pytest

from jeton.engine.views.tokens import TokenView, token_views
from jeton.hosts.simulated.script import Answer
from jeton.hosts.simulated.world import World
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId
from jeton.model.json import Json
from tests.engine.views.journals import FAILS, PANEL, WORK, branches_take, told, up_to

RETRIED: Json = {"steps": [{"action": WORK["action"], "on_failure": "retry"}], "retry": {"max_attempts": 2}}
ASKS_AGAIN = Answer(failure=TaskFailed("broken", "it broke", retry=True), takes_ms=1)


def line(token: TokenView) -> tuple[int, str, str, str, int | None]:
    return token.id, token.node, token.status, token.path, token.parent


@pytest.mark.parametrize(
    ("workflow", "then"),
    [
        pytest.param(
            {"initial_node": "a", "nodes": {"a": {}}},
            [(0, "a", "completed", "root", None)],
            id="one node, one token",
        ),
        pytest.param(
            {"initial_node": "a", "nodes": {"a": {}, "b": {}}, "transitions": [{"from": "a", "to": "b"}]},
            [(0, "a", "completed", "root", None), (1, "b", "completed", "root", 0)],
            id="a move makes a token on the same path",
        ),
        pytest.param(
            {
                "initial_node": "a",
                "nodes": {"a": {}, "b": {}, "c": {}},
                "transitions": [{"from": "a", "to": "b"}, {"from": "a", "to": "c"}],
            },
            [
                (0, "a", "completed", "root", None),
                (1, "b", "completed", "root.b.0", 0),
                (2, "c", "completed", "root.c.1", 0),
            ],
            id="the path grows at a fan-out",
        ),
    ],
)
def test_tokens_of_a_finished_run(workflow: Json, then: list[tuple[int, str, str, str, int | None]]) -> None:
    assert isinstance(workflow, dict)
    assert [line(token) for token in token_views(told(workflow).entries)] == then


def test_a_quorum_completes_those_who_came_and_cancels_who_did_not() -> None:
    panel = told(PANEL, {"judges": ["a", "b", "c"]}, {"judge": branches_take(9, 1, 3)})
    found = token_views(panel.entries)
    assert [(t.branch_index, t.status, t.waits_at) for t in found[1:4]] == [
        (0, "cancelled", None),
        (1, "completed", "tally"),
        (2, "completed", "tally"),
    ]
    assert found[1].reason == "the fan-in at 'tally' opened"


def test_a_sibling_waits_at_its_fan_in() -> None:
    panel = told(PANEL, {"judges": ["a", "b", "c"]}, {"judge": branches_take(9, 1, 5)})
    then = token_views(up_to(panel, 2).entries)
    assert [t.status for t in then] == ["completed", "executing", "waiting_for_siblings", "executing"]
    assert then[2].waits_at == "tally"
    assert then[2].since == then[2].created_at.__class__.fromtimestamp(panel.entries[1].at / 1000, then[2].since.tzinfo)


def test_a_timer_is_waited_for_with_its_label() -> None:
    waits = told({"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 5, "label": "a nap"}}}})
    (token,) = token_views(up_to(waits, 1).entries)
    assert (token.status, token.label) == ("waiting_for_timer", "a nap")
    assert token.due is not None
    assert (token.due - token.since).total_seconds() == 5


def test_a_retry_counts_the_attempt_that_follows() -> None:
    library = {"initial_node": "a", "nodes": {"a": {"task": RETRIED}}}
    tries = told(library, answers={"a": ASKS_AGAIN})
    waiting, failed = (token_views(up_to(tries, n).entries)[0] for n in (2, len(tries.entries)))
    assert (waiting.status, waiting.attempt) == ("waiting_for_retry", 2)
    assert (failed.status, failed.attempt) == ("failed", 2)
    assert failed.error is not None
    assert failed.error["message"] == "it broke"


def test_a_cancelled_run_cancels_what_is_under_way() -> None:
    def cancel(world: World) -> None:
        world.cancel(RunId("r"), "no longer needed", after_ms=50)

    nap = told({"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 60}}}}, meanwhile=cancel)
    (token,) = token_views(nap.entries)
    assert (token.status, token.reason) == ("cancelled", "run cancelled: no longer needed")


@pytest.mark.parametrize("judges", [0, 1, 3, 40])
def test_when_the_run_has_ended_every_token_has(judges: int) -> None:
    for answers in ({}, {"judge": FAILS}):
        found = token_views(told(PANEL, {"judges": ["x"] * judges}, answers).entries)
        assert [t.id for t in found if not t.ended or t.ended_at is None] == []


def test_paths_a_mapping_found_nothing_at_are_kept_with_the_token() -> None:
    node: Json = {"output_mapping": {"state.x": "input.nothing"}}
    (token,) = token_views(told({"initial_node": "a", "nodes": {"a": node}}).entries)
    assert token.missing == ("input.nothing",)

"""Gates: who may answer, what an answer must be, and what happens when nobody does."""

import pytest

from jeton.model.ids import TokenId
from jeton.model.message import AnswerGate
from tests.conformance.case import (
    HELD,
    Act,
    Case,
    Data,
    Outcome,
    answers,
    answers_early,
    cancels,
    each,
    join,
    lets_go,
    mock,
    sets,
    to,
    workflow,
)

SCHEMA: Data = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}


def gate(**rest: object) -> Data:
    return {"gate": {"title": "Ship it?", "schema": SCHEMA, **rest}, "output_mapping": {"output.said": "result"}}


YES: Data = {"ok": True}
NO: Data = {"ok": False}
GATE = workflow({"g": gate()})
LATE_GATE = workflow({"rest": HELD, "g": gate()}, to("rest", "g"))
FIRST = TokenId(0)


def no_worker_was_asked(seen: Outcome) -> None:
    assert "set_status" in seen.decisions
    assert "dispatch_token" not in seen.decisions
    assert seen.reply("a").accepted


def the_wrong_one_was_told_why(seen: Outcome) -> None:
    assert not seen.reply("wrong").accepted
    assert "ok" in seen.reply("wrong").why
    assert seen.reply("right").accepted


def exactly_one_won(seen: Outcome) -> None:
    accepted = [reply.id for reply in seen.replies if reply.accepted]
    assert len(accepted) == 1
    refused = [reply for reply in seen.replies if not reply.accepted]
    assert all(reply.why == "the gate is closed" for reply in refused)


def ann_counts_once(seen: Outcome) -> None:
    assert [reply.id for reply in seen.replies if reply.accepted] == ["ann", "bob"]
    assert seen.reply("again").why == "'Ann' has answered already"
    assert "say who you are" in seen.reply("nobody").why


def it_was_kept(seen: Outcome) -> None:
    assert seen.reply("early").why == "kept until the gate opens"
    assert "keep_answer" in seen.decisions


def it_came_too_late(seen: Outcome) -> None:
    assert [reply.accepted for reply in seen.replies] == [False]
    assert seen.count("g", "cancelled") == 0


def only_those_asked_count(seen: Outcome) -> None:
    assert "is not asked here" in seen.reply("eve").why


def the_bad_early_one_was_refused(seen: Outcome) -> None:
    assert not seen.reply("early").accepted
    assert seen.reply("nowhere").why == "there is no gate at 'nothing'"


def all_of_it_was_cancelled(seen: Outcome) -> None:
    assert seen.error_message == "changed my mind"
    assert seen.count("g", "cancelled") == 1
    assert seen.types().count("run.cancelled") == 1


def a_loser_was_closed(seen: Outcome) -> None:
    assert seen.nodes("cancelled").count("g") == 1
    assert seen.reply("late").why == "the gate is closed"


PARALLEL = workflow(
    {
        "s": {},
        "left": {"gate": {"title": "l"}, "output_mapping": {"_branch.output.v": "result"}},
        "right": {"gate": {"title": "r"}, "output_mapping": {"_branch.output.v": "result"}},
        "t": {"output_mapping": {"output.vs": "state.vs"}},
    },
    to("s", "left"),
    to("s", "right"),
    join("left", "t", merge={"source": "_branch.output.v", "target": "state.vs", "strategy": "append"}),
    join("right", "t", merge={"source": "_branch.output.v", "target": "state.vs", "strategy": "append"}),
)
BRANCHES = workflow(
    {
        "s": {},
        "g": {"gate": {"title": "{{ item }}?"}, "output_mapping": {"_branch.output.v": "result"}},
        "t": {"output_mapping": {"output.vs": "state.vs"}},
    },
    each("s", "g", "input.items"),
    join("g", "t", merge={"source": "_branch.output.v", "target": "state.vs", "strategy": "append"}),
)


CASES = [
    Case(
        "G01 a gate parks its token and holds no worker; a valid answer is the result",
        GATE,
        acts=(answers("a", YES, at="g", by="Ann"),),
        output={"said": YES},
        also=no_worker_was_asked,
    ),
    Case(
        "G01 an answer that does not fit is refused with the reason, and the gate stays open",
        GATE,
        acts=(
            answers("wrong", {"ok": "maybe"}, at="g"),
            Act("reply_to", lambda _: AnswerGate(0, "right", NO, token=FIRST)),
        ),
        output={"said": NO},
        also=the_wrong_one_was_told_why,
    ),
    Case(
        "the first of two answers wins and the second is told",
        workflow({"g": gate(), "after": HELD}, to("g", "after")),
        acts=(answers("one", YES, at="g"), answers("two", YES, at="g"), lets_go("after", nth=1)),
        output={"said": YES},
        also=exactly_one_won,
    ),
    Case(
        "approvals are given by distinct people, and the result is the list of their answers",
        workflow({"g": gate(approvals=2)}),
        acts=(
            answers("nobody", YES, at="g"),
            Act("reply_to", lambda _: AnswerGate(0, "ann", YES, "Ann", FIRST)),
            Act("reply_to", lambda _: AnswerGate(0, "again", NO, "Ann", FIRST), nth=1),
            Act("reply_to", lambda _: AnswerGate(0, "bob", NO, "Bob", FIRST), nth=2),
        ),
        output={"said": [YES, NO]},
        also=ann_counts_once,
    ),
    Case(
        "only those a gate asks may answer it",
        workflow({"g": gate(assignees=["Ann"])}),
        acts=(
            answers("eve", NO, at="g", by="Eve"),
            Act("reply_to", lambda _: AnswerGate(0, "ann", YES, "Ann", FIRST)),
        ),
        output={"said": YES},
        also=only_those_asked_count,
    ),
    Case(
        "G03 a gate nobody answers fails its node when its time is over",
        workflow({"g": gate(timeout_ms=30)}),
        status="failed",
        error="timed_out",
        also=lambda seen: _ended(seen, "timed_out"),
    ),
    Case(
        "G03 a gate nobody answers goes on with its default",
        workflow({"g": gate(timeout_ms=30, on_timeout=NO)}),
        output={"said": NO},
    ),
    Case(
        "G03 too few approvals in time are none",
        workflow({"g": gate(timeout_ms=60, approvals=2, on_timeout=NO)}),
        acts=(answers("ann", YES, at="g", by="Ann"),),
        output={"said": NO},
    ),
    Case(
        "a timed out gate can be handled like any failure",
        workflow({"g": gate(timeout_ms=30), "after": sets(late="true")}, to("g", "after", "has(state._last_error)")),
        output={"late": True},
    ),
    Case(
        "an answer after the time is over is refused",
        workflow({"g": gate(timeout_ms=20, on_timeout=NO), "after": HELD}, to("g", "after")),
        acts=(Act("open_gate", lambda _: AnswerGate(0, "late", YES, token=FIRST), "after"), lets_go("after")),
        output={"said": NO},
        also=it_came_too_late,
    ),
    Case(
        "an answer by node and path is kept until the gate opens",
        LATE_GATE,
        acts=(answers_early("early", YES, at="g"), lets_go("rest")),
        output={"said": YES},
        also=it_was_kept,
    ),
    Case(
        "an early answer that cannot fit is refused at once",
        workflow({"rest": HELD, "g": gate(timeout_ms=20, on_timeout=NO)}, to("rest", "g")),
        acts=(
            answers_early("early", {"ok": 3}, at="g"),
            answers_early("nowhere", YES, at="nothing"),
            lets_go("rest", nth=1),
        ),
        output={"said": NO},
        also=the_bad_early_one_was_refused,
    ),
    Case(
        "an early answer reaches the branch whose path it names",
        workflow({"rest": HELD, **BRANCHES["nodes"]}, to("rest", "s"), *BRANCHES["transitions"]),
        {"items": ["x", "y"]},
        acts=(
            answers_early("one", 1, at="g", path="root.g.1"),
            answers_early("nil", 0, at="g", path="root.g.0"),
            lets_go("rest", nth=1),
        ),
        output={"vs": [0, 1]},
    ),
    Case(
        "two gates side by side never get each other's answers",
        PARALLEL,
        acts=(answers("r", "right", at="right"), answers("l", "left", at="left", after_ms=20)),
        output={"vs": ["left", "right"]},
    ),
    Case(
        "gates of branches are told apart, though they are one node",
        BRANCHES,
        {"items": ["x", "y", "z"]},
        acts=tuple(
            Act("open_gate", lambda d: AnswerGate(0, str(d.token), d.title, token=d.token), "g", 20 * (3 - n), nth=n)
            for n in range(3)
        ),
        output={"vs": ["x?", "y?", "z?"]},
    ),
    Case(
        "a gate inside a sub-workflow is answered there",
        workflow({"call": {"workflow": "asks", "output_mapping": {"output.said": "result.said"}}}),
        others={"asks": GATE},
        acts=(answers("a", YES, at="g"),),
        output={"said": YES},
    ),
    Case(
        "a gate of a branch that is not waited for is closed",
        workflow(
            {
                "s": {},
                "g": {"gate": {"title": "{{ item }}?"}, "output_mapping": {"_branch.output.v": "result"}},
                "t": {"output_mapping": {"output.vs": "state.vs"}},
                "after": HELD,
            },
            each("s", "g", "input.items"),
            join("g", "t", "any", merge={"source": "_branch.output.v", "target": "state.vs", "strategy": "append"}),
            to("t", "after"),
        ),
        {"items": ["x", "y"]},
        acts=(
            answers("first", 1, at="g", nth=1),
            Act("open_gate", lambda _: AnswerGate(0, "late", 0, token=TokenId(1)), "after"),
            lets_go("after", nth=1),
        ),
        output={"vs": [1]},
        also=a_loser_was_closed,
    ),
    Case(
        "G04 a cancelled run has no live token left, keeps the reason, and is cancelled once",
        workflow({"s": {}, "g": gate(), "work": mock(delay_ms=5000)}, to("s", "g"), to("s", "work")),
        acts=(
            cancels("open_gate", reason="changed my mind"),
            cancels("open_gate", reason="changed my mind", after_ms=20),
        ),
        status="cancelled",
        error="cancelled",
        also=all_of_it_was_cancelled,
    ),
]


def _ended(seen: Outcome, status: str) -> None:
    assert seen.nodes(status) == ["g"]


ROWS = [pytest.param(case, id=case.id) for case in CASES]

"""What an answer does to a gate: taken, kept because it is early, or refused with the reason."""

import pytest

from jeton.model import decision as d
from jeton.model.failure import RunError
from jeton.model.ids import TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import AnswerGate, Message, PauseRun, TaskAsked
from jeton.model.state.phase import Continuation, GateAnswer
from jeton.model.state.run import RunState
from jeton.planning.tokens.node import NodeFinished, Plan
from jeton.planning.waits.gate import plan_answer, plan_gate, plan_gate_timeout
from tests.planning.given import Given, at, done, given, started, token_at, workflow
from tests.planning.talking import BOB, Step, at_work, call, chat, results, returns, rings, says, talk, working

NOW = 9
ZERO, ONE = TokenId(0), TokenId(1)
CLOSED = d.ReplyTo("m", accepted=False, why="the gate is closed")
KEPT = d.ReplyTo("m", accepted=True, why="kept until the gate opens")

WORK = workflow("nodes: {a: {task: work}}")
OPEN = workflow("nodes: {a: {gate: {title: t}}}")
TIMED = workflow("nodes: {a: {gate: {title: 'Is it {{ input.x }}?', timeout_ms: 30}}}")
STRICT = workflow("nodes: {a: {gate: {title: t, schema: {type: integer}}}}")
ASSIGNED = workflow("nodes: {a: {gate: {title: t, assignees: [ada, bob]}}}")
BOTH = workflow("nodes: {a: {gate: {title: t, approvals: 2}}}")
LATER = workflow("""
nodes: {w: {task: work}, a: {gate: {title: t, schema: {type: integer}}}, v: {task: work}}
transitions: [{from: w, to: a}, {from: a, to: v}]
""")
BOTH_LATER = workflow("""
nodes: {w: {task: work}, a: {gate: {title: t, approvals: 2}}}
transitions: [{from: w, to: a}]
""")
NEXT = workflow("{nodes: {a: {gate: {title: t}}, b: {gate: {title: t}}}, transitions: [{from: a, to: b}]}")
MANY = workflow("{nodes: {s: {}, a: {gate: {title: t}}}, transitions: [{from: s, to: a, spawn_count: 2}]}")
BAD_TITLE = workflow("nodes: {a: {gate: {title: '{{ input.gone }}'}}}")


def answer(value: Json = 1, by: str | None = None, token: int | None = 0, **address: str) -> AnswerGate:
    return AnswerGate(5, "m", value, by, None if token is None else TokenId(token), **address)


def taken(value: Json, by: str | None = None, token: TokenId = ZERO) -> list[d.Decision]:
    return [d.TakeAnswer(token, "a", GateAnswer(value, by)), d.ReplyTo("m", accepted=True)]


def refused(why: str) -> Plan:
    return Plan([d.ReplyTo("m", accepted=False, why=why)])


@pytest.mark.parametrize(
    ("run", "message", "then"),
    [
        pytest.param(
            given(OPEN, started()),
            answer(),
            Plan([*taken(1), d.FinishNode(ZERO, "a")], NodeFinished(ZERO, 1)),
            id="an answer that fits is the result",
        ),
        pytest.param(
            given(OPEN, started()),
            answer(token=None, node="a"),
            Plan([*taken(1), d.FinishNode(ZERO, "a")], NodeFinished(ZERO, 1)),
            id="a gate may be named by its node",
        ),
        pytest.param(
            given(MANY, started()),
            answer(token=None, node="a", path="root.a.1"),
            Plan(
                [
                    *taken(1, token=TokenId(2)),
                    d.FinishNode(TokenId(2), "a", None, {"_branch.output": 1}),
                ],
                NodeFinished(TokenId(2), 1),
            ),
            id="and its path, where there are several",
        ),
        pytest.param(
            given(STRICT, started()),
            answer("x"),
            refused('answer: "x" is not of type "integer"'),
            id="one that does not fit is refused, and the gate stays open",
        ),
        pytest.param(given(OPEN, started()), answer(token=7), Plan([CLOSED]), id="a gate that is closed takes none"),
        pytest.param(given(LATER, started()), answer(), Plan([CLOSED]), id="a token that is not at a gate neither"),
        pytest.param(
            given(ASSIGNED, started()),
            answer(by="eve"),
            refused("'eve' is not asked here: ada, bob"),
            id="who is not asked is refused",
        ),
        pytest.param(
            given(ASSIGNED, started()),
            answer(by="bob"),
            Plan([*taken(1, "bob"), d.FinishNode(ZERO, "a")], NodeFinished(ZERO, 1)),
            id="who is asked is not",
        ),
        pytest.param(
            given(ASSIGNED, started()),
            answer(),
            Plan([*taken(1), d.FinishNode(ZERO, "a")], NodeFinished(ZERO, 1)),
            id="who does not say who they are is trusted",
        ),
        pytest.param(
            given(BOTH, started()), answer(1, "ada"), Plan(taken(1, "ada")), id="of two approvals the first waits"
        ),
        pytest.param(
            given(BOTH, started(), answer(1, "ada")),
            answer(2, "bob"),
            Plan([*taken(2, "bob"), d.FinishNode(ZERO, "a")], NodeFinished(ZERO, [1, 2])),
            id="with the second the list of both is the result",
        ),
        pytest.param(
            given(BOTH, started(), answer(1, "ada")),
            answer(2, "ada"),
            refused("'ada' has answered already"),
            id="nobody counts twice",
        ),
        pytest.param(
            given(BOTH, started()),
            answer(),
            refused("2 different people must answer: say who you are"),
            id="of several nobody may be unnamed",
        ),
        pytest.param(
            given(LATER, started()),
            answer(token=None, node="a"),
            Plan([d.KeepAnswer(0, "a", "root", GateAnswer(1)), KEPT]),
            id="before the gate opens an answer is kept",
        ),
        pytest.param(
            given(LATER, started(), answer(token=None, node="a")),
            answer(2, token=None, node="a", path="root.w.0"),
            Plan([d.KeepAnswer(1, "a", "root.w.0", GateAnswer(2)), KEPT]),
            id="for the path that it names",
        ),
        pytest.param(
            given(LATER, started()),
            answer("x", token=None, node="a"),
            refused('answer: "x" is not of type "integer"'),
            id="unless it does not fit",
        ),
        pytest.param(
            given(LATER, started()),
            answer(token=None, node="w"),
            refused("there is no gate at 'w'"),
            id="or the node is no gate",
        ),
        pytest.param(
            given(LATER, started()),
            answer(token=None, node="gone"),
            refused("there is no gate at 'gone'"),
            id="or there is no such node",
        ),
        pytest.param(
            given(MANY, started()),
            answer(token=None, node="a"),
            Plan([d.KeepAnswer(0, "a", "root", GateAnswer(1)), KEPT]),
            id="a gate on another path is not answered",
        ),
        pytest.param(
            given(NEXT, started()),
            answer(token=None, node="b"),
            Plan([d.KeepAnswer(0, "b", "root", GateAnswer(1)), KEPT]),
            id="nor is one at another node",
        ),
    ],
)
def test_an_answer(run: Given, message: AnswerGate, then: Plan) -> None:
    assert plan_answer(run.program, run.state(), message) == then


ASKED = TaskAsked(1, ZERO, 1, "How many?", {"type": "integer"}, "s", 30)


@pytest.mark.parametrize(
    ("run", "message", "then"),
    [
        pytest.param(
            given(WORK, started(), ASKED),
            answer(7),
            Plan([*taken(7), d.ContinueTask(ZERO, "a", 5, 1005, 1)]),
            id="an answer to a task is handed to it",
        ),
        pytest.param(
            given(WORK, started(), ASKED),
            answer(7, "ada", token=None, node="a"),
            Plan([*taken(7, "ada"), d.ContinueTask(ZERO, "a", 5, 1005, 1)]),
            id="who asks may be named by its node",
        ),
        pytest.param(
            given(WORK, started(), ASKED),
            answer("x"),
            refused('answer: "x" is not of type "integer"'),
            id="one that does not fit is refused",
        ),
        pytest.param(
            given(WORK, started(), ASKED, PauseRun(3)),
            answer(7),
            Plan([*taken(7), d.ContinueTask(ZERO, "a", 5, 1005, 1, paused=True)]),
            id="in a paused run it waits for the end of the pause",
        ),
        pytest.param(given(WORK, started(), ASKED, answer(7)), answer(7), Plan([CLOSED]), id="one answer is enough"),
        pytest.param(
            given(WORK, started(), TaskAsked(1, ZERO, 1, "Go on?")),
            answer([1]),
            Plan([*taken([1]), d.ContinueTask(ZERO, "a", 5, 1005, 1)]),
            id="without a schema anything fits",
        ),
    ],
)
def test_an_answer_to_a_task(run: Given, message: AnswerGate, then: Plan) -> None:
    assert plan_answer(run.program, run.state(), message) == then


def test_a_task_that_nobody_answers_in_time_fails() -> None:
    state = given(WORK, started(), ASKED).state()
    over, failed, routed, _ = plan_gate_timeout(WORK, state, token_at(state, "a"), NOW).decisions
    assert isinstance(failed, d.FailNode)
    assert failed.error["message"] == "what the task asked was not answered within 30 ms"
    assert (over, routed) == (d.TimeOutGate(ZERO, "a"), d.RouteToken(ZERO, "a", "timed_out"))


def early(number: int, value: Json, by: str | None = None) -> d.TakeAnswer:
    return d.TakeAnswer(ONE, "a", GateAnswer(value, by), number)


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            at("a", TIMED, started({"x": "so"})),
            Plan([d.OpenGate(ZERO, "a", NOW, "Is it so?", NOW + 30, ("input.y",))]),
            id="its title is a template, and its time begins",
        ),
        pytest.param(
            at("a", LATER, started(), done(0)),
            Plan([d.OpenGate(ONE, "a", NOW, "t", None, ("input.y",))]),
            id="it opens",
        ),
        pytest.param(
            at("a", LATER, started(), answer(3, token=None, node="a"), answer(4, token=None, node="a"), done(0)),
            Plan(
                [d.OpenGate(ONE, "a", NOW, "t", None, ("input.y",)), early(0, 3), d.FinishNode(ONE, "a")],
                NodeFinished(ONE, 3),
            ),
            id="with the first answer that was kept, and the others stay",
        ),
        pytest.param(
            at("a", LATER, started(), answer(3, token=None, node="a", path="root.w.0"), done(0)),
            Plan([d.OpenGate(ONE, "a", NOW, "t", None, ("input.y",))]),
            id="but not with one for another path",
        ),
        pytest.param(
            at(
                "a",
                BOTH_LATER,
                started(),
                answer(3, "ada", token=None, node="a"),
                answer(4, "ada", token=None, node="a"),
                answer(5, "bob", token=None, node="a"),
                done(0),
            ),
            Plan(
                [
                    d.OpenGate(ONE, "a", NOW, "t", None, ("input.y",)),
                    early(0, 3, "ada"),
                    early(2, 5, "bob"),
                    d.FinishNode(ONE, "a"),
                ],
                NodeFinished(ONE, [3, 5]),
            ),
            id="of several kept ones of one person the first counts",
        ),
    ],
)
def test_a_gate_opens(run: Given, then: Plan) -> None:
    state = run.state()
    assert plan_gate(run.program, state, token_at(state, "a"), ("input.y",), NOW) == then


def test_a_title_that_cannot_be_made_fails_the_node() -> None:
    state = at("a", BAD_TITLE, started()).state()
    failed, routed, end = plan_gate(BAD_TITLE, state, token_at(state, "a"), (), NOW).decisions
    assert isinstance(failed, d.FailNode)
    assert (failed.error["type"], routed) == ("template_error", d.RouteToken(ZERO, "a", "failed"))
    assert str(failed.error["message"]).startswith("the gate's title: ")
    assert isinstance(end, d.EndRun)


def test_a_title_that_would_fill_memory_fails_the_node() -> None:
    program = workflow("nodes: {a: {gate: {title: \"{{ input.text|replace(' ', input.gap) }}\"}}}")
    state = at("a", program, started({"text": " " * 100_000, "gap": " " * 100_000})).state()
    failed = plan_gate(program, state, token_at(state, "a"), (), NOW).decisions[0]
    assert isinstance(failed, d.FailNode)
    assert failed.error["message"] == "the gate's title: it makes more than 1,048,576 bytes on the way"


def test_a_title_may_use_the_names_it_is_given() -> None:
    state = at("a", TIMED, started({"x": "so"})).state()
    plan = plan_gate(TIMED, state, token_at(state, "a"), (), NOW, {"input": {"x": "not"}})
    assert plan.decisions == [d.OpenGate(ZERO, "a", NOW, "Is it not?", NOW + 30)]


LATE = "the gate was not answered within 30 ms"
ERROR: JsonObject = {"node": "a", "step": None, "type": "timed_out", "message": LATE, "attempts": 1}
DEFAULT = workflow("nodes: {a: {gate: {title: t, timeout_ms: 30, on_timeout: {ok: false}}}}")


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            given(TIMED, started({"x": 1})),
            Plan(
                [
                    d.TimeOutGate(ZERO, "a"),
                    d.FailNode(ZERO, "a", ERROR),
                    d.RouteToken(ZERO, "a", "timed_out"),
                    d.EndRun(NOW, "failed", error=RunError("timed_out", LATE, "a", 0, attempts=1)),
                ]
            ),
            id="the node fails",
        ),
        pytest.param(
            given(DEFAULT, started()),
            Plan([d.TimeOutGate(ZERO, "a"), d.FinishNode(ZERO, "a")], NodeFinished(ZERO, {"ok": False})),
            id="or goes on with the answer that was written for this case",
        ),
    ],
)
def test_a_gate_that_nobody_answered_in_time(run: Given, then: Plan) -> None:
    state = run.state()
    assert plan_gate_timeout(run.program, state, token_at(state, "a"), NOW) == then


# what a tool of an agent asks


def tool_asks(timeout_ms: int | None = None) -> Step:
    """The task of the call asks for a number."""

    def message(state: RunState) -> Message:
        token = working(state, "tool:web")
        return TaskAsked(2, token.id, token.attempt, "How many?", {"type": "integer"}, "s", timeout_ms)

    return message


def tell(value: Json) -> Step:
    def message(state: RunState) -> Message:
        return AnswerGate(5, "m", value, token=token_at(state, "tool:web").id)

    return message


CALLED = talk(BOB, chat(), says("", call("web")))


def test_a_tool_of_an_agent_goes_on_with_the_answer_to_its_question() -> None:
    asking = CALLED.then(tool_asks())
    assert at_work(asking.state()) == []
    refused = asking.then(tell("x"))
    assert [reply.accepted for reply in refused.made(d.ReplyTo)][-1] is False
    told = asking.then(tell(7))
    left = token_at(told.state(), "tool:web").continuation
    assert (at_work(told.state()), left) == (["tool:web"], Continuation(1, "s", 7))
    assert results(told.then(returns("tool:web", "seven")).state()) == [("web", "seven")]


def test_a_tool_of_an_agent_that_nobody_answers_in_time_has_an_error_result() -> None:
    assert results(CALLED.then(tool_asks(30), rings(100)).state()) == [("web", "TIMEOUT")]

"""Two things at the same moment: in every order and batch there is one outcome, and whoever asked is told which."""

from collections import Counter
from typing import Any

from jeton.model import message as m
from jeton.model.decision import DispatchToken, KeepSignal, SetPaused, TakeAnswer, TakeSignal
from jeton.model.ids import RunId, TokenId
from tests.actor.explore import ROOT, Net, SentMessage, every_order

T0 = TokenId(0)
CHILD = RunId("root.0")
GATE: dict[str, Any] = {
    "initial_node": "g",
    "nodes": {"g": {"gate": {"title": "?"}, "output_mapping": {"output.v": "result"}}},
}
TASK: dict[str, Any] = {"initial_node": "t", "nodes": {"t": {"task": "t", "output_mapping": {"output.v": "result"}}}}
CALL = {"initial_node": "c", "nodes": {"c": {"workflow": "child", "output_mapping": {"output.v": "result.v"}}}}


def timed_gate(on_timeout: Any) -> dict[str, Any]:
    gate = {"title": "?", "timeout_ms": 10, "on_timeout": on_timeout}
    return {"initial_node": "g", "nodes": {"g": {"gate": gate, "output_mapping": {"output.v": "result"}}}}


def answer(id: str, value: Any, by: str | None = None) -> SentMessage:
    return ROOT, m.AnswerGate(5, id, value, by, T0)


def nothing_is_left(net: Net) -> None:
    """True of every outcome: one end of each run, nobody at work, nothing under way."""
    for run, live in net.runs.items():
        assert net.ends(run) == 1, run
        assert live.state.head.ended
        assert live.state.head.error is None or live.state.head.error.type != "broken_invariant", live.state.head.error
        assert not live.state.tokens
        assert live.timers.next_due() is None
        assert not net.inbox.get(run)


def test_cancel_with_completion() -> None:
    seen: Counter[str] = Counter()
    for net in every_order(Net({"w": TASK}, [(ROOT, m.CancelRun(5)), (ROOT, m.TaskFinished(5, T0, 1, 1))])):
        nothing_is_left(net)
        seen[net.status()] += 1
        assert net.output() == {"v": 1} if net.status() == "completed" else net.status() == "cancelled"
    assert set(seen) == {"completed", "cancelled"}


def test_cancel_twice_with_completion() -> None:
    outside: list[SentMessage] = [
        (ROOT, m.CancelRun(5, "a")),
        (ROOT, m.CancelRun(5, "b")),
        (ROOT, m.TaskFinished(5, T0, 1, 1)),
    ]
    for net in every_order(Net({"w": TASK}, outside)):
        nothing_is_left(net)


def test_a_signal_with_the_wait_for_it() -> None:
    workflow = {
        "initial_node": "t",
        "nodes": {"t": {"task": "t"}, "s": {"wait": {"signal": "go"}, "output_mapping": {"output.v": "result"}}},
        "transitions": [{"from": "t", "to": "s"}],
    }
    roads = 0
    for net in every_order(
        Net({"w": workflow}, [(ROOT, m.SignalRun(5, "a", "go", 7)), (ROOT, m.TaskFinished(5, T0, 1))])
    ):
        nothing_is_left(net)
        roads += 1
        assert (net.status(), net.output()) == ("completed", {"v": 7})
        assert net.replies() == {"a": True}
        assert net.count(TakeSignal) == net.count(KeepSignal) == 1
    assert roads >= 5


def test_a_signal_twice_with_a_key_and_two_who_wait() -> None:
    workflow = {
        "initial_node": "a",
        "nodes": {
            "a": {"wait": {"signal": "go"}, "output_mapping": {"output.a": "result"}},
            "b": {"wait": {"signal": "go", "timeout_ms": 50}, "output_mapping": {"output.b": "result"}},
        },
        "transitions": [{"from": "a", "to": "b"}],
    }
    outside: list[SentMessage] = [(ROOT, m.SignalRun(5, "x", "go", 1, "k")), (ROOT, m.SignalRun(5, "y", "go", 1, "k"))]
    for net in every_order(Net({"w": workflow}, outside)):
        assert net.replies() == {"x": True, "y": True}
        assert net.count(TakeSignal) == 1
        assert net.status() == "waiting"
        net.accept(ROOT, m.SignalRun(6, "z", "go", 2))
        net.advance(ROOT, 1)
        assert net.output() == {"a": 1, "b": 2}


def test_two_signals_with_two_who_wait_are_taken_once_each() -> None:
    workflow = {
        "initial_node": "s",
        "nodes": {
            "s": {},
            "h": {"wait": {"signal": "go"}, "output_mapping": {"_branch.output.v": "result"}},
            "j": {"output_mapping": {"output.vs": "state.vs"}},
        },
        "transitions": [
            {"from": "s", "to": "h", "spawn_count": 2},
            {
                "from": "h",
                "to": "j",
                "synchronization": {"merge": {"source": "_branch.output.v", "target": "state.vs"}},
            },
        ],
    }
    outside: list[SentMessage] = [(ROOT, m.SignalRun(5, "x", "go", 1)), (ROOT, m.SignalRun(5, "y", "go", 2))]
    seen: set[tuple[int, ...]] = set()
    for net in every_order(Net({"w": workflow}, outside)):
        nothing_is_left(net)
        seen.add(tuple(net.output()["vs"]))
    assert seen == {(1, 2), (2, 1)}, "the oldest waiter takes whichever comes first"


def test_a_signal_with_the_end_of_the_run() -> None:
    nodes = {**TASK["nodes"], "later": {"wait": {"signal": "go"}}}
    route = {"from": "t", "to": "later", "condition": "result == 2"}
    listening = {**TASK, "nodes": nodes, "transitions": [route], "on_no_match": "complete"}
    outside: list[SentMessage] = [(ROOT, m.SignalRun(5, "a", "go")), (ROOT, m.TaskFinished(5, T0, 1, 1))]
    for net in every_order(Net({"w": listening}, outside)):
        nothing_is_left(net)
        assert net.output() == {"v": 1}
        assert net.replies() in ({"a": True}, {}), "kept and forgotten with the run, or the run had ended"


def test_two_answers_with_one_gate() -> None:
    seen: Counter[int] = Counter()
    for net in every_order(Net({"w": GATE}, [answer("a", 1), answer("b", 2)])):
        nothing_is_left(net)
        accepted = [id for id, was in net.replies().items() if was]
        assert len(accepted) == net.count(TakeAnswer) == 1, "one is told yes, and the end of the run tells the other"
        assert net.output() == {"v": {"a": 1, "b": 2}[accepted[0]]}
        seen[net.output()["v"]] += 1
    assert set(seen) == {1, 2}


def test_two_answers_with_one_gate_of_a_run_that_goes_on() -> None:
    workflow = {**GATE, "nodes": {**GATE["nodes"], "t": {"task": "t"}}, "transitions": [{"from": "g", "to": "t"}]}
    for net in every_order(Net({"w": workflow}, [answer("a", 1), answer("b", 2)])):
        assert sorted(net.replies().values()) == [False, True]
        accepted = next(id for id, was in net.replies().items() if was)
        assert net.runs[ROOT].state.output == {"v": {"a": 1, "b": 2}[accepted]}


def test_two_approvals_and_the_same_person_twice() -> None:
    gate = {"title": "?", "approvals": 2}
    workflow = {"initial_node": "g", "nodes": {"g": {"gate": gate, "output_mapping": {"output.v": "result"}}}}
    outside: list[SentMessage] = [answer("a", 1, "Ann"), answer("again", 2, "Ann"), answer("b", 3, "Bob")]
    for net in every_order(Net({"w": workflow}, outside)):
        nothing_is_left(net)
        assert len(net.output()["v"]) == 2
        assert 3 in net.output()["v"], "Ann alone is not two people"


def test_an_answer_with_the_timeout_of_its_gate() -> None:
    for on_timeout, late in (("fail", "failed"), ({"d": 1}, "completed")):
        seen: set[bool] = set()
        outside: list[SentMessage] = [answer("a", 1), (ROOT, m.AlarmRang(10))]
        for net in every_order(Net({"w": timed_gate(on_timeout)}, outside)):
            nothing_is_left(net)
            won = net.replies().get("a", False)
            seen.add(won)
            assert (net.status(), net.output() == {"v": 1}) == (("completed", True) if won else (late, False))
        assert seen == {True, False}


def test_an_answer_with_a_cancellation() -> None:
    seen: set[str] = set()
    for net in every_order(Net({"w": GATE}, [answer("a", 1), (ROOT, m.CancelRun(5))])):
        nothing_is_left(net)
        seen.add(net.status())
        assert net.replies() == ({"a": True} if net.status() == "completed" else {})
    assert seen == {"completed", "cancelled"}


def test_the_end_of_a_child_with_the_cancellation_of_its_parent() -> None:
    seen: Counter[tuple[str, str]] = Counter()
    outside: list[SentMessage] = [(ROOT, m.CancelRun(5)), (CHILD, m.TaskFinished(5, T0, 1, 1))]
    for net in every_order(Net({"w": CALL, "child": TASK}, outside)):
        nothing_is_left(net)
        seen[net.status(), net.status(CHILD)] += 1
        if net.status() == "completed":
            assert net.output() == {"v": 1}
    assert set(seen) == {("completed", "completed"), ("cancelled", "completed"), ("cancelled", "cancelled")}


def test_the_end_of_a_child_with_the_timeout_of_the_call() -> None:
    call = {"initial_node": "c", "nodes": {"c": {"workflow": "child", "timeout_ms": 10}}}
    seen: set[str] = set()
    outside: list[SentMessage] = [(ROOT, m.AlarmRang(10)), (CHILD, m.TaskFinished(5, T0, 1, 1))]
    for net in every_order(Net({"w": call, "child": TASK}, outside)):
        nothing_is_left(net)
        seen.add(net.status())
    assert seen == {"completed", "failed"}


def test_a_pause_with_a_result() -> None:
    workflow = {
        "initial_node": "t",
        "nodes": {"t": {"task": "t"}, "u": {"task": "t"}},
        "transitions": [{"from": "t", "to": "u"}],
    }
    for net in every_order(Net({"w": workflow}, [(ROOT, m.PauseRun(5)), (ROOT, m.TaskFinished(5, T0, 1, 1))])):
        state = net.runs[ROOT].state
        assert state.head.paused
        assert [token.node for token in state.tokens.values()] == ["u"], "the result is taken either way"
        kinds = [type(d) for d in net.decisions[ROOT] if isinstance(d, DispatchToken | SetPaused)]
        assert kinds.count(DispatchToken) == (2 if kinds[-1] is SetPaused and len(kinds) == 3 else 1)
        net.accept(ROOT, m.UnpauseRun(6))
        net.advance(ROOT, 1)
        assert net.count(DispatchToken) == 2


def test_a_pause_and_an_unpause_with_a_child_that_ends() -> None:
    outside: list[SentMessage] = [(ROOT, m.PauseRun(5)), (CHILD, m.TaskFinished(5, T0, 1, 1))]
    for net in every_order(Net({"w": CALL, "child": TASK}, outside)):
        assert net.status() == "completed", "a result is taken though the run is paused, and nothing is left to begin"

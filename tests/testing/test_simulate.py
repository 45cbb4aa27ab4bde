"""`jeton.testing.simulate`: one run in three lines."""

import asyncio
import json
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.testing import Fault, FaultPlan, Simulation, plan_from_seed, simulate

Object = dict[str, Any]
OK: Object = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}
REALLY_PAID: list[int] = []


@jeton.action(name="tested_charge", retry={"max_attempts": 3, "initial_delay_ms": 60_000})
def charge(amount: int) -> dict[str, int]:
    """Take the money."""
    REALLY_PAID.append(amount)
    return {"paid": amount}


@jeton.action(name="tested_ship")
async def ship(to: str) -> str:
    """Send the parcel."""
    return f"sent to {to}"


def shop() -> jeton.Workflow:
    workflow = jeton.Workflow("shop")
    approve = workflow.node("approve", gate={"title": "Sell?", "schema": OK}, output={"state.ok": "result.ok"})
    pay = workflow.node("pay", action=charge, input={"amount": "input.amount"}, output={"output.paid": "result.paid"})
    packed = workflow.node("packed", wait={"signal": "packed"}, output={"state.to": "result"})
    send = workflow.node("send", action=ship, input={"to": "state.to"}, output={"output.sent": "result"})
    sorry = workflow.node("sorry", output={"output.sorry": "state._last_error.message"})
    workflow.transition(approve, pay)
    workflow.transition(pay, packed, priority=2)
    workflow.transition(pay, sorry, condition="has(state._last_error)")
    workflow.transition(packed, send)
    return workflow


GIVEN: Object = {"answers": {"approve": {"ok": True}}, "signals": {"packed": "Rome"}}
SOLD = {"paid": 80, "sent": "sent to Rome"}


@pytest.fixture(autouse=True)
def _nobody_paid_yet() -> None:
    REALLY_PAID.clear()


def test_a_workflow_runs_to_its_end_with_what_it_waits_for() -> None:
    run = simulate(shop(), {"amount": 80}, **GIVEN)
    assert (run.status, run.output, run.error) == ("completed", SOLD, None)
    assert (run.called, REALLY_PAID, run.state["to"]) == (["pay", "send"], [80], "Rome")
    assert [event["type"] for event in run.events][-1] == "run.completed"
    assert run.completed() == SOLD


def test_calls_that_fail_at_first_are_retried_in_virtual_time() -> None:
    run = simulate(shop(), {"amount": 80}, **GIVEN, fail={"tested_charge": 2})
    assert run.output == SOLD
    assert run.called == ["pay", "pay", "pay", "send"]
    assert [call.error for call in run.calls_of("pay")] == [
        "simulated_failure: call 1 of 'tested_charge' was made to fail",
        "simulated_failure: call 2 of 'tested_charge' was made to fail",
        None,
    ]
    assert len({call.idempotency_key for call in run.calls_of("tested_charge")}) == 1
    assert run.took > timedelta(minutes=2)
    assert REALLY_PAID == [80], "a call that fails calls nothing"


@pytest.mark.parametrize(
    ("failing", "message", "calls"),
    [
        pytest.param(3, "call 3 of 'pay' was made to fail", 3, id="more failures than there are calls"),
        pytest.param(True, "call 3 of 'pay' was made to fail", 3, id="every call"),
        pytest.param("no money", "no money", 1, id="a message is no reason to call again"),
        pytest.param(ValueError("no card"), "no card", 1, id="an exception"),
        pytest.param(KeyError, "KeyError", 1, id="a class of exceptions"),
        pytest.param(ConnectionError("down"), "down", 3, id="a transient exception is called again"),
        pytest.param([ConnectionError("down"), ValueError("no card")], "no card", 2, id="call by call"),
    ],
)
def test_failures_reach_what_handles_them(failing: Any, message: str, calls: int) -> None:
    run = simulate(shop(), {"amount": 80}, **GIVEN, fail={"pay": failing})
    assert (run.output, run.called) == ({"sorry": message}, ["pay"] * calls)


def test_a_list_of_failures_may_have_calls_that_succeed() -> None:
    run = simulate(shop(), {"amount": 80}, **GIVEN, fail={"pay": [None, "no money"]})
    assert (run.output, run.called) == (SOLD, ["pay", "send"])


def sent_to(given: Any) -> Any:
    return given["to"]


def test_results_replace_calls_by_node_or_action() -> None:
    run = simulate(shop(), {"amount": 80}, **GIVEN, results={"tested_charge": {"paid": 7}, "send": sent_to})
    assert (run.output, REALLY_PAID) == ({"paid": 7, "sent": "Rome"}, [])
    failing = simulate(shop(), {"amount": 80}, **GIVEN, results={"pay": {"paid": 7}}, fail={"pay": 1})
    assert (failing.called, failing.calls[1].result) == (["pay", "pay", "send"], {"paid": 7})


def test_what_nobody_gives_is_waited_for() -> None:
    run = simulate(shop(), {"amount": 80})
    assert (run.status, run.output) == ("waiting", None)
    assert run.waits == ("'approve' waits for an answer to \"Sell?\", give answers={'approve': …}",)
    run = simulate(shop(), {"amount": 80}, answers=GIVEN["answers"])
    assert run.waits == ("'packed' waits for the signal 'packed', give signals={'packed': …}",)
    assert repr(run) == f"<shop: waiting; {run.waits[0]}; called pay>"


def test_a_failure_shows_itself() -> None:
    def breaks(given: object) -> object:
        raise LookupError("no such place")

    run = simulate(shop(), {"amount": 80}, **GIVEN, results={"send": breaks}, seed=3)
    assert repr(run) == "<shop: failed at 'send': LookupError: no such place; called pay, send; seed 3>"
    with pytest.raises(AssertionError) as shown:
        run.completed()
    assert "gate.answered" in str(shown.value)
    assert 'raise LookupError("no such place")' in str(shown.value), "with the lines of the test"


@pytest.mark.parametrize(
    ("argument", "given", "says"),
    [
        pytest.param("answers", "aprove", r"no gate has that name \(write 'approve'\)", id="a gate"),
        pytest.param("answers", "pay", r"no gate has that name \(there are: 'approve'\)", id="a node that is no gate"),
        pytest.param("signals", "pakced", r"no node waits for .* \(write 'packed'\)", id="a signal"),
        pytest.param("results", "snd", r"no node or action .* \(write 'send'\)", id="a result"),
        pytest.param("fail", "tested_chrge", r"no node or action .* \(write 'tested_charge'\)", id="a failure"),
        pytest.param("fail", "sorry", "no node or action that is called", id="a node without a call"),
    ],
)
def test_a_name_that_nothing_has_is_an_error(argument: str, given: str, says: str) -> None:
    arguments: Object = {argument: {given: 1}}
    with pytest.raises(jeton.Refused, match=f"{argument} has '{given}', and {says}"):
        simulate(shop(), {"amount": 80}, **arguments)


def test_an_answer_that_the_gate_refuses_is_an_error() -> None:
    with pytest.raises(jeton.Refused, match="ok"):
        simulate(shop(), {"amount": 80}, answers={"approve": {"ok": "perhaps"}})
    with pytest.raises(jeton.Refused, match=r"fail\['pay'\] is 1.5"):
        simulate(shop(), {"amount": 80}, fail={"pay": 1.5})  # type: ignore[dict-item]  # it is the error that is tested


async def test_it_works_where_an_event_loop_runs() -> None:
    assert simulate(shop(), {"amount": 80}, **GIVEN).output == SOLD
    assert asyncio.get_running_loop().is_running()


def definition(**nodes: Any) -> Object:
    names = list(nodes)
    edges = [{"from": one, "to": other} for one, other in pairwise(names)]
    return {"workflows": {"w": {"initial_node": names[0], "nodes": nodes, "transitions": edges}}}


def test_a_dict_and_files_are_definitions_too(tmp_path: Path) -> None:
    waits = definition(night={"wait": {"seconds": 36_000}}, done={"output_mapping": {"output.n": "input.n"}})
    file = tmp_path / "waits.json"
    file.write_text(json.dumps(waits))
    python = tmp_path / "simulated_in_a_test.py"
    python.write_text("import jeton\n\nw = jeton.Workflow('w')\nw.node('done', output={'output.n': 'input.n'})\n")
    found = [simulate(source, {"n": 1}) for source in (waits, file, str(file), python)]
    assert [run.output for run in found] == [{"n": 1}] * 4
    assert [run.took >= timedelta(hours=10) for run in found] == [True, True, True, False]


def test_one_of_several_is_named() -> None:
    several: Object = {"workflows": {**definition(a={})["workflows"], "v": {"initial_node": "b", "nodes": {"b": {}}}}}
    with pytest.raises(jeton.Refused, match=r"name one of: w, v"):
        simulate(several)
    assert simulate(several, name="v").record.workflow == "v"


def test_wrong_definitions_and_inputs_are_errors() -> None:
    with pytest.raises(jeton.DefinitionError, match="nowhere"):
        simulate({"workflows": {"w": {"initial_node": "nowhere", "nodes": {"a": {}}}}})
    with pytest.raises(jeton.InputInvalid):
        simulate({"workflows": {"w": {**definition(a={})["workflows"]["w"], "input_schema": OK}}}, {})


HTTP: Object = {"kind": "http", "implementation": {"method": "GET", "url": "https://example.org/"}}


def test_nothing_outside_is_called_without_being_asked_for() -> None:
    asks = definition(ask={"action": HTTP, "output_mapping": {"output.is": "result.json"}})
    with pytest.raises(jeton.Refused, match=r"'ask' calls something outside \(http\).*results=\{'ask': …\}"):
        simulate(asks)
    assert simulate(asks, results={"ask": {"status": 200, "json": 4}}).output == {"is": 4}


def test_programs_are_run_when_they_are_asked_for() -> None:
    echo = {"kind": "shell", "implementation": {"argv": ["echo", "hello"]}}
    run = simulate(definition(say={"action": echo, "output_mapping": {"output.said": "result.stdout"}}), outside=True)
    assert run.output == {"said": "hello\n"}


def test_steps_have_names_of_their_own() -> None:
    steps = [
        {"ref": "first", "action": HTTP},
        {"ref": "second", "action": HTTP, "output_mapping": {"output.n": "result.n"}},
    ]
    two = definition(both={"task": {"steps": steps}, "output_mapping": {"output.n": "result.n"}})
    assert simulate(two, results={"both.first": {}, "both.second": {"n": 2}}).output == {"n": 2}
    with pytest.raises(jeton.Refused, match=r"results has 'both'.*'both.first'"):
        simulate(two, results={"both": {}})
    failed = simulate(two, results={"both.first": {}, "both.second": {}}, fail={"both.second": "no"})
    assert failed.error is not None
    assert (failed.error.step, failed.error.message, failed.called) == ("second", "no", ["both", "both"])


def test_several_people_are_asked_and_may_say_different_things() -> None:
    gate = {"title": "Sure?", "schema": OK, "approvals": 2, "assignees": ["Ann", "Bob"]}
    asks = definition(ask={"gate": gate, "output_mapping": {"output.said": "result"}})
    assert simulate(asks, answers={"ask": {"ok": True}}).output == {"said": [{"ok": True}, {"ok": True}]}

    def first_only(gate: jeton.GateView) -> Object:
        return {"ok": gate.answers == 0}

    run = simulate(asks, answers={"ask": first_only})
    assert run.output == {"said": [{"ok": True}, {"ok": False}]}
    assert [event["by"] for event in run.events if event["type"] == "gate.answered"] == ["Ann", "Bob"]


def test_a_gate_that_is_left_alone_times_out_at_once() -> None:
    gate = {"title": "Sure?", "timeout_ms": 86_400_000, "on_timeout": "fail"}
    run = simulate(definition(ask={"gate": gate}))
    assert (run.status, run.took >= timedelta(days=1)) == ("failed", True)


def test_gates_and_signals_of_called_workflows_and_of_branches() -> None:
    inner = definition(
        ask={"gate": {"title": "Sure?"}}, hear={"wait": {"signal": "go"}, "output_mapping": {"output.n": "result"}}
    )
    outer = definition(call={"workflow": "inner", "output_mapping": {"output.n": "result.n"}})["workflows"]["w"]
    library = {"workflows": {"outer": outer, "inner": inner["workflows"]["w"]}}
    run = simulate(library, name="outer", answers={"ask": True}, signals={"go": 3})
    assert run.output == {"n": 3}
    unanswered = simulate(library, name="outer")
    assert unanswered.waits == ("'ask' waits for an answer to \"Sure?\", give answers={'ask': …}",)


def test_the_first_of_several_signals_that_is_given() -> None:
    hears: Object = {"wait": {"signals": {"paid": {}, "lost": {}}}, "output_mapping": {"output.heard": "result"}}
    run = simulate(definition(hear=hears), signals={"lost": 7})
    assert run.status == "completed"
    assert [event["name"] for event in run.events if event["type"] == "signal.received"] == ["lost"]


def test_a_flow() -> None:
    flow = {
        "nodes": {"begin": {"type": "trigger"}, "ask": {"type": "gate", "data": {"title": "Sure?", "schema": OK}}},
        "connections": [{"from": "begin", "to": "ask"}],
    }
    run = simulate({"flows": {"f": flow}}, answers={"ask": {"ok": True}})
    assert (run.status, run.record.nodes["ask"].status) == ("completed", "completed")


def test_inputs_and_answers_may_be_dataclasses() -> None:
    @dataclass
    class Order:
        amount: int

    @dataclass
    class Verdict:
        ok: bool

    run = simulate(shop(), Order(80), answers={"approve": Verdict(ok=True)}, signals={"packed": "Rome"})
    assert run.output == SOLD


def test_a_run_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jeton.hosts.simulated.driver.MOST_STEPS", 300)
    again = definition(nap={"wait": {"seconds": 1}})
    again["workflows"]["w"]["transitions"] = [{"from": "nap", "to": "nap", "loop_config": {"max_iterations": 10**6}}]
    with pytest.raises(jeton.Refused, match="after 300 steps"):
        simulate(again)
    monkeypatch.setattr("jeton.testing.one_run.MOST_TOLD", 20)
    again["workflows"]["w"]["nodes"] = {"nap": {"gate": {"title": "Again?"}}}
    with pytest.raises(jeton.Refused, match="after 20 answers"):
        simulate(again, answers={"nap": 1})


def test_a_function_that_is_not_here_is_an_error() -> None:
    missing = {"kind": "python", "implementation": {"function": "nowhere_at_all:f"}}
    with pytest.raises(jeton.Refused, match="nowhere_at_all"):
        simulate(definition(a={"action": missing}))


# seeds and faults


def outcome(run: Simulation) -> Object:
    return {"status": run.status, "output": run.output, "error": run.error}


def test_no_fault_of_a_seed_changes_the_outcome() -> None:
    plain = outcome(simulate(shop(), {"amount": 80}, **GIVEN, fail={"send": "lost"}))
    retried = outcome(simulate(shop(), {"amount": 80}, **GIVEN, fail={"pay": 2}))
    crashes = 0
    for seed in range(40):
        plan = plan_from_seed(seed)
        assert outcome(simulate(shop(), {"amount": 80}, **GIVEN, fail={"send": "lost"}, seed=seed, plan=plan)) == plain
        run = simulate(shop(), {"amount": 80}, **GIVEN, fail={"pay": 2}, seed=seed, plan=plan)
        assert outcome(run) == retried
        crashes += len(run.called) > 4
    assert crashes > 3, "some seeds repeat a call"


def test_with_failures_a_seed_may_change_it() -> None:
    found = {
        json.dumps(
            simulate(shop(), {"amount": 80}, **GIVEN, seed=seed, plan=plan_from_seed(seed, failures=True)).output
        )
        for seed in range(60)
    }
    assert found == {json.dumps(SOLD), '{"sorry": "the simulation made this task fail"}', "null"}


def test_failures_add_to_the_faults_of_a_seed() -> None:
    for seed in range(50):
        plain, failing = plan_from_seed(seed), plan_from_seed(seed, failures=True)
        assert {kind: faults for kind, faults in failing.faults.items() if kind != "task_fails"} == plain.faults
        assert "task_fails" not in plain.faults
        assert not {"worker_silent", "worker_stalls"} & plain.faults.keys()


def test_a_call_that_is_repeated_because_its_worker_died_fails_again() -> None:
    plan = FaultPlan({"worker_dies": (Fault(0),)})
    run = simulate(shop(), {"amount": 80}, **GIVEN, fail={"pay": ["no money"]}, plan=plan)
    assert len(run.called) > 1, "it was called again"
    assert run.output == {"sorry": "no money"}


def test_a_day_of_retries_takes_no_time() -> None:
    day = {"retry_policy": {"max_attempts": 3, "initial_delay_ms": 86_400_000, "max_delay_ms": 86_400_000}}
    slow = {"kind": "mock", "implementation": {"output": {}, "fail": {"times": 2, "transient": True}}, "execution": day}
    long = definition(a={"task": {"steps": [{"action": slow}], "timeout_ms": 10 * 86_400_000}})
    run = simulate(long)
    assert (run.status, run.took >= timedelta(days=2)) == ("completed", True)

"""People and signals: what waits for them, and what they are told."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import jeton
from jeton.engine.engine import Engine
from jeton.engine.views.explain import explained
from jeton.model.json import Json, JsonObject
from tests.engine.waits import LIBRARY, YES_OR_NO, parked


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with jeton.open(tmp_path / "runs.db", grace_s=0) as opened:
        await opened.deploy(LIBRARY)
        yield opened


async def refused(engine: Engine, run: str, value: Json, **how: str) -> tuple[str, str]:
    with pytest.raises(jeton.Refused) as found:
        await engine.answer(run, value, **how)
    return found.value.code, found.value.problem


async def test_a_gate_is_listed_as_its_definition_has_it(engine: Engine) -> None:
    run = await parked(engine, "ask", {"what": "it"})
    (gate,) = await engine.gates()
    assert (gate.run_id, gate.node, gate.path, gate.title) == (run.id, "gate", "root", "Ship it?")
    assert (gate.schema, gate.approvals, gate.answers, gate.due) == (YES_OR_NO, 1, 0, None)
    assert gate.id == f"{run.id}:0"
    assert (await run.record()).waiting_at_node == "gate"
    assert (await run.record()).waiting_label == "Ship it?"
    assert (await run.record()).next_step_at is None


async def test_the_answer_becomes_the_result(engine: Engine) -> None:
    run = await parked(engine, "ask", {"what": "it"})
    reply = await engine.answer(run.id, {"ok": True})
    assert (reply.run_id, reply.outcome) == (run.id, "taken")
    assert (await run.result()).output == {"ok": True, "said": "yes"}
    assert await engine.gates() == ()


async def test_an_answer_that_does_not_fit_is_refused_and_the_gate_stays_open(engine: Engine) -> None:
    run = await parked(engine, "ask", {"what": "it"})
    code, why = await refused(engine, run.id, {"ok": "perhaps"})
    assert code == "answer_refused"
    assert "answer.ok" in why
    assert len(await engine.gates(run.id)) == 1


async def test_after_the_end_nothing_is_taken(engine: Engine) -> None:
    run = await parked(engine, "ask", {"what": "it"})
    await engine.answer(run.id, {"ok": True})
    await run.result()
    assert (await refused(engine, run.id, {"ok": True}))[0] == "run_ended"
    with pytest.raises(jeton.Refused) as found:
        await engine.signal(run.id, "go")
    assert found.value.code == "run_ended"


async def test_a_gate_that_was_answered_is_closed_while_the_run_goes_on(engine: Engine) -> None:
    run = await parked(engine, "many")
    first, _ = await engine.gates(run.id)
    await engine.answer(run.id, 1, gate=first.id)
    assert (await refused(engine, run.id, 1, gate=first.id))[0] == "gate_closed"


async def test_several_open_gates_must_be_told_apart(engine: Engine) -> None:
    run = await parked(engine, "many")
    code, problem = await refused(engine, run.id, 1)
    assert code == "which_gate"
    assert all(gate.id in problem for gate in await engine.gates())


async def test_none_open_is_refused(engine: Engine) -> None:
    run = await parked(engine, "later")
    assert (await refused(engine, run.id, 1))[0] == "gate_closed"


@pytest.mark.parametrize("gate", ["nonsense", "nobody:0", "RUN:99"])
async def test_a_gate_that_never_was(engine: Engine, gate: str) -> None:
    run = await parked(engine, "ask", {"what": "it"})
    assert (await refused(engine, run.id, 1, gate=gate.replace("RUN", run.id)))[0] == "unknown_gate"


async def test_an_early_answer_is_kept(engine: Engine) -> None:
    run = await parked(engine, "later")
    assert (await engine.answer(run.id, "yes", node="gate")).outcome == "kept"
    assert (await engine.signal(run.id, "go")).outcome == "taken"
    assert (await run.result()).output == {"answer": "yes"}


async def test_two_people_must_answer(engine: Engine) -> None:
    run = await parked(engine, "two")
    assert (await refused(engine, run.id, 1))[0] == "answer_refused"
    assert "not asked" in (await refused(engine, run.id, 1, by="zoe"))[1]
    await engine.answer(run.id, 1, by="ada")
    assert [gate.answers for gate in await engine.gates()] == [1]
    assert "already" in (await refused(engine, run.id, 2, by="ada"))[1]
    await engine.answer(run.id, 2, by="bob")
    assert (await run.result()).output == {"answers": [1, 2]}


async def test_a_gate_of_a_run_it_called_is_answered_through_the_caller(engine: Engine) -> None:
    run = await parked(engine, "outermost")
    (gate,) = await engine.gates(run.id)
    assert gate.run_id == f"{run.id}.0.0"
    reply = await engine.answer(run.id, {"ok": True})
    assert (reply.run_id, reply.record.run_id) == (gate.run_id, run.id)
    assert (await run.result()).output == {"inner": "yes"}


async def test_a_signal_wakes_whoever_waits(engine: Engine) -> None:
    run = await parked(engine, "hear")
    assert (await run.record()).waiting_label == "the money"
    with pytest.raises(jeton.Refused) as found:
        await engine.signal(run.id, "paid", "much")
    assert found.value.code == "signal_refused"
    assert (await engine.signal(run.id, "paid", 5, key="k")).outcome == "taken"
    assert (await run.result()).output == {"paid": 5}


async def test_a_signal_nobody_waits_for_is_kept_and_a_key_is_heard_once(engine: Engine) -> None:
    run = await parked(engine, "hears_later")
    assert (await engine.signal(run.id, "other", 1, key="k")).outcome == "kept"
    assert (await engine.signal(run.id, "other", 2, key="k")).outcome == "heard_before"


async def test_beside_an_owner_the_answer_comes_back_too(engine: Engine, tmp_path: Path) -> None:
    run, other = await parked(engine, "ask", {"what": "it"}), await parked(engine, "hear")
    async with jeton.open(tmp_path / "runs.db", owner=False) as beside:
        assert (await refused(beside, run.id, {"ok": 1}))[0] == "answer_refused"
        assert (await beside.answer(run.id, {"ok": False})).outcome == "taken"
        assert (await beside.signal(other.id, "paid", 5)).outcome == "taken"
        assert (await beside.ended(run.id)).output == {"ok": False, "said": "no"}


async def test_what_is_said_while_nobody_owns_the_store_is_heard_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jeton.actor.replies.ANSWER_WITHIN_S", 0)
    monkeypatch.setattr("jeton.engine.control.ANSWER_WITHIN_S", 0)
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(LIBRARY)
        run, other, third = [await parked(engine, name, {"what": "it"}) for name in ("ask", "hear", "hear")]
    async with jeton.open(tmp_path / "runs.db", owner=False) as beside:
        assert (await beside.answer(run.id, {"ok": True})).outcome == "sent"
        assert not (await beside.pause(other.id)).paused
        sent = await beside.cancel(third.id)
        assert (sent.outcome, sent.accepted, sent.record.status) == ("sent", False, "waiting")
    async with jeton.open(tmp_path / "runs.db") as engine:
        assert (await engine.ended(run.id)).output == {"ok": True, "said": "yes"}
        await engine.idle()
        assert (await engine.get(other.id)).paused
        assert (await engine.get(third.id)).status == "cancelled"


async def test_waits_are_explained_and_so_is_what_came_of_them(engine: Engine) -> None:
    run, other, outer = [await parked(engine, name, {"what": "it"}) for name in ("ask", "hear", "outer")]
    assert 'an answer to "Ship it?", since' in explained(await engine.explain(run.id))
    assert "the signal 'paid', since" in explained(await engine.explain(other.id))
    assert f"run {outer.id}.0 (ask), since" in explained(await engine.explain(outer.id))
    await engine.answer(run.id, {"ok": False})
    assert "→ yes if result.ok: false (result.ok = false)" in explained(await engine.explain(run.id))
    await engine.answer(outer.id, {"ok": True})
    await outer.result()
    assert 'matched (result.said = "yes")' in explained(await engine.explain(outer.id))


async def test_an_answer_by_node_reaches_the_one_open_gate_in_a_branch(engine: Engine) -> None:
    run = await parked(engine, "branched", {"items": [1]})
    assert (await engine.answer(run.id, "yes", node="gate")).outcome == "taken"
    assert (await run.result()).status == "completed"


async def test_an_answer_by_node_is_refused_if_several_branches_are_at_it(engine: Engine) -> None:
    run = await parked(engine, "branched", {"items": [1, 2]})
    code, why = await refused(engine, run.id, "yes", node="gate")
    assert code == "which_gate"
    assert f"{run.id}:1" in why
    (first, second) = await engine.gates(run.id)
    assert (await engine.answer(run.id, "yes", node="gate", path=second.path)).outcome == "taken"
    assert (await engine.answer(run.id, "yes", node="gate")).outcome == "taken"
    assert first.path != second.path


async def test_a_signal_that_no_node_waits_for_is_refused_with_the_nearest_name(engine: Engine) -> None:
    run = await parked(engine, "hear")
    with pytest.raises(jeton.Refused) as found:
        await engine.signal(run.id, "payed", 5)
    assert found.value.code == "unknown_signal"
    assert "'payed'" in found.value.problem
    assert "'paid'" in found.value.remedy
    silent = await parked(engine, "ask", {"what": "it"})
    with pytest.raises(jeton.Refused) as found:
        await engine.signal(silent.id, "go")
    assert "waits for no signals" in found.value.problem


FIRST: JsonObject = {
    "workflows": {
        "first": {
            "initial_node": "wait",
            "nodes": {
                "wait": {"wait": {"signals": {"paid": {}, "refused": {}}}},
                "ship": {},
                "stop": {"end": {"failed": {"type": "refused", "message": "nobody pays"}}},
            },
            "transitions": [
                {"from": "wait", "to": "ship", "condition": "result.signal == 'paid'"},
                {"from": "wait", "to": "stop", "priority": 2},
            ],
        },
        "late": {
            "initial_node": "wait",
            "nodes": {"wait": {"wait": {"signal": "paid", "timeout_ms": 1, "on_timeout": {"n": 7}}}, "ship": {}},
            "transitions": [{"from": "wait", "to": "ship", "condition": "result.n == 7"}],
        },
    }
}


async def test_the_first_of_several_signals_is_explained_and_so_is_what_came_of_it(engine: Engine) -> None:
    await engine.deploy(FIRST)
    run = await parked(engine, "first")
    (token,) = await engine.tokens(run.id)
    assert (token.signal, token.signals) == (None, ("paid", "refused"))
    assert (await run.record()).waiting_label == "paid, refused"
    assert "the signal 'paid' or 'refused', since" in explained(await engine.explain(run.id))
    await engine.signal(run.id, "refused")
    record = await run.result()
    assert (record.status, record.error and record.error.type) == ("failed", "refused")
    assert "→ ship if result.signal == 'paid': false (result.signal = \"refused\")" in explained(
        await engine.explain(run.id)
    )


async def test_the_default_of_a_wait_is_explained(engine: Engine) -> None:
    await engine.deploy(FIRST)
    run = await engine.start("late")
    assert (await run.result()).status == "completed"
    assert "matched (result.n = 7)" in explained(await engine.explain(run.id))


async def test_what_if_a_wait_for_several_signals_got_one(engine: Engine) -> None:
    await engine.deploy(FIRST)
    run = await parked(engine, "first")
    found = await engine.simulate(run.id, token=0, result={"signal": "paid", "value": None})
    assert "ship" in [decision.get("node") for decision in found.decisions]

"""Nothing is paid without approval, and with approval it is paid once."""

from pathlib import Path

import pytest
import shop

import jeton

SUPPORT = Path(__file__).with_name("support.yaml")


@pytest.mark.parametrize(("decision", "paid"), [("approve", 20), ("refuse", 0)])
def test_a_refund(decision: str, paid: int, tmp_path: Path) -> None:
    shop.PAID.clear()
    with jeton.open_sync(tmp_path / "support.db") as engine:
        engine.deploy(SUPPORT)
        talk = engine.converse("sam", key="customer-7")
        turn = talk.send("I want a refund for A-17.")
        engine.idle()
        (gate,) = engine.gates()
        assert (gate.title, sum(shop.PAID.values())) == ("Refund 20 for A-17?", 0)
        engine.answer(gate.run_id, {"decision": decision}, gate=gate.id, by="ada")
        replies = turn.result().replies
    assert sum(shop.PAID.values()) == paid
    assert len(replies) == 1

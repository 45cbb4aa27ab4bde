"""`jeton credits`."""

import msgspec

from jeton.model.json import JsonObject
from tests.cli.served import both
from tests.cli.verbs import Verbs

LIBRARY: JsonObject = {
    "workflows": {
        "pair": {"initial_node": "a", "nodes": {"a": {}, "b": {}}, "transitions": [{"from": "a", "to": "b"}]}
    },
    "project": {"settings": {"credits": {"balance": 3}}},
}


@both
def test_what_is_left_and_what_was_used(jeton: Verbs) -> None:
    file = jeton.folder / "paid.json"
    file.write_bytes(msgspec.json.encode(LIBRARY))
    first = jeton.json("run", str(file), "pair")
    assert first["status"] == "completed"
    second = jeton.json("run", str(file), "pair", exits=1)
    assert second["status"] == "exhausted"
    found = jeton.json("credits")
    assert (found["balance"], found["granted"]) == (0, 0)
    assert sorted((each["run_id"], each["node"], each["credits"]) for each in found["usage"]) == sorted(
        [(first["run_id"], "a", 1), (first["run_id"], "b", 1), (second["run_id"], "a", 1)]
    )
    assert len(jeton.json("credits", "--run", second["run_id"])["usage"]) == 1
    assert jeton.json("credits", "--day", "1999-12-31")["usage"] == []
    assert jeton.json("credits", "--top-up", "5")["balance"] == 5
    shown = jeton("credits").stdout
    assert "5 left" in shown
    assert "pair" in shown


@both
def test_a_store_without_an_account_has_no_limit(jeton: Verbs) -> None:
    jeton.run("double", "--input", '{"n": 1}')
    assert "no limit" in jeton("credits").stdout
    assert jeton.json("credits", "--top-up", "5", exits=5)["code"] == "no_account"


def test_the_runs_below_and_the_tokens_of_models(jeton: Verbs) -> None:
    (jeton.folder / "asking.py").write_text(ASKING)
    file = jeton.folder / "asking.json"
    file.write_bytes(msgspec.json.encode(ASKS))
    run = jeton.json("run", str(file), "outer", "--app", str(jeton.folder / "asking.py"))
    assert run["status"] == "completed"
    assert jeton.json("credits", "--run", run["run_id"])["usage"][0]["node"] == "call"
    tree = jeton.json("credits", "--run", run["run_id"], "--tree")["usage"]
    assert [(each["node"], each["credits"]) for each in tree] == [("call", 1), ("ask", 3)]
    assert tree[1]["tokens"] == {"fast": {"input": 1200, "output": 300}}
    shown = jeton("credits").stdout
    assert [line.split()[1:] for line in shown.splitlines() if "fast" in line] == [["fast", "1200", "300"]]


ASKING = """
import jeton


@jeton.action
def ask_the_fast_model() -> None:
    jeton.current_call().tokens("fast", input=1200, output=300)
"""
ASKS: JsonObject = {
    "workflows": {
        "outer": {"initial_node": "call", "nodes": {"call": {"workflow": "inner"}}},
        "inner": {"initial_node": "ask", "nodes": {"ask": {"action": "ask_the_fast_model"}}},
    },
    "model_profiles": {"fast": {"provider": "openai", "prices": {"input": 1000, "output": 6000}}},
    "project": {"settings": {"credits": {"balance": 30, "costs": {"ask_the_fast_model": 9}}}},
}

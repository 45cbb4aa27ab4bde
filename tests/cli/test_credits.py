"""`jeton credits`."""

import msgspec

from jeton.model.json import JsonObject
from tests.cli.verbs import Verbs

LIBRARY: JsonObject = {
    "workflows": {
        "pair": {"initial_node": "a", "nodes": {"a": {}, "b": {}}, "transitions": [{"from": "a", "to": "b"}]}
    },
    "project": {"settings": {"credits": {"balance": 3}}},
}


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


def test_a_store_without_an_account_has_no_limit(jeton: Verbs) -> None:
    jeton.run("double", "--input", '{"n": 1}')
    assert "no limit" in jeton("credits").stdout
    assert jeton.json("credits", "--top-up", "5", exits=5)["code"] == "no_account"

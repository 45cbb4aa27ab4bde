"""No text of a definition or of a run reaches a terminal with characters that control it."""

import json
import os
import re
from collections.abc import Iterator

import pytest
from click.testing import Result

from jeton.model.json import JsonObject
from tests.cli.verbs import Verbs

BAD = "x\x1b]0;t\x07\x9b31m\x85\u202e\u2066\u200e\u200f\u061c\u2069\rz"
"""Escape sequences in seven and in eight bits, and marks that reverse text."""

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
FAILS: JsonObject = {"kind": "assert", "implementation": {"that": "false", "message": BAD}}
LIBRARY: JsonObject = {
    "workflows": {
        "fails": {
            "description": BAD,
            "tags": [BAD],
            "initial_node": "a",
            "nodes": {
                "a": {"output_mapping": {"state.seen": "input.text"}},
                "b": {"action": FAILS, "input_mapping": {BAD: "input.text"}},
            },
            "transitions": [{"from": "a", "to": "b", "condition": f"input.text != {json.dumps(BAD + BAD)}"}],
        },
        "asks": {
            "initial_node": "a",
            "nodes": {
                "a": {
                    "gate": {"title": BAD, "schema": {"properties": {"how": {"enum": [BAD], "description": BAD}}}},
                    "output_mapping": {"output.how": "result.how"},
                }
            },
        },
        "naps": {"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 600, "label": BAD}}}},
        "hears": {"initial_node": "a", "nodes": {"a": {"wait": {"signal": "paid", "label": BAD}}}},
        "fans": {
            "initial_node": "a",
            "nodes": {"a": {}, "b": {"action": FAILS}, "c": {}},
            "transitions": [
                {"from": "a", "to": "b", "foreach": {"collection": "[input.text, input.text]", "item_var": "item"}},
                {"from": "b", "to": "c", "synchronization": {"strategy": "all", "on_branch_failure": "continue"}},
            ],
        },
    },
    "flows": {
        "flows": {
            "nodes": {"a": {"type": "set", "data": {BAD: "context.text"}}, "b": {"type": "merge"}},
            "connections": [{"from": "a", "from_output": BAD, "to": "b", "to_input": BAD}],
        }
    },
}
RUNS = ("fails", "asks", "naps", "hears", "fans", "flows")
READS: tuple[tuple[str, ...], ...] = (
    ("show", "{run}"),
    ("events", "{run}"),
    ("events", "{run}", "--trace"),
    ("tokens", "{run}"),
    ("context", "{run}"),
    ("explain", "{run}"),
    ("explain", "{run}", "--token", "0"),
    ("what-if", "{run}", "0", "--failure", BAD),
    ("gates", "{run}"),
    ("draw", "--run", "{run}"),
    ("draw", "--run", "{run}", "--format", "mermaid"),
    ("draw", "--run", "{run}", "--format", "svg"),
)
OTHERS: tuple[tuple[str, ...], ...] = (
    ("ls",),
    ("ls", "--workflow", BAD),
    ("gates",),
    ("triggers",),
    ("credits",),
    ("verify",),
    ("show", BAD),
    ("check", f"no\u202e{BAD}.yaml"),
    ("run", f"no\u202e{BAD}.yaml"),
    ("draw", "{library}"),
    ("draw", "{library}", BAD),
    ("draw", "{library}", "hears"),
    ("run", "{library}", BAD),
    ("run", "{library}", "fails", "--input", json.dumps({"text": BAD}, ensure_ascii=False)),
    ("run", "{library}", "fails", "--input", BAD),
    ("signal", "{hears}", BAD + BAD, "--value", json.dumps(BAD, ensure_ascii=False)),
    ("answer", "{asks}", "--node", BAD, "--value", "{}"),
    ("answer", "{asks}", "--gate", BAD, "--value", "{}"),
    ("answer", "{asks}", "--value", json.dumps({"how": BAD + BAD}, ensure_ascii=False), "--by", BAD),
    ("fork", "{fails}", "--at", "0", "--set", f"state.{BAD}=1"),
    ("pause", "{naps}"),
    ("cancel", "{naps}", "--reason", BAD),
    ("show", "{naps}"),
    ("fire", BAD),
    ("export", BAD),
    ("import", BAD),
    ("import-flow", BAD),
    ("retry", "{fails}"),
    ("resume",),
)


@pytest.fixture
def runs(jeton: Verbs) -> dict[str, str]:
    jeton.library.write_text(json.dumps(LIBRARY))
    text = json.dumps({"text": BAD})
    found: dict[str, str] = {}
    for name in RUNS:
        result = jeton("run", str(jeton.library), name, "--input", text, "--wait", "0.3", "--json")
        found[name] = json.loads(result.stdout)["run_id"]
    return found


def calls(jeton: Verbs, runs: dict[str, str]) -> Iterator[tuple[tuple[str, ...], Result]]:
    """Every verb of the table, of every run where it reads one, for people and for machines."""
    verbs = [tuple(part.replace("{run}", run) for part in verb) for run in runs.values() for verb in READS]
    for verb in OTHERS:
        verbs.append(tuple(_filled(part, {**runs, "library": str(jeton.library)}) for part in verb))
    for verb in verbs:
        for more in ((), ("--json",)):
            if more and verb[0] == "draw":
                continue
            yield (*verb, *more), jeton(*verb, *more)


def _filled(part: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        part = part.replace("{" + name + "}", value)
    return part


def test_nothing_that_a_verb_prints_controls_the_terminal(jeton: Verbs, runs: dict[str, str]) -> None:
    seen = 0
    for verb, result in calls(jeton, runs):
        printed = result.stdout + result.stderr
        assert result.exception is None or isinstance(result.exception, SystemExit), (verb, result.exception)
        found = UNSAFE.search(printed)
        assert found is None, (verb, printed[max(found.start() - 60, 0) : found.end() + 20])
        seen += "202e" in printed
    assert seen > len(RUNS) * 4  # most have something to escape


def test_json_keeps_the_exact_text(jeton: Verbs, runs: dict[str, str]) -> None:
    assert json.loads(jeton("context", runs["fails"], "--json").stdout)["state"]["seen"] == BAD
    gates = json.loads(jeton("gates", "--json").stdout)["gates"]
    assert [gate["title"] for gate in gates] == [BAD]


def test_a_file_with_a_hostile_name(jeton: Verbs) -> None:
    try:
        file = jeton.folder / f"{BAD.replace(chr(0), '')}.yaml"
        file.write_text("workflows: {w: {}}")
    except OSError:  # the file system takes no such name
        pytest.skip(os.name)
    for verb in ("check", "run"):
        result = jeton(verb, str(file))
        assert UNSAFE.search(result.stdout + result.stderr) is None
        assert "202e" in result.stdout + result.stderr

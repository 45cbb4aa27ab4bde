"""`jeton import-flow`: what it prints, and how it exits."""

import json
from pathlib import Path
from typing import Any

from tests.cli.verbs import Verbs

EXPORT = {
    "nodes": [
        {"id": "one", "type": "constant", "data": {"value": 1}},
        {"id": "plus", "type": "add", "inputs": [{"name": "b", "value": 2}]},
    ],
    "edges": [{"source": "one", "target": "plus", "sourceOutput": "value", "targetInput": "a"}],
}


def test_the_library_is_printed_and_can_be_checked(tmp_path: Path) -> None:
    verbs, export, library = Verbs(tmp_path), tmp_path / "export.json", tmp_path / "flow.yaml"
    export.write_text(json.dumps(EXPORT))
    done = verbs("import-flow", str(export))
    assert (done.exit_code, done.stdout.startswith("flows:\n  imported:\n")) == (0, True)
    assert verbs("import-flow", str(export), "--name", "sums", "--output", str(library)).stdout == ""
    assert verbs("check", str(library)).exit_code == 0
    answer = verbs.json("import-flow", str(export))
    assert (answer["flow"], answer["ok"], answer["problems"]) == ("imported", True, [])


def test_what_has_to_be_mended_is_said_and_the_library_is_written_all_the_same(tmp_path: Path) -> None:
    export = tmp_path / "export.json"
    export.write_text(json.dumps({"nodes": [{"id": "a", "type": "slack"}], "edges": []}))
    done = Verbs(tmp_path)("import-flow", str(export))
    assert done.exit_code == 0
    assert "type: slack" in done.stdout
    assert "unknown_node_type" in done.stderr


def test_what_cannot_run_as_it_is_exits_so_and_names_the_node(tmp_path: Path) -> None:
    export = tmp_path / "export.json"
    call = {"endpoint": "https://a.example/items", "method": "GET", "variableName": "items"}
    export.write_text(json.dumps({"nodes": [{"id": "fetch", "type": "HTTP_REQUEST", "data": call}], "connections": []}))
    done = Verbs(tmp_path)("import-flow", str(export))
    assert done.exit_code == 2
    assert "flows.imported.nodes.fetch.data" in done.stderr
    assert "https://a.example/items" in done.stdout
    waits = {"id": "w", "name": "Cool off", "type": "WAIT", "data": {"amount": 1, "unit": "eons"}}
    export.write_text(json.dumps({"nodes": [waits], "connections": []}))
    done = Verbs(tmp_path)("import-flow", str(export))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "node 'Cool off' (WAIT) waits in the unit 'eons'" in done.stderr


def test_what_is_imported_runs(tmp_path: Path) -> None:
    verbs, export, library = Verbs(tmp_path), tmp_path / "export.json", tmp_path / "flow.yaml"
    nodes: list[dict[str, Any]] = [
        {"id": "t", "type": "CONTACT_CREATED", "data": {}},
        {"id": "w", "type": "WAIT", "data": {"amount": 0.01, "unit": "seconds"}},
        {"id": "s", "type": "SET", "data": {"note": "context.name"}},
    ]
    wires = [{"fromNodeId": a, "toNodeId": b, "fromOutput": "source-1", "toInput": "target-1"} for a, b in ("tw", "ws")]
    export.write_text(json.dumps({"name": "hello", "nodes": nodes, "connections": wires}))
    assert verbs("import-flow", str(export), "--output", str(library)).exit_code == 0
    assert verbs.json("run", str(library), "--input", '{"name": "Ada"}')["output"]["note"] == "Ada"


def test_what_is_no_export_is_refused(tmp_path: Path) -> None:
    export = tmp_path / "export.json"
    export.write_text("{}")
    assert Verbs(tmp_path)("import-flow", str(export)).exit_code == 2
    assert Verbs(tmp_path)("import-flow", str(tmp_path / "nope.json")).exit_code == 3

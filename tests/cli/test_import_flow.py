"""`jeton import-flow`: what it prints, and how it exits."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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
    call = {"endpoint": "https://a.example/items", "method": "GET", "credentialId": "c1"}
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


class Items(BaseHTTPRequestHandler):
    """Answers a GET with text, and a POST with the JSON that it got."""

    def do_GET(self) -> None:
        self._answer("text/plain", b"three")

    def do_POST(self) -> None:
        self._answer("application/json", self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_later_nodes_find_the_answer_of_a_request_under_its_variable(tmp_path: Path) -> None:
    verbs, export, library = Verbs(tmp_path), tmp_path / "export.json", tmp_path / "flow.yaml"
    server = ThreadingHTTPServer(("127.0.0.1", 0), Items)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/items"
    posted = {"endpoint": url, "method": "POST", "variableName": "made", "body": '{"n": 3}'}
    nodes: list[dict[str, Any]] = [
        {"id": "t", "type": "MANUAL_TRIGGER"},
        {"id": "g", "type": "HTTP_REQUEST", "data": {"endpoint": url, "method": "GET", "variableName": "said"}},
        {"id": "p", "type": "HTTP_REQUEST", "data": posted},
        {"id": "i", "type": "IF_ELSE", "data": {"field": "made.httpResponse.data.n", "operator": "gt", "value": 2}},
        {"id": "s", "type": "SET", "data": {"told": "context.said.httpResponse.data"}},
    ]
    wires = [{"fromNodeId": a, "toNodeId": b} for a, b in ("tg", "gp", "pi")]
    wires.append({"fromNodeId": "i", "toNodeId": "s", "fromOutput": "true"})
    export.write_text(json.dumps({"nodes": nodes, "connections": wires}))
    assert verbs("import-flow", str(export), "--output", str(library)).exit_code == 0
    with library.open("a") as file:
        file.write("project: {settings: {http: {allow: ['127.0.0.1']}}}\n")
    try:
        output = verbs.json("run", str(library), "--input", '{"status": "new"}')["output"]
    finally:
        server.shutdown()
        server.server_close()
    answers = {name: output[name]["httpResponse"] for name in ("made", "said")}
    assert answers == {"made": {"status": 200, "data": {"n": 3}}, "said": {"status": 200, "data": "three"}}
    assert (output["told"], output["status"]) == ("three", "new")


def test_what_is_no_export_is_refused(tmp_path: Path) -> None:
    export = tmp_path / "export.json"
    export.write_text("{}")
    assert Verbs(tmp_path)("import-flow", str(export)).exit_code == 2
    assert Verbs(tmp_path)("import-flow", str(tmp_path / "nope.json")).exit_code == 3

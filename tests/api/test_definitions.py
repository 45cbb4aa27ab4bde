"""Definitions over HTTP: deployed as texts, read back, checked, drawn and tried."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.api.listed import Server, code, ok

STEPS = """
workflows:
  {name}:
    initial_node: first
    input_schema: {{type: object, properties: {{n: {{type: integer}}}}}}
    nodes:
      first: {{}}
      second: {{}}
    transitions:
      - {{from: first, to: second, condition: "{condition}"}}
"""


def steps(name: str, condition: str = "true") -> str:
    return STEPS.format(name=name, condition=condition)


def deploy(client: httpx2.Client, text: str, name: str = "a.yaml") -> Any:
    return ok(client.post("/v1/definitions", json={"files": [{"name": name, "text": text}]}))


def test_what_is_deployed_is_listed_with_its_versions_and_read_back_as_it_was_written(client: httpx2.Client) -> None:
    first = steps("listed") + "# as written\n"
    assert deploy(client, first)["versions"] == {"listed": 1}
    assert deploy(client, steps("listed", "input.n > 1"))["versions"] == {"listed": 2}
    row = next(row for row in ok(client.get("/v1/workflows"))["workflows"] if row["name"] == "listed")
    assert row == {"name": "listed", "kind": "workflow", "version": 2, "versions": 2, "disabled": False}
    old, new = ok(client.get("/v1/workflows/listed@1")), ok(client.get("/v1/workflows/listed"))
    assert old["files"] == [{"name": "a.yaml", "text": first}]
    assert [each["version"] for each in new["versions"]] == [2, 1]
    assert all(each["deployed_at"] for each in new["versions"])
    assert new["hash"] != old["hash"]
    assert new["versions"][0]["hash"] == new["hash"]
    assert new["input_schema"] == {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert new["definition"]["workflows"]["listed"]["transitions"][0]["condition"] == "input.n > 1"


def test_a_new_comment_is_no_new_version_and_the_newest_text_is_kept(client: httpx2.Client) -> None:
    deploy(client, steps("commented"))
    assert deploy(client, steps("commented") + "# new\n")["versions"] == {"commented": 1}
    assert ok(client.get("/v1/workflows/commented"))["files"][0]["text"].endswith("# new\n")


def test_files_that_are_wrong_are_refused_with_every_problem_and_nothing_is_stored(client: httpx2.Client) -> None:
    text = steps("wrong").replace("to: second", "to: secnd").replace("first: {}", "first: {tsk: x}")
    refused = client.post("/v1/definitions", json={"files": [{"name": "w.yaml", "text": text}]})
    assert code(refused) == (422, "definition_invalid")
    problems = refused.json()["problems"]
    assert len(problems) >= 2
    assert {problem["file"] for problem in problems} == {"w.yaml"}
    assert all(problem["line"] for problem in problems)
    assert code(client.get("/v1/workflows/wrong")) == (404, "unknown_workflow")


def test_triggers_that_a_file_no_longer_declares_are_removed(client: httpx2.Client) -> None:
    trigger = "triggers:\n  hourly: {type: schedule, start: fired, cron: '0 * * * *'}\n"
    text = steps("fired") + trigger
    found = client.post("/v1/check", json={"files": [{"name": "t.yaml", "text": text}]}).json()
    assert found["ok"], found
    assert deploy(client, text, "t.yaml")["removed"] == []
    assert deploy(client, steps("fired"), "t.yaml")["removed"] == ["hourly"]


def test_a_text_replaces_the_served_file_of_its_name_with_its_triggers(
    server: Server, client: httpx2.Client, tmp_path: Path
) -> None:
    file = tmp_path / "served.yaml"
    file.write_text(steps("served") + "triggers:\n  daily: {type: schedule, start: served, cron: '0 0 * * *'}\n")
    server.call(lambda engine: engine.deploy(file))
    assert deploy(client, steps("served"), "other.yaml")["removed"] == []
    assert deploy(client, steps("served"), "served.yaml")["removed"] == ["daily"]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param([], id="no files"),
        pytest.param([{"name": "a.py", "text": "raise SystemExit"}], id="a Python file"),
        pytest.param([{"name": "a.yaml", "text": ""}, {"name": "a.yaml", "text": ""}], id="a name twice"),
        pytest.param([{"name": "a\n.yaml", "text": ""}], id="a name that cannot be shown"),
        pytest.param([{"name": "a.yaml"}], id="no text"),
        pytest.param([{"name": "a.yaml", "text": "", "more": 1}], id="an unknown field"),
    ],
)
def test_files_must_be_definition_files(client: httpx2.Client, files: list[dict[str, object]]) -> None:
    for path in ("/v1/definitions", "/v1/check"):
        assert code(client.post(path, json={"files": files})) == (400, "bad_argument")


def test_no_file_of_the_server_is_read_for_a_text_that_names_one(client: httpx2.Client, tmp_path: Path) -> None:
    script = tmp_path / "answers.script.yaml"
    script.write_text("- {text: secret}\n")
    text = f"model_profiles:\n  fast: {{provider: scripted, model: x, script: {script}}}\n"
    found = ok(client.post("/v1/check", json={"files": [{"name": f"{tmp_path}/a.yaml", "text": text}]}))
    assert not found["ok"]
    assert "names a file" in found["problems"][0]["problem"]
    assert "secret" not in str(found)


def test_no_program_is_started_for_a_text_that_names_one(client: httpx2.Client, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    text = f"""
project: {{settings: {{mcp: {{files: {{command: [touch, "{mark}"]}}}}}}}}
actions: {{look: {{kind: mcp, implementation: {{server: files, tool: look}}}}}}
tasks: {{look: {{steps: [{{action: look}}]}}}}
workflows: {{uses_mcp: {{initial_node: a, nodes: {{a: {{task: look}}}}}}}}
"""
    checked = ok(client.post("/v1/check", json={"files": [{"name": "m.yaml", "text": text}]}))
    assert checked["ok"], checked
    deploy(client, text, "m.yaml")
    assert not mark.exists()


def test_a_check_gives_the_graphs_and_stores_nothing(client: httpx2.Client) -> None:
    found = ok(client.post("/v1/check", json={"files": [{"name": "a.yaml", "text": steps("only_checked")}]}))
    assert found["ok"]
    assert found["problems"] == []
    assert [node["id"] for node in found["graphs"]["only_checked"]["nodes"]] == ["first", "second"]
    assert code(client.get("/v1/workflows/only_checked")) == (404, "unknown_workflow")


def test_the_graph_has_boxes_that_do_not_overlap_and_arrows_from_border_to_border(client: httpx2.Client) -> None:
    deploy(client, steps("drawn", "input.n > 1"))
    graph = ok(client.get("/v1/workflows/drawn/graph"))
    first, second = graph["nodes"]
    assert first["initial"]
    assert not second["initial"]
    assert first["y"] + first["h"] < second["y"]
    (edge,) = graph["edges"]
    assert (edge["id"], edge["from"], edge["to"], edge["labels"]) == (0, "first", "second", ["input.n > 1"])
    assert edge["points"][0][1] == pytest.approx(first["y"] + first["h"], abs=0.2)
    assert edge["points"][-1][1] == pytest.approx(second["y"], abs=0.2)
    assert graph["height"] >= second["y"] + second["h"] - 0.2


def test_a_workflow_is_disabled_and_enabled_by_name(client: httpx2.Client) -> None:
    deploy(client, steps("switched"))
    assert ok(client.post("/v1/workflows/switched/disable")) == {"name": "switched", "disabled": True}
    listed = {row["name"]: row["disabled"] for row in ok(client.get("/v1/workflows"))["workflows"]}
    assert listed["switched"]
    assert ok(client.post("/v1/workflows/switched/enable"))["disabled"] is False
    assert code(client.post("/v1/workflows/nowhere/disable")) == (404, "unknown_workflow")


def test_a_simulation_reports_outcomes_as_the_command_line_does(client: httpx2.Client) -> None:
    files = [{"name": "a.yaml", "text": steps("tried")}]
    report = ok(client.post("/v1/simulate", json={"files": files, "name": "tried", "seeds": 5, "faults": True}))
    assert report["ok"]
    assert report["seeds"] == 5
    assert report["outcomes"][0]["status"] == "completed"
    assert report["outcomes"][0]["count"] == 5
    assert code(client.post("/v1/simulate", json={"files": files, "seeds": 201})) == (400, "bad_argument")
    assert code(client.post("/v1/simulate", json={"files": files, "name": "tired"})) == (404, "unknown_workflow")
    assert code(client.post("/v1/simulate", json={"files": files, "input": {"n": "x"}})) == (422, "input_invalid")
    assert code(client.post("/v1/simulate", json={"files": files, "faults": ["none"]})) == (400, "bad_argument")


def test_texts_survive_a_restart(tmp_path: Path) -> None:
    for _ in range(2):
        server = Server(tmp_path / "store.db").start()
        with server.client() as client:
            if not ok(client.get("/v1/workflows"))["workflows"]:
                deploy(client, steps("kept"))
            assert ok(client.get("/v1/workflows/kept"))["files"][0]["text"] == steps("kept")
        server.stop()

"""Agents, personas, tools, prompts and model profiles: plain data into values."""

from pathlib import Path

import msgspec
import pytest

from jeton.definitions import library_from, load_library
from jeton.model.definition.agent import (
    Agent,
    AgentTool,
    Approval,
    Budget,
    Example,
    McpTool,
    MemoryPolicy,
    MemoryType,
    Persona,
    Prompt,
    TaskTool,
    Tool,
    WorkflowTool,
)
from jeton.model.definition.profile import ModelProfile, Prices
from jeton.model.definition.task import RetryPolicy
from jeton.model.definition.workflow import AgentTarget
from tests.definitions.agents.given_agents import SHOP, node, profile
from tests.definitions.given import loaded

LIBRARY = loaded(SHOP)


def test_a_library_with_everything_has_no_problem() -> None:
    assert LIBRARY.problems == ()


def test_profiles() -> None:
    fast, slow, fake = LIBRARY.library.model_profiles.values()
    assert fast == ModelProfile(
        "openai",
        "small",
        {"temperature": 0, "max_tokens": 500},
        Prices(100, 400),
        base_url="http://127.0.0.1:8080/v1",
        api_key="KEY",
        context_window=128_000,
        accepts=("image/*", "application/pdf"),
        timeout_ms=60_000,
        retry_policy=RetryPolicy(2, "linear", 100),
        fallbacks=("slow", "fake"),
    )
    assert slow == ModelProfile("openai_responses", "large", background=True, fallbacks=("fake",))
    assert fake.script[2:] == ({"error": "overloaded", "transient": True, "delay_ms": 5}, {"text": ""})


def test_prompts_personas_and_agents() -> None:
    library = LIBRARY.library
    prompt = Prompt("{{ input.text }} ({{ run.id }})", "You judge.", (Example("Good.", "pass"),))
    assert library.prompts == {"verdict": prompt}
    assert library.personas["helper"] == Persona(
        "helper",
        "fast",
        "You are {{ agent }}, {{ persona }}, {{ run.id }}.",
        ("refund", "report", "expert", "search"),
        "assemble",
        "extract",
        "shorten",
        MemoryPolicy({"fact": MemoryType({"type": "object"}, "What is true."), "wish": MemoryType()}, "user", 0),
        5,
        7,
        2,
        60_000,
        Budget(10, 100, 1000, "ask"),
    )
    judge = Persona("judge", "fake", tools=("ask_bob", "judge"), memory=MemoryPolicy({"fact": MemoryType()}))
    assert library.personas["judge"] == judge
    assert (judge.recent_turns, judge.max_moves_per_turn, judge.max_parallel_tools) == (20, 20, 8)
    assert library.agents["bob"] == Agent("bob", "helper", "Helps.", ("shop",))


def test_tools() -> None:
    tools = LIBRARY.library.tools
    assert tools["refund"].target == TaskTool("pay")
    assert tools["refund"].input_mapping == {"order": "input.order", "who": "caller", "at": "run.started_at"}
    when = "input.amount > 10.0 || tainted"
    assert tools["refund"].needs_approval == Approval(when, "{{ tool }} {{ input.order }}", ("ann",), 1, 5, "refuse")
    assert (tools["refund"].once, tools["refund"].exclusive, tools["refund"].max_result_bytes) == (True, True, 100)
    report = Tool("report", WorkflowTool("write_report"), runs_async=True, retry=RetryPolicy(2))
    assert tools["report"] == msgspec.structs.replace(report, needs_approval=Approval("tainted"))
    assert tools["expert"] == Tool("expert", AgentTool("eve", "loop_in"))
    assert tools["ask_eve"] == Tool("ask_eve", AgentTool("eve"), output_schema={"type": "object"}, untrusted=True)
    assert tools["search"] == Tool("search", McpTool("web", "search/all"), untrusted=False)


def test_nodes_that_ask_an_agent() -> None:
    asked = LIBRARY.library.workflows["triage"].nodes["ask"].target
    assert asked == AgentTarget("bob", {"type": "object"}, "input.talk", 5000)
    short = loaded(node("agent: bob@2, input_mapping: {message: input.mail}")).require()
    assert short.workflows["w"].nodes["a"].target == AgentTarget("bob@2")


class TestScriptFile:
    """A script in a file of its own."""

    def library(self, folder: Path, script: str) -> Path:
        (folder / "shop").mkdir()
        file = folder / "shop" / "library.yaml"
        file.write_text(profile(f"provider: scripted, script: {script}"))
        return file

    def test_it_is_read_from_the_folder_of_the_definition(self, tmp_path: Path) -> None:
        file = self.library(tmp_path, "../talk.script.yaml")
        (tmp_path / "talk.script.yaml").write_text("- {text: Hello.}\n- {error: broken}\n")
        found = load_library(file).require().model_profiles["fake"]
        assert found.script == ({"text": "Hello."}, {"error": "broken"})
        inline = load_library(self.library(tmp_path / "shop", "[{text: Hello.}, {error: broken}]")).require()
        assert found == inline.model_profiles["fake"]

    def test_json_is_a_script_too(self, tmp_path: Path) -> None:
        file = self.library(tmp_path, "talk.json")
        (tmp_path / "shop" / "talk.json").write_text('[{"text": "Hello."}]')
        assert load_library(file).require().model_profiles["fake"].script == ({"text": "Hello."},)

    def test_it_is_no_library_file_of_its_folder(self, tmp_path: Path) -> None:
        file = self.library(tmp_path, "talk.script.yaml")
        (file.parent / "talk.script.yaml").write_text("- {text: Hello.}\n")
        assert load_library(file.parent).problems == ()

    def test_problems_name_its_own_lines(self, tmp_path: Path) -> None:
        file = self.library(tmp_path, "talk.script.yaml")
        (file.parent / "talk.script.yaml").write_text("- {text: Hello.}\n- {txt: Hello.}\n- {text: x, when: mesage}\n")
        found = [(Path(p.file).name, p.line, p.path, p.code) for p in load_library(file).problems]
        assert found == [
            ("talk.script.yaml", 2, "[1].txt", "unknown_key"),
            ("talk.script.yaml", 3, "[2].when", "expression_invalid"),
        ]

    @pytest.mark.parametrize("script", ["nothing.yaml", "''", "'.'", "/no/such/file"])
    def test_a_file_that_is_not_there(self, tmp_path: Path, script: str) -> None:
        found = load_library(self.library(tmp_path, script)).problems
        assert [(p.code, p.path) for p in found] == [("file_not_found", "model_profiles.fake.script")]

    def test_a_file_that_is_no_script(self, tmp_path: Path) -> None:
        file = self.library(tmp_path, "talk.yaml")
        (file.parent / "talk.yaml").write_text("text: Hello.")
        assert [(Path(p.file).name, p.code) for p in load_library(file).problems] == [("talk.yaml", "wrong_type")]
        (file.parent / "talk.yaml").write_text("[text")
        assert [(Path(p.file).name, p.code) for p in load_library(file).problems] == [("talk.yaml", "syntax")]

    def test_data_from_elsewhere_reads_no_file(self, tmp_path: Path) -> None:
        (tmp_path / "talk.yaml").write_text("- {text: Hello.}")
        data = {"model_profiles": {"fake": {"provider": "scripted", "script": str(tmp_path / "talk.yaml")}}}
        found = library_from(data)
        assert [(p.code, p.path) for p in found.problems] == [("wrong_type", "model_profiles.fake.script")]
        assert found.library.model_profiles["fake"].script == ()

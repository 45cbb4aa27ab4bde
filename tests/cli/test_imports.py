"""What short commands must not import: start-up is most of what they cost."""

import subprocess
import sys
from pathlib import Path

import pytest

WORKFLOW = """
workflows:
  one: {initial_node: a, nodes: {a: {action: {kind: mock, implementation: {output: {points: 8}}}}}}
"""
AGENT = """
model_profiles: {fake: {provider: scripted, script: [{text: Hello.}]}}
personas: {helper: {instructions: Help., model_profile: fake}}
agents: {bob: {persona: helper}}
"""

# by name, or everything below one
LIBRARIES = {
    "cel_expr_python", "email", "http", "httpcore2", "httptools", "httpx2", "importlib.metadata", "importlib.resources",
    "jsonschema_rs", "mcp", "minijinja", "multiprocessing", "numpy", "opentelemetry", "prometheus_client",
    "pydantic_ai", "rich", "sqlite3", "tempfile", "unittest", "urllib.request", "uvicorn", "websockets", "xml",
    "zipfile", "zoneinfo",
}  # fmt: skip
OURS = {
    "jeton.actor.typed", "jeton.api", "jeton.definitions.checks.flow.graph", "jeton.definitions.checks.triggers",
    "jeton.definitions.read.flow", "jeton.definitions.read.settings", "jeton.definitions.read.trigger",
    "jeton.engine.browse.browse", "jeton.engine.build.agent", "jeton.engine.look.past", "jeton.engine.mcp.pins",
    "jeton.engine.talk.memories", "jeton.engine.triggers", "jeton.engine.views.draw", "jeton.engine.views.explain",
    "jeton.engine.views.past", "jeton.engine.views.what_if", "jeton.executor.actions.file",
    "jeton.executor.actions.http", "jeton.executor.actions.llm", "jeton.executor.actions.mcp",
    "jeton.executor.actions.python", "jeton.executor.actions.shell", "jeton.executor.http.exchange",
    "jeton.executor.models.providers", "jeton.hosts.simulated", "jeton.hosts.sql.mirrors.typed.tables",
    "jeton.hosts.sqlite.tools.portable", "jeton.hosts.sqlite.tools.verify", "jeton.telemetry", "jeton.testing",
}  # fmt: skip
OF_EXPRESSIONS = {"jeton.expression.compiler", "jeton.expression.library", "jeton.expression.templates.engine"}
OF_AGENTS = {
    "jeton.definitions.checks.personas", "jeton.definitions.read.persona", "jeton.engine.talk.conversations",
    "jeton.executor.actions.model", "jeton.executor.models.scripted",
}  # fmt: skip
OF_RUNS = {"asyncio", "apsw", "msgspec", "yaml", "jeton.actor", "jeton.engine", "jeton.hosts", "jeton.model"}

CHAT_NEEDS = {"minijinja"}  # the instructions of an agent are a template


def imported(folder: Path, *arguments: str) -> set[str]:
    """The modules that a command imported, with the packages above them."""
    program = (
        "import sys; from jeton.cli.main import main\n"
        f"try: main({list(arguments)!r})\n"
        "except SystemExit as ended: print('', *sys.modules) if not ended.code else sys.exit(ended.code)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def found(modules: set[str], forbidden: set[str]) -> set[str]:
    return {name for name in modules if any(name == each or name.startswith(f"{each}.") for each in forbidden)}


def test_help_imports_nothing_of_runs(tmp_path: Path) -> None:
    modules = imported(tmp_path, "--help")
    assert "jeton.cli.main" in modules
    assert found(modules, LIBRARIES | OURS | OF_EXPRESSIONS | OF_AGENTS | OF_RUNS) == set()


def test_a_run_without_expressions_imports_neither_their_compiler_nor_anything_of_agents(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(WORKFLOW)
    modules = imported(tmp_path, "run", "one.yaml")
    assert "jeton.executor.actions.mock" in modules
    assert found(modules, LIBRARIES | OURS | OF_EXPRESSIONS | OF_AGENTS) == set()


def test_a_chat_imports_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(AGENT)
    modules = imported(tmp_path, "chat", "agent.yaml", "bob", "--message", "hi")
    assert modules >= OF_AGENTS
    assert found(modules, LIBRARIES - CHAT_NEEDS | OURS | {"jeton.expression.compiler"}) == set()


@pytest.mark.parametrize("forbidden", [pytest.param({"jeton.cli"}, id="a package"), pytest.param({"sys"}, id="a name")])
def test_the_comparison_finds_what_is_there(forbidden: set[str], tmp_path: Path) -> None:
    assert found(imported(tmp_path, "--help"), forbidden)

"""Libraries of providers are imported when a real model is called, and not before."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "pydantic", "pydantic_ai", "openai", "anthropic", "google.genai", "mcp", "httpx", "httpx2", "aiohttp", "numpy"
)  # fmt: skip
SCRIPTED = """
import asyncio, jeton
async def main():
    async with jeton.open("STORE") as engine:
        await engine.deploy({
            "model_profiles": {"fake": {"provider": "scripted", "script": [{"text": "hi"}]}},
            "workflows": {"w": {"initial_node": "a", "nodes": {"a": {"action": {"kind": "mock"}}}}},
        })
        await (await engine.start("w", {})).result()
    from tests.executor.models.given_model import Bench, asking, scripted
    assert Bench(fake=scripted({"text": "hi"})).call(asking()).text == "hi"
asyncio.run(main())
"""
HELP = """
from click.testing import CliRunner
from jeton.cli.main import main
assert CliRunner().invoke(main, ["--help"]).exit_code == 0
"""
CHAT = """
import json, pathlib
from click.testing import CliRunner
from jeton.cli.main import main
pathlib.Path("STORE.yaml").write_text(json.dumps({
    "model_profiles": {"fake": {"provider": "scripted", "script": [
        {"when": "moves == 0", "tool_calls": [{"name": "look", "input": {}}]}, {"text": "I looked."},
    ]}},
    "tasks": {"look": {"steps": [{"ref": "a", "action": {"kind": "mock"}}]}},
    "tools": {"look": {"description": "Look.", "task": "look"}},
    "personas": {"helper": {"model_profile": "fake", "tools": ["look"], "memory": {"types": ["fact"]}}},
    "agents": {"bob": {"persona": "helper"}},
}))
done = CliRunner().invoke(main, ["chat", "STORE.yaml", "bob", "--message", "hello", "--store", "STORE", "--json"])
assert (done.exit_code, "I looked." in done.output) == (0, True), done.output
"""


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(SCRIPTED, id="a scripted call"),
        pytest.param(CHAT, id="a scripted chat with a tool and memories"),
        pytest.param(HELP, id="--help"),
    ],
)
def test_nothing_heavy_is_imported(program: str, tmp_path: Path) -> None:
    tell = f"import sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    code = program.replace("STORE", str(tmp_path / "store.db")) + tell
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")

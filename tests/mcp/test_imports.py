"""The SDK is heavy: neither the command line nor an ordinary run imports it."""

import subprocess
import sys
from pathlib import Path

import yaml

HEAVY = ("mcp", "mcp_types", "pydantic", "starlette", "uvicorn", "anyio")
WATCH = f"""
import sys
from jeton.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    found = sorted(name for name in {HEAVY!r} if name in sys.modules)
    print("heavy:", found, "exit:", end.code, file=sys.stderr)
"""


def imported(*words: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WATCH, *words], capture_output=True, text=True, cwd=folder, timeout=120
    )
    return done.stderr.strip().splitlines()[-1]


def test_help_and_ordinary_verbs_import_nothing_of_it(tmp_path: Path) -> None:
    library = {
        "workflows": {"w": {"initial_node": "a", "nodes": {"a": {"action": {"kind": "mock"}}}}},
        "actions": {"tool": {"kind": "mcp", "implementation": {"server": "s", "tool": "t"}}},
        "project": {"settings": {"mcp": {"s": {"command": ["nothing"]}}}},
    }
    (tmp_path / "library.yaml").write_text(yaml.safe_dump(library))
    assert imported("--help", folder=tmp_path) == "heavy: [] exit: 0"
    assert imported("check", "library.yaml", folder=tmp_path) == "heavy: [] exit: 0"
    assert imported("run", "library.yaml", "w", "--input", "{}", "--json", folder=tmp_path) == "heavy: [] exit: 0"
    assert imported("gates", "--json", folder=tmp_path) == "heavy: [] exit: 0"

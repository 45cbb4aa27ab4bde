"""The pages about what workflows can do: each has a library, a script that uses it, and what the script prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs"
# nothing to run, or run by another test
BY_ITSELF = [
    "README",
    "architecture",
    "python-api",
    "plugins",
    "secrets",
    "benchmarks",
    "simulate",
    "triggers",
    "credits",
    "expressions",
    "patterns",
    "coming-from",
    "mcp",
    "telemetry",
    "testing-agents",
    "connecting",
    "serving",
    "streams",
    "keys",
    "http-api",
    "sinks",
    "page",
]


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_the_script_of_a_page_prints_what_the_page_says(page: Path, tmp_path: Path) -> None:
    if page.stem in BY_ITSELF:
        return
    blocks = dict(re.findall(r"```(yaml|python|text)\n(.*?)```", page.read_text(), re.DOTALL))
    (tmp_path / "library.yaml").write_text(blocks["yaml"])
    script = [sys.executable, "-c", blocks["python"]]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == blocks["text"]

"""The pages about what workflows can do: each has a library, a script that uses it, and what the script prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FOLDERS = ("how-to", "concepts", "coming-from")
# pages with files that the reader saves are run by tests/docs/test_sessions.py
PAGES = sorted(page for each in FOLDERS for page in (DOCS / each).glob("*.md") if ' title="' not in page.read_text())
# nothing to run, or run by another test
BY_ITSELF = [
    "plugins",
    "secrets",
    "simulate",
    "triggers",
    "credits",
    "expressions",
    "step-functions-and-airflow",
    "mcp",
    "telemetry",
    "testing-agents",
    "connecting",
    "serving",
    "streams",
    "keys",
    "sinks",
    "page",
    "install",
    "deploying",
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_script_of_a_page_prints_what_the_page_says(page: Path, tmp_path: Path) -> None:
    if page.stem in BY_ITSELF:
        return
    blocks = dict(re.findall(r"```(yaml|python|text)\n(.*?)```", page.read_text(), re.DOTALL))
    (tmp_path / "library.yaml").write_text(blocks["yaml"])
    script = [sys.executable, "-c", blocks["python"]]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == blocks["text"]

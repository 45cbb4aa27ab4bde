"""What the README shows is run, and its figures are those of the benchmarks."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, block

README = (ROOT / "README.md").read_text()
BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text()
MEASURED = {
    "one node, ms": "W1 alone, p50, ms",
    "ten-node chains, nodes/s": "W2, ten-node chains, nodes/s",
    "1,000 branches, branches/s": "W3, 1,000 branches, branches/s",
}


def test_the_example_prints_what_the_readme_says(tmp_path: Path) -> None:
    said = re.search(r"It prints `(.*?)`", README)
    assert said is not None
    code = block(README, "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
    for _ in range(2):  # the second time, the key gives the first run
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == (f"{said[1]}\n", "")


@pytest.mark.parametrize("row", MEASURED)
def test_figures_are_those_of_the_benchmarks(row: str) -> None:
    shown = _cells(README, row)
    names, measured = _cells(BENCHMARKS, " "), _cells(BENCHMARKS, MEASURED[row])
    figures = dict(zip(names, measured, strict=True))
    engines = [name.lower() for name in _cells(README, " ")]
    assert shown == [figures[name] for name in engines]


def _cells(text: str, first: str) -> list[str]:
    """The cells behind the first of a row; the head of a table begins with an empty one."""
    rows = [line for line in text.splitlines() if line.startswith(f"| {first.strip()} |".replace("|  |", "| |"))]
    row = next(line for line in rows if first.strip() or "jeton" in line)
    return [cell.strip() for cell in row.strip().strip("|").split("|")[1:]]

"""The examples of docs/concepts/flows.md do what the page says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import yaml

import jeton

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "flows.md"


def block(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


async def test_the_flow_in_a_file(tmp_path: Path) -> None:
    given = re.search(r"With the input `(.*?)`", PAGE.read_text())
    assert given is not None
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(yaml.safe_load(block("yaml")))
        record = await (await engine.start("discount", json.loads(given[1]))).result()
    assert record.output == json.loads(block("json"))
    assert record.nodes["thanks"].skip_reason == "branch_not_taken"


async def test_the_flow_that_goes_on_after_a_failure(tmp_path: Path) -> None:
    report = next(text for text in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL) if "report:" in text)
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(yaml.safe_load(report))
        record = await (await engine.start("report", {"amount": 8})).result()
    assert isinstance(record.output, dict)
    assert (record.status, record.output["closed"]) == ("completed", True)
    assert record.output["text"] == "no score: divide: division by zero: 'b' is 0"
    assert record.nodes["good"].blocked_by == ("score",)


def test_the_flow_in_python(tmp_path: Path) -> None:
    script = tmp_path / "shopping.py"
    script.write_text(block("python"))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == block("text")

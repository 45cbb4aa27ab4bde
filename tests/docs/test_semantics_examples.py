"""The examples in docs/semantics run, and give what the pages say."""

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

import jeton
from tests.docs.markdown import ROOT, block

SEMANTICS = ROOT / "docs" / "semantics"
TOKEN_GRAPHS = (SEMANTICS / "token-graphs.md").read_text()


async def test_the_workflow_gives_the_output(tmp_path: Path) -> None:
    given = re.search(r"With the input `(.*?)`", TOKEN_GRAPHS)
    assert given is not None
    async with jeton.open(tmp_path / "store.db") as engine:
        deployed = await engine.deploy(yaml.safe_load(block(TOKEN_GRAPHS, "yaml")))
        record = await (await engine.start("panel", json.loads(given[1]))).result()
    assert record.output == json.loads(block(TOKEN_GRAPHS, "json"))
    assert not [problem for problem in deployed.warnings if problem.severity == "error"]


async def test_the_python_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("panel.yaml").write_text(block(TOKEN_GRAPHS, "yaml").replace("m_of_n: 2", "m_of_n: 1"))
    code = block((SEMANTICS / "interfaces.md").read_text(), "python")
    names: dict[str, Any] = {"jeton": jeton}
    exec(
        compile(f"async def main():\n{textwrap.indent(code, '    ')}\n    return record", "interfaces.md", "exec"),
        names,
    )
    assert (await names["main"]()).output == {"votes": 1}

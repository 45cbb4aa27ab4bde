"""The page about models: its profile of a real model is one that can be deployed."""

from pathlib import Path

import jeton
from tests.docs.markdown import ROOT, block


async def test_the_first_example_can_be_deployed(tmp_path: Path) -> None:
    (tmp_path / "library.yaml").write_text(
        block((ROOT / "docs" / "how-to" / "models.md").read_text(), "yaml")
        + "workflows: {w: {initial_node: a, nodes: {a: {action: {kind: mock}}}}}\n"
    )
    async with jeton.open(tmp_path / "store.db") as engine:
        deployed = await engine.deploy(tmp_path / "library.yaml")
    assert [problem for problem in deployed.warnings if "model_profiles" in problem.path] == []

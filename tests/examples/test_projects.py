"""The example projects do what their READMEs say, pass their own tests, and look as they are drawn."""

from pathlib import Path

import pytest

from tests.docs.markdown import ROOT
from tests.docs.session import settled
from tests.examples.projects import PROJECTS, follow, picture


@pytest.mark.parametrize("name", PROJECTS)
def test_a_readme(name: str, tmp_path: Path) -> None:
    _, ran = follow(name, tmp_path)
    assert " passed" in ran[-1].printed
    for each in ran:
        assert settled(each.printed) == settled(each.shown), each.command


@pytest.mark.parametrize("name", [name for name, library in PROJECTS.items() if library is not None])
def test_a_picture(name: str, tmp_path: Path) -> None:
    assert picture(name, tmp_path) == (ROOT / "examples" / name / "graph.svg").read_text()

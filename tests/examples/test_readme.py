"""What the README shows is run."""

import re
from pathlib import Path

import pytest

import jeton

README = (Path(__file__).parents[2] / "README.md").read_text()


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert found is not None
    return found[1]


async def test_the_contest_is_judged(tmp_path: Path) -> None:
    library = tmp_path / "contest.yaml"
    library.write_text(block("yaml"))
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library)
        run = await engine.start("contest", {"judges": ["ada", "bob", "eve"]})
        record = await run.result()
    assert record.output == {"prize": True}


def test_the_python_example_prints_its_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block("python"), "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "{'points': 3}\n"

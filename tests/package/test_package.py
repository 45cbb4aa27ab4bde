"""The package as users get it: what is in the wheel and the sdist, and that the wheel alone is enough.

Only `test_the_wheel_in_an_empty_environment` needs an index, the one that pip is set up with."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.docs.markdown import ROOT
from tests.docs.session import Session, play, settled

TUTORIAL = sorted((ROOT / "docs" / "tutorial").glob("[1-9]*.md"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.long
def test_the_wheel_has_the_package_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
        (metadata,) = (wheel.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    info = f"jeton-{PROJECT['version']}.dist-info"
    assert {name.partition("/")[0] for name in names} == {"jeton", info}
    assert {"jeton/py.typed", "jeton/api/page/index.html", f"{info}/licenses/LICENSE"} <= names
    assert not [name for name in names if re.search(r"__pycache__|\.db|node_modules|/tests?/", name)]
    source = {f"jeton/{path.relative_to(ROOT / 'src' / 'jeton')}" for path in (ROOT / "src" / "jeton").rglob("*.py")}
    assert sorted(source - names) == []
    fields = Parser().parsestr(metadata)
    assert (fields["Name"], fields["Version"], fields["License-Expression"]) == (
        "jeton",
        PROJECT["version"],
        "Apache-2.0",
    )
    assert fields["Description-Content-Type"] == "text/markdown"
    assert {"all", "mcp", "models", "otel", "vectors"} <= set(fields.get_all("Provides-Extra") or ())


@pytest.mark.long
def test_the_sdist_has_what_is_needed_to_build_and_to_test(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    needed = {"LICENSE", "README.md", "pyproject.toml", "Makefile", "constraints.txt", "mkdocs.yml", "docs/README.md"}
    assert needed <= names
    assert not [name for name in names if re.search(r"__pycache__|\.db$|node_modules|^site/|^\.venv", name)]


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_wheel_in_an_empty_environment(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Init, run and the page, and then every command of the tutorial: without the Makefile, and without this source."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    install = [str(environment / "bin" / "pip"), "install", "--quiet", "-c", str(ROOT / "constraints.txt")]
    wheel = str(next(built.glob("*.whl")))
    done = subprocess.run([*install, wheel], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    folder = tmp_path / "empty"
    folder.mkdir()
    session = Session(folder, environment / "bin")
    try:
        assert session.run("jeton --version") == f"jeton {PROJECT['version']}"
        assert str(environment) in session.run("python -c 'import jeton; print(jeton.__file__)'")
        assert "to run it: cd shop" in session.run("jeton init shop")
        ran = session.run('cd shop && jeton run greeting.yaml --app actions.py --input \'{"name": "Ada"}\'')
        assert '"text": "Hello, Ada!"' in ran
        served = session.run("jeton serve shop/greeting.yaml --app shop/actions.py --store page.db")
        with urlopen(served.partition("#")[0]) as page:
            assert (page.status, b"<script" in page.read()) == (200, True)
        for text in (page.read_text() for page in TUTORIAL):
            for each in play(text, session)[1]:
                assert settled(each.printed) == settled(each.shown), each.command
    finally:
        session.close()
    assert os.environ.get("PYTHONPATH") is None

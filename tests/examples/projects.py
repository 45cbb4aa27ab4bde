"""Examples that are small projects. `python -m tests.examples.projects` records the sessions of their READMEs."""

import shutil
import sys
import tempfile
from pathlib import Path

from tests.docs.markdown import ROOT
from tests.docs.session import Ran, Session, play

PROJECTS = {
    "order_saga": "order.yaml",
    "document_pipeline": "pipeline.yaml",
    "support_agent": None,
    "nightly_enrichment": "enrich.yaml",
}
DRAWN = {"document_pipeline": " review"}


def follow(name: str, folder: Path) -> tuple[str, list[Ran]]:
    """Go through a project's README in a copy of the project."""
    copy = folder / name
    shutil.copytree(ROOT / "examples" / name, copy, ignore=shutil.ignore_patterns("__pycache__", "*.db*"))
    session = Session(copy, Path(sys.executable).parent)
    try:
        return play((copy / "README.md").read_text(), session)
    finally:
        session.close()


def picture(name: str, folder: Path) -> str | None:
    """The graph of a project, drawn from its definition."""
    library = PROJECTS[name]
    if library is None:
        return None
    session = Session(ROOT / "examples" / name, Path(sys.executable).parent)
    target = folder / f"{name}.svg"
    (app,) = (file.name for file in (ROOT / "examples" / name).glob("*.py") if not file.name.startswith("test_"))
    session.run(f"jeton draw {library}{DRAWN.get(name, '')} --app {app} --format svg --output {target}")
    return target.read_text()


if __name__ == "__main__":
    for project in PROJECTS:
        with tempfile.TemporaryDirectory() as temporary:
            text, _ = follow(project, Path(temporary))
            (ROOT / "examples" / project / "README.md").write_text(text)
            drawn = picture(project, Path(temporary))
            if drawn is not None:
                (ROOT / "examples" / project / "graph.svg").write_text(drawn)

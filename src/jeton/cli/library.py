"""Loading definitions for a verb: from a file, a folder, or a Python file that builds workflows."""

from jeton.cli.app import load_app
from jeton.definitions import Loaded
from jeton.engine.build.source import choose_definition, load_files

__all__ = ["choose_definition", "load_file"]


def load_file(*files: str, app: str | None = None) -> Loaded:
    """Load everything the files define, after importing the app."""
    load_app(app)
    return load_files(files)

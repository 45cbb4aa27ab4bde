"""The user's own Python: what defines actions, and perhaps workflows."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

from jeton.model.failure import Refused


def load_app(app: str) -> ModuleType:
    """Import a module by name (`module` or `module:name`) or a file by path; its actions register themselves."""
    if app.endswith(".py"):
        return _imported_file(Path(app))
    module, colon, name = app.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    found = _imported(module, app)
    if colon and not hasattr(found, name):
        raise Refused("app_not_loaded", f"module '{module}' has no '{name}'", "check the name behind the colon")
    return found


def _imported_file(path: Path) -> ModuleType:
    """A file is imported under its own name, because that is how a stored run will ask for its functions."""
    if not path.is_file():
        raise Refused("app_not_loaded", f"there is no file {path}", "check the path")
    sys.path.insert(0, str(path.resolve().parent))
    found = _imported(path.stem, str(path))
    if Path(found.__file__ or "").resolve() != path.resolve():
        sys.path.remove(str(path.resolve().parent))  # it would shadow that module for the worker processes
        problem = f"{path} would be imported as '{path.stem}', and there is another module of that name"
        raise Refused("app_not_loaded", problem, "give the file another name")
    return found


def _imported(module: str, app: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except Exception as error:  # whatever the user's module does, it is theirs to mend
        problem = f"{app} cannot be imported: {type(error).__name__}: {error}"
        raise Refused("app_not_loaded", problem, "run it with Python to see where") from error

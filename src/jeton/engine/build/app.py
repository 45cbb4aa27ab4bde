"""Importing the user's own Python, which defines actions and perhaps workflows."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

from jeton.model.failure import DefinitionError, Refused


def import_app(app: str) -> ModuleType:
    """Import a module by name (`module` or `module:name`) or a file by path."""
    if app.endswith(".py"):
        return _import_file(Path(app))
    module, colon, name = app.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    found = _import_module(module, app)
    if colon and not hasattr(found, name):
        raise Refused("app_not_loaded", f"module '{module}' has no '{name}'", "check the name after the colon")
    return found


def _import_file(path: Path) -> ModuleType:
    """Import a file under its own name, because stored runs refer to its functions by that name."""
    if not path.is_file():
        raise Refused("app_not_loaded", f"there is no file {path}", "check the path")
    sys.path.insert(0, str(path.resolve().parent))
    found = _import_module(path.stem, str(path))
    if Path(found.__file__ or "").resolve() != path.resolve():
        sys.path.remove(str(path.resolve().parent))  # it would shadow that module in worker processes
        problem = f"{path} would be imported as '{path.stem}', and there is another module of that name"
        raise Refused("app_not_loaded", problem, "give the file another name")
    return found


def _import_module(module: str, app: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except DefinitionError:  # it was raised by what builds a workflow, and names the place
        raise
    except Exception as error:  # importing runs the user's code, which may raise anything
        problem = f"{app} cannot be imported: {type(error).__name__}: {error}"
        raise Refused("app_not_loaded", problem, "run it with Python to see the traceback") from error

"""Loading definitions for a verb: from a file, a folder, or a Python file that builds workflows."""

from pathlib import Path

from jeton.cli.app import import_app, load_app
from jeton.definitions import Loaded
from jeton.engine.build.source import Built, SourcePart, load_source
from jeton.model.definition.flow import Flow
from jeton.model.definition.workflow import Library, Workflow
from jeton.model.failure import Refused


def load_file(*files: str, app: str | None = None) -> Loaded:
    """Load everything the files define, after importing the app."""
    load_app(app)
    parts: list[SourcePart] = []
    for file in files:
        if file.endswith(".py") and Path(file).is_file():
            parts += [value for value in vars(import_app(file)).values() if isinstance(value, Built)]
        else:
            parts.append(file)
    return load_source(parts)


def choose_definition(library: Library, name: str | None, file: str) -> Workflow | Flow:
    """The workflow or flow of this name; without a name, the only one in the file."""
    found: dict[str, Workflow | Flow] = {**library.workflows, **library.flows}
    known = ", ".join(found) or "none"
    if name is not None and name not in found:
        raise Refused("unknown_workflow", f"{file} has no workflow or flow '{name}'", f"it has: {known}")
    if name is None and len(found) != 1:
        raise Refused("which_workflow", f"{file} has {len(found)} workflows and flows", f"name one of: {known}")
    return found[name] if name is not None else next(iter(found.values()))

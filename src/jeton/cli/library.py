"""Definitions as a verb is given them: a file or folder, or a Python file that builds workflows."""

from jeton.cli.app import load_app
from jeton.definitions import Loaded
from jeton.engine.build.source import Built, load_source
from jeton.model.definition.flow import Flow
from jeton.model.definition.workflow import Library, Workflow
from jeton.model.failure import Refused


def load_file(file: str, app: str | None = None) -> Loaded:
    """Everything the file defines, with the actions of the app known."""
    if app is not None:
        load_app(app)
    if file.endswith(".py"):
        module = load_app(file)
        return load_source([value for value in vars(module).values() if isinstance(value, Built)])
    return load_source(file)


def choose_definition(library: Library, name: str | None, file: str) -> Workflow | Flow:
    """The workflow or flow that was asked for; without a name, the only one there is."""
    found: dict[str, Workflow | Flow] = {**library.workflows, **library.flows}
    known = ", ".join(found) or "none"
    if name is not None and name not in found:
        raise Refused("unknown_workflow", f"{file} has no workflow or flow '{name}'", f"it has: {known}")
    if name is None and len(found) != 1:
        raise Refused("which_workflow", f"{file} has {len(found)} workflows and flows", f"name one of: {known}")
    return found[name] if name is not None else next(iter(found.values()))

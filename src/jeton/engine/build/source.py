"""Sources of definitions: files, plain data, workflows built in Python, and lists of these."""

from collections.abc import Iterable, Mapping
from os import PathLike, pathsep
from pathlib import Path
from typing import Protocol, TypeAlias, TypeGuard, runtime_checkable

from jeton.definitions import ActionKinds, Loaded, library_from, load_library
from jeton.definitions.bundle import joined
from jeton.engine.build.app import import_app
from jeton.executor import action_functions, check_implementation, kind_names
from jeton.model.definition.flow import Flow
from jeton.model.definition.workflow import Library, Workflow
from jeton.model.failure import Problem, Refused

KINDS = ActionKinds(kind_names, check_implementation)


@runtime_checkable
class Built(Protocol):
    """A workflow built in Python: `jeton.Workflow`, or anything else with a name and a definition."""

    @property
    def name(self) -> str: ...

    def definition(self) -> Mapping[str, object]:
        """The workflow as the content of a library file."""
        ...


def is_built(value: object) -> TypeGuard[Built]:
    """Whether it was built in Python. Checks for strings first, because a protocol check is slow."""
    return not isinstance(value, str) and isinstance(value, Built)


SourcePart: TypeAlias = str | PathLike[str] | Mapping[str, object] | Built
Source: TypeAlias = SourcePart | list[SourcePart] | tuple[SourcePart, ...]


def load_source(source: Source) -> Loaded:
    """Load a source as one library. Parts may refer to earlier parts, files to each other, all to Python actions."""
    known = Library(actions=action_functions())
    parts = _parts(source)
    paths = [part for part in parts if isinstance(part, str | PathLike)]
    library, problems = Library(), tuple[Problem, ...]()
    if paths:
        loaded = load_library(paths, known, KINDS)
        library, problems = loaded.library, loaded.problems
    for part in parts:
        if isinstance(part, str | PathLike):
            continue
        data = part.definition() if isinstance(part, Built) else part
        loaded = library_from(data, joined(known, library), kinds=KINDS)
        library, problems = joined(library, loaded.library), problems + loaded.problems
    return Loaded(joined(known, library), problems)


def load_files(files: Iterable[str]) -> Loaded:
    """Load definition files and folders. Of a Python file, everything that it builds."""
    parts: list[SourcePart] = []
    for file in files:
        if file.endswith(".py") and Path(file).is_file():
            parts += [value for value in vars(import_app(file)).values() if isinstance(value, Built)]
        else:
            parts.append(file)
    return load_source(parts)


def choose_definition(library: Library, name: str | None, source: str) -> Workflow | Flow:
    """The workflow or flow of this name; without a name, the only one in the source."""
    found: dict[str, Workflow | Flow] = {**library.workflows, **library.flows}
    known = ", ".join(found) or "none"
    if name is not None and name not in found:
        raise Refused("unknown_workflow", f"{source} has no workflow or flow '{name}'", f"it has: {known}")
    if name is None and len(found) != 1:
        raise Refused("which_workflow", f"{source} has {len(found)} workflows and flows", f"name one of: {known}")
    return found[name] if name is not None else next(iter(found.values()))


def declared_in(source: Source) -> str | None:
    """The files that declare a source's triggers; `""` for plain data, None for workflows built in Python.

    Workflows built in Python have no triggers."""
    parts = _parts(source)
    files = [str(Path(part).resolve()) for part in parts if isinstance(part, str | PathLike)]
    if files:
        return pathsep.join(files)
    return "" if any(isinstance(part, Mapping) for part in parts) else None


def _parts(source: Source) -> list[SourcePart]:
    return list(source) if isinstance(source, list | tuple) else [source]


def origins_of(library: Library, file: str | None) -> tuple[str, ...]:
    """The origins whose triggers a deployment replaces: its file; for plain data, the workflows that it defines."""
    if file is None:
        return ()
    return (file,) if file else (*library.workflows, *library.flows)

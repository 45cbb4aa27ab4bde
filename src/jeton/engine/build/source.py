"""Sources of definitions: files, plain data, workflows built in Python, and lists of these."""

import json
from collections.abc import Iterable, Mapping
from os import PathLike, pathsep
from pathlib import Path
from typing import Protocol, TypeAlias, TypeGuard, runtime_checkable

from jeton.definitions import ActionKinds, Loaded, library_from, library_of_texts, load_library
from jeton.definitions.bundle import joined
from jeton.definitions.report import Report
from jeton.definitions.text.files import read_texts
from jeton.engine.build.app import import_app
from jeton.engine.input import plain_value
from jeton.executor import action_functions, check_implementation, kind_names, provider_names
from jeton.model.definition.flow import Flow
from jeton.model.definition.workflow import Library, Workflow
from jeton.model.failure import DefinitionError, Problem, Refused

KINDS = ActionKinds(kind_names, check_implementation, provider_names)


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
    return load_source(parts_of_files(files))


def parts_of_files(files: Iterable[str]) -> list[SourcePart]:
    """Files and folders as a source. A Python file is imported, and stands for everything that it builds."""
    parts: list[SourcePart] = []
    for file in files:
        if file.endswith(".py") and Path(file).is_file():
            parts += [value for value in vars(import_app(file)).values() if isinstance(value, Built)]
        else:
            parts.append(file)
    return parts


def load_texts(texts: Iterable[tuple[str, str]]) -> Loaded:
    """Load definitions from names and texts of files that somebody sent. Nothing is imported, and no file is read."""
    known = Library(actions=action_functions())
    loaded = library_of_texts(texts, known, KINDS)
    return Loaded(joined(known, loaded.library), loaded.problems)


def texts_of(source: Source) -> list[tuple[str, str]]:
    """A source as names and texts of files, to be sent elsewhere. Raises DefinitionError for files that cannot be read.

    A file has the name that the user gave it."""
    texts, problems = readable_texts(source)
    if problems:
        raise DefinitionError(problems)
    return texts


def readable_texts(source: Source) -> tuple[list[tuple[str, str]], tuple[Problem, ...]]:
    """The names and texts of a source as far as it can be read, and what is wrong with the rest."""
    parts, report = _parts(source), Report()
    texts = list(read_texts([part for part in parts if isinstance(part, str | PathLike)], report))
    for part in parts:
        if isinstance(part, str | PathLike):
            continue
        name, data = (part.name, part.definition()) if isinstance(part, Built) else ("definitions", part)
        taken = [each for each, _ in texts if each.startswith(f"{name}.")]
        number = f".{len(taken) + 1}" if taken else ""
        texts.append((f"{name}{number}.json", json.dumps(plain_value(data, name), ensure_ascii=False)))
    return texts, report.problems


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

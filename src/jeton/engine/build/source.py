"""What may be deployed: files, plain data, workflows built in Python, and lists of these."""

from collections.abc import Mapping
from os import PathLike, pathsep
from pathlib import Path
from typing import Protocol, TypeAlias, TypeGuard, runtime_checkable

from jeton.definitions import Kinds, Loaded, library_from, load_library
from jeton.definitions.bundle import joined
from jeton.executor import action_functions, check_implementation, kind_names
from jeton.model.definition.workflow import Library
from jeton.model.failure import Problem

KINDS = Kinds(kind_names, check_implementation)


@runtime_checkable
class Built(Protocol):
    """A workflow made in Python: `jeton.Workflow`, or anything that can say what it means as plain data."""

    @property
    def name(self) -> str: ...

    def definition(self) -> Mapping[str, object]:
        """A library file's content with this workflow in it."""
        ...


def is_built(value: object) -> TypeGuard[Built]:
    """Whether it was built in Python. Texts are told apart first: asking a protocol takes long."""
    return not isinstance(value, str) and isinstance(value, Built)


One: TypeAlias = str | PathLike[str] | Mapping[str, object] | Built
Source: TypeAlias = One | list[One] | tuple[One, ...]


def load_source(source: Source) -> Loaded:
    """All of it as one library. Parts may refer to earlier ones, files to each other, and all to Python actions."""
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


def declared_in(source: Source) -> str | None:
    """Where a source declares its triggers: the files it consists of, or nowhere in particular (`""`) for plain data.

    None for workflows built in Python, which say nothing of triggers."""
    parts = _parts(source)
    files = [str(Path(part).resolve()) for part in parts if isinstance(part, str | PathLike)]
    if files:
        return pathsep.join(files)
    return "" if any(isinstance(part, Mapping) for part in parts) else None


def _parts(source: Source) -> list[One]:
    return list(source) if isinstance(source, list | tuple) else [source]


def origins_of(library: Library, file: str | None) -> tuple[str, ...]:
    """Whose triggers it speaks for: its file's. Plain data has no name to know it by, and speaks for the triggers of
    plain data that start what it defines."""
    if file is None:
        return ()
    return (file,) if file else (*library.workflows, *library.flows)

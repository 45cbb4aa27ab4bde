"""Loading definitions from files or Python values, with a report of all problems."""

from collections.abc import Iterable, Mapping
from os import PathLike

import msgspec

from jeton.definitions.checks import check_library
from jeton.definitions.checks.implementations import ActionKinds
from jeton.definitions.library import read_library
from jeton.definitions.report import Report
from jeton.definitions.text.files import AnyPath, SourceFile, document_of, read_files
from jeton.definitions.text.python import read_python
from jeton.model.definition.workflow import Library
from jeton.model.failure import DefinitionError, Problem

NOTHING = Library()
BUILT_IN_KINDS = ActionKinds()


class Loaded(msgspec.Struct, frozen=True):
    """A library and its problems. If there are errors, the library may be incomplete."""

    library: Library
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether it has no errors. Warnings do not count."""
        return all(problem.severity != "error" for problem in self.problems)

    def require(self) -> Library:
        """The library. Raises DefinitionError with every problem if there are errors."""
        if not self.ok:
            raise DefinitionError(self.problems)
        return self.library


def load_library(
    paths: AnyPath | Iterable[AnyPath], known: Library = NOTHING, kinds: ActionKinds = BUILT_IN_KINDS
) -> Loaded:
    """Load all definitions in files and folders.

    `known`: other definitions that they may refer to, such as Python actions. `kinds`: with these, the implementation
    of each action is checked too."""
    report = Report()
    several: Iterable[AnyPath] = [paths] if isinstance(paths, str | PathLike) else paths
    return _loaded(read_files(several, report), known, kinds, report)


def library_from(
    data: Mapping[str, object], known: Library = NOTHING, file: str = "", kinds: ActionKinds = BUILT_IN_KINDS
) -> Loaded:
    """Load definitions from Python values. Problems have line 0."""
    report = Report()
    document = read_python(data, file, report)
    files = [] if document is None else [SourceFile(file, document)]
    return _loaded(files, known, kinds, report)


def library_of_texts(
    texts: Iterable[tuple[str, str]], known: Library = NOTHING, kinds: ActionKinds = BUILT_IN_KINDS
) -> Loaded:
    """Load definitions from names and texts of files that somebody sent. No file is read, whatever they name."""
    report = Report(reads_files=False)
    documents = [(name, document_of(text.removeprefix("\ufeff"), name, report)) for name, text in texts]
    files = [SourceFile(name, document) for name, document in documents if document is not None]
    return _loaded(files, known, kinds, report)


def _loaded(files: Iterable[SourceFile], known: Library, kinds: ActionKinds, report: Report) -> Loaded:
    source = read_library(files, report)
    check_library(source, known, kinds, report)
    return Loaded(source.library(), report.problems)

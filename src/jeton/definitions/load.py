"""Definitions from files or from Python values: the two ways in. Both read to the end and report everything."""

from collections.abc import Iterable, Mapping
from os import PathLike

import msgspec

from jeton.definitions.checks import check_library
from jeton.definitions.checks.implementations import ActionKinds
from jeton.definitions.library import read_library
from jeton.definitions.report import Report
from jeton.definitions.text.files import AnyPath, SourceFile, read_files
from jeton.definitions.text.python import read_python
from jeton.model.definition.workflow import Library
from jeton.model.failure import DefinitionError, Problem

NOTHING = Library()
BUILT_IN_KINDS = ActionKinds()


class Loaded(msgspec.Struct, frozen=True):
    """What was read, and everything that is wrong with it. With errors among them, the library is only a sketch."""

    library: Library
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether it can be deployed; warnings do not stop it."""
        return all(problem.severity != "error" for problem in self.problems)

    def require(self) -> Library:
        """The library; raises DefinitionError with every problem if it has errors."""
        if not self.ok:
            raise DefinitionError(self.problems)
        return self.library


def load_library(
    paths: AnyPath | Iterable[AnyPath], known: Library = NOTHING, kinds: ActionKinds = BUILT_IN_KINDS
) -> Loaded:
    """All definitions in files and folders. `known`: what they may refer to besides, such as Python actions.

    With the `kinds` that an executor has, each action's implementation is looked at too."""
    report = Report()
    several: Iterable[AnyPath] = [paths] if isinstance(paths, str | PathLike) else paths
    return _loaded(read_files(several, report), known, kinds, report)


def library_from(
    data: Mapping[str, object], known: Library = NOTHING, file: str = "", kinds: ActionKinds = BUILT_IN_KINDS
) -> Loaded:
    """The same from Python values; problems then have line 0."""
    report = Report()
    document = read_python(data, file, report)
    files = [] if document is None else [SourceFile(file, document)]
    return _loaded(files, known, kinds, report)


def _loaded(files: Iterable[SourceFile], known: Library, kinds: ActionKinds, report: Report) -> Loaded:
    source = read_library(files, report)
    check_library(source, known, kinds, report)
    return Loaded(source.library(), report.problems)

"""What can be found wrong with a graph and its data before it runs. One file for each theme."""

from jeton.definitions.library import LibrarySource
from jeton.definitions.report import Report
from jeton.model.workflow import Library


def check_library(source: LibrarySource, known: Library, report: Report) -> None:
    pass

"""Plain definitions into a library, read as a user's are, without the checks that take longer than the run."""

from typing import Any

from jeton.definitions.library import read_library
from jeton.definitions.report import Report
from jeton.definitions.text.files import SourceFile
from jeton.definitions.text.python import read_python
from jeton.model.definition.workflow import Library


def library_of(workflow: dict[str, Any], tasks: dict[str, Any]) -> Library:
    """One workflow, called `w`, and its tasks."""
    report = Report()
    document = read_python({"workflows": {"w": workflow}, "tasks": tasks}, "grammar", report)
    assert document is not None
    library = read_library([SourceFile("grammar", document)], report).library()
    assert not report.problems, report.problems
    return library

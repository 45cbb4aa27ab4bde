"""Writes docs/reference/error-codes.md from the lists in jeton.model.codes: `python -m tests.docs.error_codes`."""

from collections.abc import ItemsView
from pathlib import Path

from jeton.model.codes import FAILURES, PROBLEMS, REFUSALS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "error-codes.md"

INTRODUCTION = """\
# Error codes

<!-- Made from src/jeton/model/codes by `python -m tests.docs.error_codes`. -->

A program should decide by the code: the text of a problem may change, a code keeps its meaning. The lists are complete.
"""

PROBLEM_TEXT = """\
`jeton check` reports them, and `DefinitionError.problems` holds them: each has a `severity`, a `code`, a file, a line,
a path inside the definition, a `problem` and a `remedy`. Warnings do not prevent deployment.
"""

REFUSAL_TEXT = """\
`Refused.code`: the request is not possible now, and nothing was changed by it. A trigger that starts nothing records
one of these codes as well.
"""

FAILURE_TEXT = """\
The `type` of a run's `error`, and of `state._last_error` after a node has failed. Where a Python function raises an
exception, the type is the name of the exception's class; plugins may have types of their own. A child run that cannot
be started fails with the code of the refusal.
"""


def error_codes_page() -> str:
    """The whole page as text."""
    sections = (
        ("Problems of a definition", PROBLEM_TEXT, PROBLEMS.items()),
        ("Refusals", REFUSAL_TEXT, REFUSALS.items()),
        ("Failures of tasks and runs", FAILURE_TEXT, FAILURES.items()),
    )
    return "\n".join([INTRODUCTION, *(_section(*each) for each in sections)])


def _section(title: str, text: str, meanings: ItemsView[str, str]) -> str:
    rows = "\n".join(f"| `{code}` | {meaning} |" for code, meaning in meanings)
    return f"## {title}\n\n{text}\n| code | meaning |\n|---|---|\n{rows}\n"


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(error_codes_page(), encoding="utf-8")

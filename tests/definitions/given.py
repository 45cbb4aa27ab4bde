"""Library files for tests: written as an author would, and loaded through the public way in."""

import tempfile
import textwrap
from pathlib import Path
from typing import NamedTuple

from jeton.definitions import Loaded, load_library
from jeton.model.definition.workflow import Workflow
from jeton.model.failure import Problem


class Rule(NamedTuple):
    """One rule: what breaks it and where that is said, and what comes close without breaking it."""

    code: str
    path: str
    broken: str
    sound: str


def loaded(text: str, name: str = "library.yaml") -> Loaded:
    """The library that a file with this text makes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, name)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        return load_library(file)


def problems(text: str, name: str = "library.yaml") -> tuple[Problem, ...]:
    """What is wrong with a file."""
    return loaded(text, name).problems


def codes(text: str, name: str = "library.yaml") -> list[str]:
    """The codes of what is wrong with a file."""
    return [problem.code for problem in problems(text, name)]


def workflow(body: str) -> str:
    """A library with one workflow, `w`, given by its keys."""
    return "workflows:\n  w:\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"


def the_workflow(body: str) -> Workflow:
    """The workflow that these keys make, which must be sound."""
    return loaded(workflow(body)).require().workflows["w"]

"""Plain definitions into a library, read as a user's are, without the checks that take longer than the run."""

from typing import Any

from jeton.definitions.library import read_library
from jeton.definitions.report import Report
from jeton.definitions.text.files import SourceFile
from jeton.definitions.text.python import read_python
from jeton.hosts.simulated.script import Script
from jeton.hosts.simulated.simulated_run import SimulatedRun, simulated_run
from jeton.hosts.simulated.world import World
from jeton.model.definition.workflow import Library
from jeton.model.json import Json


def library_of(workflow: dict[str, Any], tasks: dict[str, Any]) -> Library:
    """One workflow, called `w`, and its tasks."""
    report = Report()
    document = read_python({"workflows": {"w": workflow}, "tasks": tasks}, "grammar", report)
    assert document is not None
    library = read_library([SourceFile("grammar", document)], report).library()
    assert not report.problems, report.problems
    return library


def played(library: Library, input: Json = None, script: Script | None = None) -> SimulatedRun:
    """A run of `w`, whose tasks are answered by the script."""
    world = World(library, script=script)
    run = world.start("w", {} if input is None else input)
    world.run()
    return simulated_run(world, run)

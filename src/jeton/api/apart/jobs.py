"""What is done apart: checking definitions, and simulating them."""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from jeton.actor.queries.listing import SourceText
from jeton.definitions import Loaded
from jeton.engine.browse.catalogue import checked_files
from jeton.engine.build.source import choose_definition
from jeton.engine.input import InputInvalid, InputProblem, check_input
from jeton.engine.views.draw.graph import GraphView
from jeton.model.codes import RefusalCode
from jeton.model.failure import DefinitionError, Problem, Refused
from jeton.model.json import Json
from jeton.planning.program.compile import compile_definition
from jeton.testing.trials import FaultKind, Report, Trial, sample_input


class Check(msgspec.Struct, frozen=True):
    """Read definitions, and lay out their graphs. The result is `Checked`."""

    files: Sequence[SourceText]


class Simulate(msgspec.Struct, frozen=True):
    """Simulate a definition. Without an input, one is made from its schema. The result is a `Report`."""

    files: Sequence[SourceText]
    name: str | None
    seeds: int
    faults: tuple[FaultKind, ...]
    input: tuple[Json] | None  # in a tuple, since null is an input


class Checked(msgspec.Struct, frozen=True):
    """What is known of definitions: the library, its problems, and the graphs that could be laid out."""

    loaded: Loaded
    graphs: dict[str, GraphView]


class RefusedJob(msgspec.Struct, frozen=True):
    """A job that the engine refused. `inputs` are the problems of an input, `problems` those of definitions."""

    code: RefusalCode
    problem: str
    remedy: str
    inputs: tuple[InputProblem, ...] = ()
    problems: tuple[Problem, ...] = ()

    def error(self) -> Exception:
        """The error as it was raised."""
        if self.problems:
            return DefinitionError(self.problems)
        return InputInvalid(self.inputs, self.remedy) if self.inputs else Refused(self.code, self.problem, self.remedy)


class FailedJob(msgspec.Struct, frozen=True):
    """A job that ended in an error that nobody foresaw. `bounded`: it wanted more memory or depth than it may have."""

    traceback: str
    bounded: bool


Job: TypeAlias = Check | Simulate
Result: TypeAlias = Checked | Report | RefusedJob | FailedJob


def done(job: Job) -> Checked | Report | RefusedJob:
    """Do a job."""
    try:
        return Checked(*checked_files(job.files)) if isinstance(job, Check) else _simulated(job)
    except InputInvalid as error:
        return RefusedJob(error.code, error.problem, error.remedy, inputs=error.problems)
    except Refused as error:
        return RefusedJob(error.code, error.problem, error.remedy)
    except DefinitionError as error:
        return RefusedJob("definition_invalid", "", "", problems=error.problems)


def _simulated(job: Simulate) -> Report:
    loaded, _ = checked_files(job.files)
    library = loaded.require()
    definition = choose_definition(library, job.name, "the request")
    value = sample_input(definition.input_schema) if job.input is None else job.input[0]
    check_input(compile_definition(library, definition.name), value)
    with Trial(library, definition.name, value, faults=job.faults) as trial:
        return trial.try_seeds(range(job.seeds))

"""The families of error, by whose move it is. A task that fails is none of these but a value."""

from typing import final

import msgspec

from jeton.model.codes import FailureName, ProblemCode, RefusalCode
from jeton.model.json import Json


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong with a definition: where, what, and what to write instead."""

    severity: str  # error | warning
    code: ProblemCode
    file: str
    line: int
    path: str
    problem: str
    remedy: str


class DefinitionError(Exception):
    """The author can fix a file. Carries every problem found, not the first."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(f"{p.file}:{p.line}: {p.path}: {p.problem} ({p.remedy})" for p in problems))


class Refused(Exception):
    """The caller asked for something that is not possible now."""

    def __init__(self, code: RefusalCode, problem: str, remedy: str = "") -> None:
        self.code: RefusalCode = code
        self.problem, self.remedy = problem, remedy
        super().__init__(f"{problem} ({remedy})" if remedy else problem)


class BrokenInvariant(Exception):
    """Our bug: a decision contradicts the state. The run is stopped and keeps the evidence."""

    def __init__(self, problem: str, **evidence: Json) -> None:
        self.problem, self.evidence = problem, evidence
        super().__init__(f"{problem}: {evidence}" if evidence else problem)


@final
class TaskFailed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A task that failed. `retry`: a business retry was asked for; `timed_out` is the type of a task timeout."""

    type: FailureName
    message: str
    step: str | None = None
    transient: bool = False
    retry: bool = False
    stack: str | None = None


class RunError(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a run ended otherwise than completed."""

    type: FailureName
    message: str
    node: str | None = None
    token: int | None = None
    step: str | None = None
    attempts: int | None = None
    details: Json = None

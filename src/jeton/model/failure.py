"""The kinds of error, by who can act on them. A failed task is a value, not an exception."""

from typing import final

import msgspec

from jeton.model.codes import FailureName, ProblemCode, RefusalCode
from jeton.model.json import Json


class Problem(msgspec.Struct, frozen=True):
    """One problem in a definition: where it is, what it is, and a remedy."""

    severity: str  # error | warning
    code: ProblemCode
    file: str
    line: int
    path: str
    problem: str
    remedy: str


class DefinitionError(Exception):
    """Problems in definition files, for their author. Carries all problems found."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(f"{p.file}:{p.line}: {p.path}: {p.problem} ({p.remedy})" for p in problems))


class Refused(Exception):
    """A request that is not possible now, for the caller."""

    def __init__(self, code: RefusalCode, problem: str, remedy: str = "") -> None:
        self.code: RefusalCode = code
        self.problem, self.remedy = problem, remedy
        super().__init__(f"{problem} ({remedy})" if remedy else problem)


class BrokenInvariant(Exception):
    """A bug in jeton: a decision contradicts the state. The run is stopped and keeps the evidence."""

    def __init__(self, problem: str, **evidence: Json) -> None:
        self.problem, self.evidence = problem, evidence
        super().__init__(f"{problem}: {evidence}" if evidence else problem)


@final
class TaskFailed(msgspec.Struct, frozen=True, omit_defaults=True):
    """The failure of a task. `retry`: it may be retried by the run's policy; a timeout has the type `timed_out`.

    `calls`: how often the action of the failed step was called in this attempt, with infrastructure retries.
    """

    type: FailureName
    message: str
    step: str | None = None
    transient: bool = False
    retry: bool = False
    stack: str | None = None
    calls: int = 1


class RunError(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a run did not end as completed."""

    type: FailureName
    message: str
    node: str | None = None
    token: int | None = None
    step: str | None = None
    attempts: int | None = None
    details: Json = None
    calls: int = 1  # of the failed step's action in the last attempt

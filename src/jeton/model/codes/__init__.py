"""Every error code, with its meaning. The lists are closed: a code that is not here is a type error where it is used.

Three families: problems of a definition, refusals of a request, failures of a task or a run. A code never changes its
meaning, because stored runs and callers' programs hold it. docs/reference/error-codes.md is made from these tables.
"""

from jeton.model.codes.failures import FAILURES, FailureName, FailureType
from jeton.model.codes.problems import PROBLEMS, ProblemCode
from jeton.model.codes.refusals import REFUSALS, RefusalCode, StoredRefusalCode

__all__ = [
    "FAILURES",
    "PROBLEMS",
    "REFUSALS",
    "FailureName",
    "FailureType",
    "ProblemCode",
    "RefusalCode",
    "StoredRefusalCode",
]

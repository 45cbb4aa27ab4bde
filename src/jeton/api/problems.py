"""Refusals and errors as HTTP problems (RFC 9457). Every code that is ever answered is here, with its status."""

from collections.abc import Mapping
from typing import Final

import msgspec

from jeton.engine.input import InputInvalid
from jeton.model.codes import RefusalCode
from jeton.model.failure import BrokenInvariant, DefinitionError, Refused
from jeton.model.json import JsonObject

STATUSES: Final[Mapping[RefusalCode, int]] = {
    "bad_json": 400,
    "bad_argument": 400,
    "bad_value": 400,
    "bad_cursor": 400,
    "bad_query": 400,
    "ambiguous": 400,
    "key_missing": 401,
    "key_refused": 401,
    "bad_signature": 401,
    "scope_missing": 403,
    "origin_refused": 403,
    "token_not_found": 404,
    "transition_not_found": 404,
    "method_not_allowed": 405,
    "run_ended": 409,
    "gate_closed": 409,
    "which_gate": 409,
    "key_conflict": 409,
    "not_failed": 409,
    "child_run": 409,
    "needs_app": 409,
    "disabled": 409,
    "too_deep": 409,
    "duplicate_path": 409,
    "no_account": 409,
    "history_pruned": 410,
    "body_too_large": 413,
    "url_too_long": 414,
    "not_json": 415,
    "host_refused": 421,
    "input_invalid": 422,
    "answer_refused": 422,
    "signal_refused": 422,
    "definition_invalid": 422,
    "state_invalid": 422,
    "rate_limited": 429,
    "too_many_streams": 429,
    "headers_too_large": 431,
    "broken_invariant": 500,
    "draining": 503,
    "store_failed": 503,
    "store_full": 507,
}

# Codes of the engine that a client could do nothing with of their own: each is answered as one of those above.
ANSWERED_AS: Final[Mapping[RefusalCode, RefusalCode]] = {
    "bad_amount": "bad_argument",
    "bad_path": "bad_argument",
    "bad_reference": "bad_argument",
    "not_a_flow": "bad_argument",
    "not_a_conversation": "bad_argument",
    "which_workflow": "ambiguous",
    "no_fan_in": "token_not_found",
    "expression_error": "input_invalid",
    "nothing_shared": "not_failed",
    "run_set_aside": "needs_app",
    "turn_ended": "run_ended",
    "store_closed": "draining",
}

LONGEST = 4000  # characters of a problem: it may repeat what was sent, which may be long

TITLES: Final[Mapping[int, str]] = {
    400: "The request cannot be read",
    401: "A key is needed",
    403: "The key may not do this",
    404: "There is no such thing",
    405: "The method is not allowed",
    409: "Not possible as things stand",
    410: "The history is gone",
    413: "The body is too large",
    414: "The URL is too long",
    415: "The body must be JSON",
    421: "The host is not served here",
    422: "The content does not fit",
    429: "Too many requests",
    431: "The headers are too large",
    500: "A defect in the server",
    503: "Not available now",
    507: "The disk is full",
}


class HttpProblem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of an answer that is a problem. `problems` are those of a definition or an input, all of them."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    problem: str
    remedy: str
    request_id: str
    problems: tuple[JsonObject, ...] = ()


class Invalid(Refused):
    """A request with several problems, each with its place."""

    def __init__(self, code: RefusalCode, problems: tuple[JsonObject, ...], remedy: str) -> None:
        self.problems = problems
        text = "; ".join(f"{each.get('path')}: {each.get('problem')}" for each in problems)
        super().__init__(code, text, remedy)


def status_of(code: RefusalCode) -> int:
    """The status that a code is answered with."""
    if code.startswith("unknown_"):
        return 404
    return STATUSES.get(code) or STATUSES[answered_code(code)]


def answered_code(code: RefusalCode) -> RefusalCode:
    """The code that clients are told. What they can do nothing about is `store_failed`."""
    if code in STATUSES or code.startswith("unknown_"):
        return code
    return ANSWERED_AS.get(code, "store_failed")


def problem_of(refused: Refused, request_id: str) -> HttpProblem:
    """A refusal as an answer."""
    code = answered_code(refused.code)
    status = status_of(code)
    problem = refused.problem if len(refused.problem) <= LONGEST else f"{refused.problem[:LONGEST]}…"
    problems: tuple[JsonObject, ...] = ()
    if isinstance(refused, InputInvalid):
        problems = tuple({"path": each.path, "problem": each.problem} for each in refused.problems)
    elif isinstance(refused, Invalid):
        problems = refused.problems
    return HttpProblem(
        type=f"urn:jeton:{code}",
        title=TITLES[status],
        status=status,
        detail=problem,
        code=code,
        problem=problem,
        remedy=refused.remedy,
        request_id=request_id,
        problems=problems,
    )


def refusal_of(error: Exception) -> Refused:
    """An error as a refusal. What nobody foresaw is `broken_invariant`, and says nothing of what is inside."""
    match error:
        case Refused():
            return error
        case DefinitionError():
            problems = tuple(msgspec.to_builtins(problem) for problem in error.problems)
            return Invalid("definition_invalid", problems, "correct the definitions; nothing was stored")
        case BrokenInvariant():
            return Refused("broken_invariant", error.problem, "report it; the run keeps the evidence")
        case _ if type(error).__module__.split(".")[0] == "apsw":
            code: RefusalCode = "store_full" if type(error).__name__ == "FullError" else "store_failed"
            return Refused(code, "the store could not be used", "see the server's log")
        case OSError():
            return Refused("store_failed", "the operating system refused", "see the server's log")
        case _:
            return Refused("broken_invariant", "the server failed at this request", "see the server's log")

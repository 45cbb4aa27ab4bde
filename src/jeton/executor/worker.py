"""The inside of a process that runs Python functions for the engine: one request a line, one answer a line.

usage: python -m jeton.executor.worker
"""

import asyncio
import os
from typing import Any

import msgspec

from jeton.executor.action import failed_by
from jeton.executor.call import enter_call
from jeton.executor.functions import FunctionMissing, find_function
from jeton.executor.hints import BadArguments, plain
from jeton.executor.processes import Answer, Failure, Request

_decode = msgspec.json.Decoder(Request).decode
_encode = msgspec.json.Encoder().encode


def serve() -> None:
    """Answer until there are no more requests, or until a function has left a process of its own behind."""
    requests, answers = _private_streams()
    with os.fdopen(requests, "rb") as lines, os.fdopen(answers, "wb", buffering=0) as out:
        for line in lines:
            answer = _answer(_decode(line))
            last = _has_children()
            out.write(_encode(msgspec.structs.replace(answer, last=last)) + b"\n")
            if last:
                return


def _answer(request: Request) -> Answer:
    enter_call(request.call)
    try:
        function = find_function(request.function)
        value: Any = function.call(**function.signature.arguments(request.input))
        return Answer(value=plain(asyncio.run(value) if function.is_async else value))
    except FunctionMissing as missing:
        return Answer(Failure("function_missing", f"a process of its own has no function {missing}"))
    except BadArguments as bad:
        return Answer(Failure("input_invalid", str(bad)))
    except BaseException as error:  # even one that asks the process to end: the next request may be another's
        failed = failed_by(error)
        return Answer(Failure(failed.type, failed.message, failed.transient, failed.retry_after_ms))


def _private_streams() -> tuple[int, int]:
    """Our stdin and stdout under other numbers: what a function reads is empty, and what it prints goes to stderr."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, answers


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


if __name__ == "__main__":
    serve()

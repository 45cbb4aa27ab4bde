"""The inside of a process that runs Python functions for the engine: one request a line, and one answer a line.

Before the answer there may be lines with what the function says meanwhile.

usage: python -m jeton.executor.workers.worker
"""

import asyncio
import os
import threading
from typing import Any, BinaryIO, cast

import msgspec

from jeton.executor.action import failure_from
from jeton.executor.call import enter_call
from jeton.executor.python.extract_bytes import ExtractedBytes, extract_bytes
from jeton.executor.python.functions import FunctionMissing, find_function
from jeton.executor.python.signature import BadArguments
from jeton.executor.task.notes import MOST_NOTES, NoteLimiter
from jeton.executor.workers.process_pool import WorkerFailure, WorkerMessage, WorkerNote, WorkerReply, WorkerRequest
from jeton.model.json import Json
from jeton.model.note import CostNote, Note, TokensNote

_decode = msgspec.json.Decoder(WorkerRequest).decode
_encode = msgspec.json.Encoder().encode


def serve() -> None:
    """WorkerReply until there are no more requests, or until a function has left a process of its own behind."""
    requests, answers = _private_streams()
    with os.fdopen(requests, "rb") as lines, os.fdopen(answers, "wb", buffering=0) as out:
        for line in lines:
            voice = _ReplyWriter(out)
            answer = _answer(_decode(line), voice)
            last = _has_children()
            voice.end(msgspec.structs.replace(answer, last=last))
            if last:
                return


class _ReplyWriter:
    """One call's lines. A thread that the function left behind is not heard after the answer: the next is another's.

    Both bounds lie above those of the engine, which sees that there was more, and redacts before it cuts.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._ended = False
        self._notes = NoteLimiter(self._tell, 2 * MOST_NOTES, 2**20)

    def tell(self, note: Note) -> None:
        """What adds up is added up by the engine alone: done twice, it would be counted twice."""
        (self._tell if isinstance(note, CostNote | TokensNote) else self._notes.tell)(note)

    def _tell(self, note: Note) -> None:
        with self._lock:
            if not self._ended:
                self._write(WorkerNote(note))

    def end(self, answer: WorkerReply) -> None:
        with self._lock:
            self._ended = True
            self._write(answer)

    def _write(self, line: WorkerMessage) -> None:
        self._out.write(_encode(line) + b"\n")


def _answer(request: WorkerRequest, voice: _ReplyWriter) -> WorkerReply:
    enter_call(request.call, voice.tell, request.profiles)
    try:
        function = find_function(request.function)
        value: Any = function.call(**function.signature.arguments(cast("Json", request.input)))
        result = extract_bytes(asyncio.run(value) if function.is_async else value)
        if isinstance(result, ExtractedBytes):
            return WorkerReply(value=result.value, contents=result.contents)
        return WorkerReply(value=result)
    except FunctionMissing as missing:
        return WorkerReply(WorkerFailure("function_missing", f"a process of its own has no function {missing}"))
    except BadArguments as bad:
        return WorkerReply(WorkerFailure("input_invalid", str(bad)))
    except BaseException as error:  # even one that asks the process to end: the next request may be another's
        failed = failure_from(error)
        return WorkerReply(WorkerFailure(failed.type, failed.message, failed.transient, failed.retry_after_ms))


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

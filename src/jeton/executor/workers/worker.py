"""The process that runs Python functions for the engine: one request per line in, one reply per line out.

Lines with notes of the function may precede the reply.

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
from jeton.executor.python.functions import ErrorTypes, FunctionMissing, find_function
from jeton.executor.python.signature import BadArguments
from jeton.executor.python.stack import stack_of
from jeton.executor.task.notes import MAX_NOTES, NoteLimiter
from jeton.executor.workers.process_pool import WorkerFailure, WorkerMessage, WorkerNote, WorkerReply, WorkerRequest
from jeton.model.json import Json
from jeton.model.note import CostNote, Note, TokensNote

_decode = msgspec.json.Decoder(WorkerRequest).decode
_encode = msgspec.json.Encoder().encode


def serve() -> None:
    """Handle requests until there are none, or until a function has left a child process behind."""
    requests, replies = _private_streams()
    with os.fdopen(requests, "rb") as lines, os.fdopen(replies, "wb", buffering=0) as out:
        for line in lines:
            writer = _ReplyWriter(out)
            reply = _handle(_decode(line), writer)
            last = _has_children()
            writer.end(msgspec.structs.replace(reply, last=last))
            if last:
                return


class _ReplyWriter:
    """Writes the lines of one call. Notes after the reply, from a thread left behind, are dropped.

    Both limits are above those of the engine, which marks the truncation and redacts before it truncates.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._ended = False
        self._notes = NoteLimiter(self._send, 2 * MAX_NOTES, 2**20)

    def report(self, note: Note) -> None:
        """Send a note. Costs bypass the limiter, which would add them up: the engine does."""
        (self._send if isinstance(note, CostNote | TokensNote) else self._notes.add)(note)

    def _send(self, note: Note) -> None:
        with self._lock:
            if not self._ended:
                self._write(WorkerNote(note))

    def end(self, reply: WorkerReply) -> None:
        with self._lock:
            self._ended = True
            self._write(reply)

    def _write(self, line: WorkerMessage) -> None:
        self._out.write(_encode(line) + b"\n")


def _handle(request: WorkerRequest, writer: _ReplyWriter) -> WorkerReply:
    enter_call(request.call, writer.report, request.profiles)
    retry_on: ErrorTypes = ()
    try:
        function = find_function(request.function)
        retry_on = function.retry_on
        value: Any = function.call(**function.signature.arguments(cast("Json", request.input)))
        result = extract_bytes(asyncio.run(value) if function.is_async else value)
        if isinstance(result, ExtractedBytes):
            return WorkerReply(value=result.value, contents=result.contents)
        return WorkerReply(value=result)
    except FunctionMissing as missing:
        return WorkerReply(WorkerFailure("function_missing", f"the process has no function {missing}"))
    except BadArguments as bad:
        return WorkerReply(WorkerFailure("input_invalid", str(bad)))
    except BaseException as error:  # even SystemExit: the process serves other calls
        failed = failure_from(error)
        transient = failed.transient or isinstance(error, retry_on)
        return WorkerReply(
            WorkerFailure(failed.type, failed.message, transient, failed.retry_after_ms, stack_of(error))
        )


def _private_streams() -> tuple[int, int]:
    """Move stdin and stdout to other descriptors: functions read nothing, and what they print goes to stderr."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, replies


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


if __name__ == "__main__":
    serve()

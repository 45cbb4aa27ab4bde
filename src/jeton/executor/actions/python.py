"""`python`: call a Python function: on the event loop if it is async, otherwise in a thread or a process."""

from collections.abc import Iterator, Mapping

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem, LaneName
from jeton.executor.artifacts import ArtifactTooLarge
from jeton.executor.call import enter_call, leave_call
from jeton.executor.python.bytes_artifacts import load_bytes, store_bytes
from jeton.executor.python.bytes_paths import NO_CONTENTS
from jeton.executor.python.extract_bytes import ExtractedBytes, extract_bytes
from jeton.executor.python.functions import Function, FunctionMissing, find_function
from jeton.executor.python.signature import BadArguments, with_bytes
from jeton.executor.python.transient import is_transient
from jeton.executor.workers.process_pool import WorkerRequest
from jeton.model.json import Json


class Python(Kind, frozen=True):
    """Names the function as `module:name`, or by its registered name."""

    function: str

    def problems(self) -> Iterator[KindProblem]:
        if not self.function:
            yield KindProblem("function", "is empty", "write 'module:name'")

    def missing(self) -> str | None:
        try:
            find_function(self.function)
        except FunctionMissing as missing:
            return str(missing)
        return None

    def lane(self) -> LaneName:
        return "loop" if find_function(self.function).is_async else "thread"

    def is_transient(self, error: BaseException) -> bool:
        return is_transient(error) or isinstance(error, find_function(self.function).retry_on)

    def isolate(self) -> ActionHandler | None:
        function = find_function(self.function)

        async def act(call: ActionCall) -> Json | ActionFailed:
            contents = await load_bytes(function.signature.references(call.input), call)
            if isinstance(contents, ActionFailed):
                return contents
            request = WorkerRequest(
                function.reference, with_bytes(call.input, contents), call.call, dict(call.profiles)
            )
            reply = await call.resources.processes.run(request, call.report)
            failure = reply.failure
            if failure is None:
                return (
                    await _store_bytes(ExtractedBytes(reply.value, reply.contents), call)
                    if reply.contents
                    else reply.value
                )
            return ActionFailed(
                failure.type, failure.message, failure.transient, failure.retry_after_ms, stack=failure.stack
            )

        return act

    def prepare(self) -> ActionHandler:
        # the function is looked up for each call, because it may be defined again
        return lambda call: call_function(find_function(self.function), call)


async def call_function(
    function: Function, call: ActionCall, arguments: Mapping[str, object] | None = None
) -> Json | ActionFailed:
    """Call a function on the event loop or in a thread, where it can use `current_call`.

    Its arguments are those that the input of the call gives, unless others are given."""
    if arguments is None:
        signature, contents = function.signature, NO_CONTENTS
        if signature.takes_bytes:
            found = await load_bytes(signature.references(call.input), call)
            if isinstance(found, ActionFailed):
                return found
            contents = found
        try:
            arguments = signature.arguments(call.input, contents)
        except BadArguments as bad:
            return ActionFailed("input_invalid", str(bad))
    token = enter_call(call.call, call.report, call.profiles)
    if function.is_async:
        watch = call.resources.watch
        watch.begun += 1
        try:
            if not watch.watching:
                watch.begin_watching()
            result = extract_bytes(await function.call(**arguments))
        finally:
            watch.ended += 1
            leave_call(token)
    else:
        try:
            result = await call.resources.threads.run(lambda: extract_bytes(function.call(**arguments)))
        finally:
            leave_call(token)
    return await _store_bytes(result, call) if type(result) is ExtractedBytes else result


async def _store_bytes(extracted: ExtractedBytes, call: ActionCall) -> Json | ActionFailed:
    """The result, with its bytes stored as artifacts of the run."""
    try:
        return (await store_bytes(extracted, call))[0]
    except ArtifactTooLarge as large:
        return ActionFailed("too_large", f"a part of the result {large}")

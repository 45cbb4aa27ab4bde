"""`python`: a function of ours or of the user's. Async ones run on the event loop, others in a thread or a process."""

from collections.abc import Iterator, Mapping

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem, LaneName
from jeton.executor.artifacts import ArtifactTooLarge
from jeton.executor.call import enter_call, leave_call
from jeton.executor.python.bytes_artifacts import fetch, keep
from jeton.executor.python.bytes_paths import NO_CONTENTS
from jeton.executor.python.extract_bytes import ExtractedBytes, extract_bytes
from jeton.executor.python.functions import Function, FunctionMissing, find_function
from jeton.executor.python.signature import BadArguments, filled
from jeton.executor.workers.process_pool import WorkerRequest
from jeton.model.json import Json


class Python(Kind, frozen=True):
    """Names the function as `module:name`, or by the name it was registered with."""

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

    def isolate(self) -> ActionHandler | None:
        function = find_function(self.function)

        async def act(call: ActionCall) -> Json | ActionFailed:
            contents = await fetch(function.signature.references(call.input), call)
            if isinstance(contents, ActionFailed):
                return contents
            request = WorkerRequest(function.reference, filled(call.input, contents), call.call, dict(call.profiles))
            reply = await call.resources.processes.run(request, call.tell)
            failure = reply.failure
            if failure is None:
                return await _kept(ExtractedBytes(reply.value, reply.contents), call) if reply.contents else reply.value
            return ActionFailed(failure.type, failure.message, failure.transient, failure.retry_after_ms)

        return act

    def prepare(self) -> ActionHandler:
        async def act(call: ActionCall) -> Json | ActionFailed:
            function = find_function(self.function)  # at each call, because it may have been defined anew
            signature = function.signature
            contents = NO_CONTENTS
            if signature.takes_bytes:
                found = await fetch(signature.references(call.input), call)
                if isinstance(found, ActionFailed):
                    return found
                contents = found
            try:
                arguments = signature.arguments(call.input, contents)
            except BadArguments as bad:
                return ActionFailed("input_invalid", str(bad))
            return await called(function, arguments, call)

        return act


async def called(function: Function, arguments: Mapping[str, object], call: ActionCall) -> Json | ActionFailed:
    """What the function gives: on the loop, or in a thread; either way it can ask which call it is in."""
    token = enter_call(call.call, call.tell, call.profiles)
    try:
        if function.is_async:
            result = extract_bytes(await function.call(**arguments))
        else:
            result = await call.resources.threads.run(lambda: extract_bytes(function.call(**arguments)))
    finally:
        leave_call(token)
    return await _kept(result, call) if type(result) is ExtractedBytes else result


async def _kept(lifted: ExtractedBytes, call: ActionCall) -> Json | ActionFailed:
    """The result with its bytes as artifacts of the run."""
    try:
        return (await keep(lifted, call))[0]
    except ArtifactTooLarge as large:
        return ActionFailed("too_large", f"a content of its result {large}")

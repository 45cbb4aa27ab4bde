"""`python`: a function of ours or of the user's. Async ones run on the event loop, others in a thread or a process."""

from collections.abc import Iterator, Mapping

from jeton.executor.action import Act, ActionCall, ActionFailed, Flaw, Kind, LaneName
from jeton.executor.call import enter_call, leave_call
from jeton.executor.functions import Function, FunctionMissing, find_function
from jeton.executor.hints import BadArguments
from jeton.executor.processes import Request
from jeton.executor.results import plain
from jeton.model.json import Json


class Python(Kind, frozen=True):
    """Names the function as `module:name`, or by the name it was registered with."""

    function: str

    def flaws(self) -> Iterator[Flaw]:
        if not self.function:
            yield Flaw("function", "is empty", "write 'module:name'")

    def missing(self) -> str | None:
        try:
            find_function(self.function)
        except FunctionMissing as missing:
            return str(missing)
        return None

    def lane(self) -> LaneName:
        return "loop" if find_function(self.function).is_async else "thread"

    def isolate(self) -> Act | None:
        reference = find_function(self.function).reference

        async def act(call: ActionCall) -> Json | ActionFailed:
            request = Request(reference, call.input, call.call, dict(call.profiles))
            answer = await call.resources.processes.run(request, call.tell)
            failure = answer.failure
            if failure is None:
                return answer.value
            return ActionFailed(failure.type, failure.message, failure.transient, failure.retry_after_ms)

        return act

    def prepare(self) -> Act:
        async def act(call: ActionCall) -> Json | ActionFailed:
            function = find_function(self.function)  # at each call, because it may have been defined anew
            try:
                arguments = function.signature.arguments(call.input)
            except BadArguments as bad:
                return ActionFailed("input_invalid", str(bad))
            return await called(function, arguments, call)

        return act


async def called(function: Function, arguments: Mapping[str, object], call: ActionCall) -> Json:
    """What the function gives: on the loop, or in a thread; either way it can ask which call it is in."""
    token = enter_call(call.call, call.tell, call.profiles)
    try:
        if function.is_async:
            return plain(await function.call(**arguments))
        return await call.resources.threads.run(lambda: plain(function.call(**arguments)))
    finally:
        leave_call(token)

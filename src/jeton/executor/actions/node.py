"""`node`: a Python function as a node of a flow, with durable steps of its own."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, ActionResult
from jeton.executor.actions.python import Python, call_function
from jeton.executor.python.bytes_artifacts import load_bytes
from jeton.executor.python.bytes_paths import NO_CONTENTS
from jeton.executor.python.functions import find_function
from jeton.executor.python.node import signature_of
from jeton.executor.python.node_signature import node_input
from jeton.executor.python.node_steps import BlockingPublisher, BlockingSteps, Publisher, Steps
from jeton.executor.python.signature import BadArguments
from jeton.model.json import Json


class Node(Python, frozen=True):
    """Names the function as `module:name`, or by its registered name."""

    def isolate(self) -> ActionHandler | None:
        return None  # its steps are run by this process

    def prepare(self) -> ActionHandler:
        async def act(call: ActionCall) -> ActionResult:
            function = find_function(self.function)  # for each call, because it may be defined again
            steps, publisher = Steps(call), Publisher(call)
            services: dict[str, object] = {"step": steps, "publish": publisher}
            if not function.is_async:
                loop = asyncio.get_running_loop()
                services = {"step": BlockingSteps(steps, loop), "publish": BlockingPublisher(publisher, loop)}
            given = node_input(call.input, call.call.node)
            signature = signature_of(function.call, function.name)
            references = signature.references(given)
            contents = await load_bytes(references, call) if references else NO_CONTENTS
            if isinstance(contents, ActionFailed):
                return contents
            try:
                arguments = signature.arguments(given, services, contents)
            except BadArguments as bad:
                return ActionFailed("input_invalid", str(bad))
            return await _finish_or_suspend(steps, call_function(function, call, arguments))

        return act


async def _finish_or_suspend(steps: Steps, work: Coroutine[Any, Any, Json | ActionFailed]) -> ActionResult:
    """The result of the function, unless it ended at a sleep or should have."""
    try:
        result = await work
    except BaseException as error:
        outcome = steps.outcome(error)
        if outcome is None:
            raise
        return outcome
    return steps.outcome(None) or result

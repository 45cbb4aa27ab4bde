"""Run one task at a time, knowing nothing of the graph. Plugin authors import `jeton.plugins` instead.

Each name is found when it is first asked for, so that a process loads only what it uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jeton.executor.action import Resources, TransientError
    from jeton.executor.actions import check_implementation, kind_names
    from jeton.executor.call import CurrentCall, TaskCall, current_call
    from jeton.executor.clock import Clock, LoopClock, TimedOut, VirtualClock
    from jeton.executor.executor import Executor
    from jeton.executor.models.clients import provider_names
    from jeton.executor.python.action import ActionFunction, RetryOptions, action_functions
    from jeton.executor.python.node import node
    from jeton.executor.python.node_steps import BlockingPublisher, BlockingSteps, Publisher, Steps
    from jeton.executor.task.compile import CompiledTask, compile_task
    from jeton.executor.task.run_task import run_task
    from jeton.executor.workers.thread_pool import ThreadPool

__all__ = [
    "ActionFunction",
    "BlockingPublisher",
    "BlockingSteps",
    "Clock",
    "CompiledTask",
    "CurrentCall",
    "Executor",
    "LoopClock",
    "Publisher",
    "Resources",
    "RetryOptions",
    "Steps",
    "TaskCall",
    "ThreadPool",
    "TimedOut",
    "TransientError",
    "VirtualClock",
    "action_functions",
    "check_implementation",
    "compile_task",
    "current_call",
    "kind_names",
    "node",
    "provider_names",
    "run_task",
]

_HOMES = {
    "Resources": "jeton.executor.action",
    "TransientError": "jeton.executor.action",
    "check_implementation": "jeton.executor.actions",
    "kind_names": "jeton.executor.actions",
    "CurrentCall": "jeton.executor.call",
    "TaskCall": "jeton.executor.call",
    "current_call": "jeton.executor.call",
    "Clock": "jeton.executor.clock",
    "LoopClock": "jeton.executor.clock",
    "TimedOut": "jeton.executor.clock",
    "VirtualClock": "jeton.executor.clock",
    "Executor": "jeton.executor.executor",
    "provider_names": "jeton.executor.models.clients",
    "ActionFunction": "jeton.executor.python.action",
    "RetryOptions": "jeton.executor.python.action",
    "action_functions": "jeton.executor.python.action",
    "node": "jeton.executor.python.node",
    "BlockingPublisher": "jeton.executor.python.node_steps",
    "BlockingSteps": "jeton.executor.python.node_steps",
    "Publisher": "jeton.executor.python.node_steps",
    "Steps": "jeton.executor.python.node_steps",
    "CompiledTask": "jeton.executor.task.compile",
    "compile_task": "jeton.executor.task.compile",
    "run_task": "jeton.executor.task.run_task",
    "ThreadPool": "jeton.executor.workers.thread_pool",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute {name!r}")
    found: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found

"""Run one task at a time, knowing nothing of the graph. Plugin authors import `jeton.plugins` instead."""

from jeton.executor.action import Resources, TransientError
from jeton.executor.actions import check_implementation, kind_names
from jeton.executor.call import CurrentCall, TaskCall, current_call
from jeton.executor.clock import Clock, LoopClock, TimedOut, VirtualClock
from jeton.executor.executor import Executor
from jeton.executor.models.clients import provider_names
from jeton.executor.python.action import ActionFunction, RetryOptions, action, action_functions
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
    "action",
    "action_functions",
    "check_implementation",
    "compile_task",
    "current_call",
    "kind_names",
    "node",
    "provider_names",
    "run_task",
]

"""Runs one task and knows nothing of the graph."""

from jeton.executor.action import Act, ActionCall, ActionFailed, Flaw, Kind, LaneName, Resources, TransientError
from jeton.executor.actions import check_implementation, kind_names, register_kind
from jeton.executor.call import Call, TaskCall, current_call
from jeton.executor.clock import Clock, LoopClock, TimedOut, VirtualClock
from jeton.executor.executor import Executor
from jeton.executor.python.action import ActionFunction, action, action_functions
from jeton.executor.python.node import node
from jeton.executor.python.node_steps import BlockingPublisher, BlockingSteps, Publisher, Steps
from jeton.executor.task.compile import ReadyTask, compile_task
from jeton.executor.task.run_task import run_task
from jeton.executor.workers.threads import Threads

__all__ = [
    "Act",
    "ActionCall",
    "ActionFailed",
    "ActionFunction",
    "BlockingPublisher",
    "BlockingSteps",
    "Call",
    "Clock",
    "Executor",
    "Flaw",
    "Kind",
    "LaneName",
    "LoopClock",
    "Publisher",
    "ReadyTask",
    "Resources",
    "Steps",
    "TaskCall",
    "Threads",
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
    "register_kind",
    "run_task",
]

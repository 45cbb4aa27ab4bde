"""Durable workflows and agents for Python.

Everything here is found when it is first asked for, so that importing jeton costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jeton.actor.retention import Pruned
    from jeton.api.client.handles import RemoteConversation, RemoteRun, RemoteTurn
    from jeton.api.client.remote import RemoteEngine, connect
    from jeton.api.client.sync import connect_sync
    from jeton.engine.build.agent import Agent, Persona
    from jeton.engine.build.flow import Flow
    from jeton.engine.build.graph import NodeHandle
    from jeton.engine.build.profile import ModelProfile
    from jeton.engine.build.tool import Tool, ToolFunction, tool
    from jeton.engine.build.workflow import Workflow, join, merge
    from jeton.engine.control import CancelAnswer
    from jeton.engine.credits import CreditsView, TokensView, UsageView
    from jeton.engine.deploy.deploying import Deployment
    from jeton.engine.engine import Engine
    from jeton.engine.input import InputInvalid, InputProblem
    from jeton.engine.look.line import LineReader
    from jeton.engine.look.position import LineEntry, Position
    from jeton.engine.opening import open
    from jeton.engine.reading import Context
    from jeton.engine.reply import Reply
    from jeton.engine.run import Run
    from jeton.engine.sync import SyncEngine, SyncRun, open_sync
    from jeton.engine.talk.conversation import ChatTurn, Conversation
    from jeton.engine.talk.looking_back import Difference, MoveExplanation, ReplayedTurn
    from jeton.engine.talk.sync import SyncChatTurn, SyncConversation
    from jeton.engine.triggers import TriggerView
    from jeton.engine.views.conversation import ConversationRow, ConversationView, TurnView
    from jeton.engine.views.explain import RunExplained, TokenExplained, TransitionExplained
    from jeton.engine.views.firings import FiringView
    from jeton.engine.views.gates import GateView
    from jeton.engine.views.memory import ForgottenMemory, MemoryView
    from jeton.engine.views.past.changes import EntryChanges
    from jeton.engine.views.past.entries import EntryView
    from jeton.engine.views.past.graph import RunGraph
    from jeton.engine.views.past.slots import SlotsView
    from jeton.engine.views.published import EmittedEvent, MetricValue
    from jeton.engine.views.record import ForkedFrom, NoOutput, RunRecord
    from jeton.engine.views.tokens import TokenView
    from jeton.engine.views.what_if import WhatIf
    from jeton.executor import (
        ActionFunction,
        BlockingPublisher,
        BlockingSteps,
        CurrentCall,
        Publisher,
        RetryOptions,
        Steps,
        TransientError,
        current_call,
        node,
    )
    from jeton.executor.python.action import action
    from jeton.model.chat import Attachment
    from jeton.model.definition.task import RetryPolicy
    from jeton.model.failure import BrokenInvariant, DefinitionError, Problem, Refused, RunError
    from jeton.model.state.flow_run import NodeView

__all__ = [
    "ActionFunction",
    "Agent",
    "Attachment",
    "BlockingPublisher",
    "BlockingSteps",
    "BrokenInvariant",
    "CancelAnswer",
    "ChatTurn",
    "Context",
    "Conversation",
    "ConversationRow",
    "ConversationView",
    "CreditsView",
    "CurrentCall",
    "DefinitionError",
    "Deployment",
    "Difference",
    "EmittedEvent",
    "Engine",
    "EntryChanges",
    "EntryView",
    "FiringView",
    "Flow",
    "ForgottenMemory",
    "ForkedFrom",
    "GateView",
    "InputInvalid",
    "InputProblem",
    "LineEntry",
    "LineReader",
    "MemoryView",
    "MetricValue",
    "ModelProfile",
    "MoveExplanation",
    "NoOutput",
    "NodeHandle",
    "NodeView",
    "Persona",
    "Position",
    "Problem",
    "Pruned",
    "Publisher",
    "Refused",
    "RemoteConversation",
    "RemoteEngine",
    "RemoteRun",
    "RemoteTurn",
    "ReplayedTurn",
    "Reply",
    "RetryOptions",
    "RetryPolicy",
    "Run",
    "RunError",
    "RunExplained",
    "RunGraph",
    "RunRecord",
    "SlotsView",
    "Steps",
    "SyncChatTurn",
    "SyncConversation",
    "SyncEngine",
    "SyncRun",
    "TokenExplained",
    "TokenView",
    "TokensView",
    "Tool",
    "ToolFunction",
    "TransientError",
    "TransitionExplained",
    "TriggerView",
    "TurnView",
    "UsageView",
    "WhatIf",
    "Workflow",
    "action",
    "connect",
    "connect_sync",
    "current_call",
    "join",
    "merge",
    "node",
    "open",
    "open_sync",
    "tool",
]

_HOMES = {
    "jeton.actor.retention": ("Pruned",),
    "jeton.api.client.handles": ("RemoteConversation", "RemoteRun", "RemoteTurn"),
    "jeton.api.client.remote": ("RemoteEngine", "connect"),
    "jeton.api.client.sync": ("connect_sync",),
    "jeton.engine.build.agent": ("Agent", "Persona"),
    "jeton.engine.build.profile": ("ModelProfile",),
    "jeton.engine.build.tool": ("Tool", "ToolFunction", "tool"),
    "jeton.engine.build.workflow": ("Workflow", "join", "merge"),
    "jeton.engine.credits": ("CreditsView", "TokensView", "UsageView"),
    "jeton.engine.control": ("CancelAnswer",),
    "jeton.engine.deploy.deploying": ("Deployment",),
    "jeton.engine.engine": ("Engine",),
    "jeton.engine.look.line": ("LineReader",),
    "jeton.engine.look.position": ("LineEntry", "Position"),
    "jeton.engine.opening": ("open",),
    "jeton.engine.run": ("Run",),
    "jeton.engine.views.explain": ("RunExplained", "TokenExplained", "TransitionExplained"),
    "jeton.engine.build.flow": ("Flow",),
    "jeton.engine.views.firings": ("FiringView",),
    "jeton.engine.views.gates": ("GateView",),
    "jeton.engine.input": ("InputInvalid", "InputProblem"),
    "jeton.engine.views.memory": ("ForgottenMemory", "MemoryView"),
    "jeton.engine.views.past.changes": ("EntryChanges",),
    "jeton.engine.views.past.entries": ("EntryView",),
    "jeton.engine.views.past.graph": ("RunGraph",),
    "jeton.engine.views.past.slots": ("SlotsView",),
    "jeton.engine.views.published": ("EmittedEvent", "MetricValue"),
    "jeton.engine.reading": ("Context",),
    "jeton.engine.views.record": ("ForkedFrom", "NoOutput", "RunRecord"),
    "jeton.engine.reply": ("Reply",),
    "jeton.engine.sync": ("SyncEngine", "SyncRun", "open_sync"),
    "jeton.engine.talk.conversation": ("ChatTurn", "Conversation"),
    "jeton.engine.talk.looking_back": ("Difference", "MoveExplanation", "ReplayedTurn"),
    "jeton.engine.talk.sync": ("SyncChatTurn", "SyncConversation"),
    "jeton.engine.views.conversation": ("ConversationRow", "ConversationView", "TurnView"),
    "jeton.model.chat": ("Attachment",),
    "jeton.engine.views.tokens": ("TokenView",),
    "jeton.engine.triggers": ("TriggerView",),
    "jeton.engine.views.what_if": ("WhatIf",),
    "jeton.engine.build.graph": ("NodeHandle",),
    "jeton.executor": (
        "ActionFunction",
        "BlockingPublisher",
        "BlockingSteps",
        "CurrentCall",
        "Publisher",
        "RetryOptions",
        "Steps",
        "TransientError",
        "current_call",
        "node",
    ),
    "jeton.executor.python.action": ("action",),
    "jeton.model.definition.task": ("RetryPolicy",),
    "jeton.model.failure": ("BrokenInvariant", "DefinitionError", "Problem", "Refused", "RunError"),
    "jeton.model.state.flow_run": ("NodeView",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'jeton' has no attribute {name!r}")
    found: object = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

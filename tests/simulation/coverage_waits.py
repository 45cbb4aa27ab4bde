"""Which of the interesting cases of calls, gates, signals, pauses and forks a sweep has reached."""

from collections import Counter

from jeton.hosts.simulated.observer import Step
from jeton.model import decision as d
from jeton.model.message import AnswerGate, CancelRun, ChildEnded, SignalRun
from jeton.model.state.phase import Asking, WaitingForGate, WaitingForSignal, WaitingForSubworkflow
from jeton.model.state.run import RunState
from tests.simulation.stories.naps import sleeps_until

WAIT_CASES = (
    "child called", "child ended", "child failed", "child cancelled by its parent", "child stopped with a fan-in",
    "child two levels down", "child of an abandoned branch", "gate opened", "gate answered", "gate timed out",
    "answer refused", "answer kept before its gate opens", "early answer taken", "answer to a closed gate",
    "signal taken at once", "signal kept", "kept signal taken", "signal heard before", "message after the end",
    "paused", "paused with children", "unpaused with a token that waits to begin", "two wait for one signal",
    "forked", "forked with a child", "forked at an open gate", "forked at a wait for a signal",
    "forked with a fan-in under way", "child ends as it is cancelled", "answers in one batch",
    "task fell asleep", "task woken", "paused with a task asleep", "forked with a task asleep",
    "first of several signals taken", "wait timed out with a default", "signal sent by a task",
    "forked at a wait for several", "ended by a node beside a child",
    "task asked", "task told", "task told in a pause", "late question", "forked with a question",
)  # fmt: skip


class WaitCoverage:
    """Counts cases, commit by commit."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def committed(self, step: Step) -> None:
        state = step.live.state
        answers = sum(isinstance(message, AnswerGate) for message in step.batch)
        self.seen["answers in one batch"] += answers > 1
        if step.entry is None:
            told = any(isinstance(message, AnswerGate | SignalRun) for message in step.batch)
            self.seen["message after the end"] += state.head.ended and told
            return
        self.seen["two wait for one signal"] += any(len(waiters) > 1 for waiters in state.waiters.values())
        ended = any(isinstance(message, ChildEnded) for message in step.batch)
        self.seen["child ends as it is cancelled"] += ended and any(isinstance(m, CancelRun) for m in step.batch)
        before: d.Decision | None = None
        for decision in step.entry.decisions:
            self._count(state, decision, before)
            before = decision

    def _count(self, state: RunState, decision: d.Decision, before: d.Decision | None) -> None:
        seen = self.seen
        match decision:
            case d.CallWorkflow():
                seen["child called"] += 1
                seen["child two levels down"] += state.head.depth >= 1
            case d.EndChild(status=status):
                seen["child ended"] += status == "completed"
                seen["child failed"] += status == "failed"
            case d.StopChild(reason=reason):
                seen["child cancelled by its parent"] += 1
                seen["child stopped with a fan-in"] += reason.startswith("the fan-in")
                seen["ended by a node beside a child"] += reason.startswith("run completed at")
            case d.AbandonTokens():
                seen["child of an abandoned branch"] += any(
                    token.abandoned and isinstance(token.phase, WaitingForSubworkflow)
                    for token in state.tokens.values()
                )
            case d.OpenGate():
                seen["gate opened"] += 1
            case d.TakeAnswer(early=early):
                seen["gate answered"] += 1
                seen["early answer taken"] += early is not None
            case d.TimeOutGate():
                seen["gate timed out"] += 1
            case d.KeepAnswer():
                seen["answer kept before its gate opens"] += 1
            case d.KeepSignal(name=name):
                seen["signal kept"] += 1
                seen["signal sent by a task"] += name.startswith("y")
            case d.FinishNode(node=node):
                seen["wait timed out with a default"] += node.startswith("o")
            case d.TakeSignal(name=name):
                seen["first of several signals taken"] += name.startswith("m")
                seen["signal taken at once" if isinstance(before, d.KeepSignal) else "kept signal taken"] += 1
            case d.ReplyTo(accepted=accepted, why=why):
                seen["answer refused"] += not accepted
                seen["answer to a closed gate"] += why == "the gate is closed"
                seen["signal heard before"] += why.endswith("was received before")
            case d.SuspendToken():
                seen["task fell asleep"] += 1
            case d.WakeToken():
                seen["task woken"] += 1
            case d.AskInput():
                seen["task asked"] += 1
            case d.ContinueTask(paused=paused):
                seen["task told in a pause" if paused else "task told"] += 1
            case d.IgnoreLate(why=why):
                seen["late question"] += why == "that question was answered"
            case d.SetPaused(paused=paused):
                calls = any(isinstance(token.phase, WaitingForSubworkflow) for token in state.tokens.values())
                seen["paused"] += paused
                seen["paused with children"] += paused and calls
                seen["paused with a task asleep"] += paused and _sleeps(state)
                seen["unpaused with a token that waits to begin"] += not paused and bool(state.tokens)
            case d.ForkHistory():
                phases = [token.phase for token in state.tokens.values()]
                seen["forked"] += 1
                seen["forked with a task asleep"] += _sleeps(state)
                seen["forked with a child"] += any(isinstance(phase, WaitingForSubworkflow) for phase in phases)
                seen["forked with a question"] += any(isinstance(phase, Asking) for phase in phases)
                seen["forked at an open gate"] += any(isinstance(phase, WaitingForGate) for phase in phases)
                seen["forked at a wait for a signal"] += any(isinstance(phase, WaitingForSignal) for phase in phases)
                several = any(isinstance(phase, WaitingForSignal) and phase.names for phase in phases)
                seen["forked at a wait for several"] += several
                seen["forked with a fan-in under way"] += bool(state.progress)
            case d.WaitForSignal() | _:
                pass


def _sleeps(state: RunState) -> bool:
    return any(sleeps_until(token) for token in state.tokens.values())

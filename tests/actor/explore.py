"""Every order in which a few messages can reach a few runs, alone or together in a batch: no chance, all of them."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, TypeAlias

from jeton.actor.advance import LiveRun, advance
from jeton.definitions import library_from
from jeton.model.decision import Decision, EndRun, ReplyTo
from jeton.model.effect import SendMessage, StartTask, StopTask
from jeton.model.ids import RunId
from jeton.model.message import Message, StartRun
from jeton.model.state.run import Head, RunState
from jeton.planning.program.workflow import Program, compile_program

ROOT = RunId("root")
SentMessage: TypeAlias = tuple[RunId, Message]
Delivery: TypeAlias = tuple[str, int]


class Net:
    """Runs, what waits for each, and what is still to come from outside."""

    def __init__(self, workflows: Mapping[str, Any], outside: list[SentMessage]) -> None:
        task = {"steps": [{"ref": "only", "action": {"kind": "mock"}}]}
        library = library_from({"workflows": workflows, "tasks": {"t": task}}).require()
        self.programs: dict[str, Program] = {n: compile_program(w, library) for n, w in library.workflows.items()}
        self.workflow_of: dict[RunId, str] = {}
        self.runs: dict[RunId, LiveRun] = {}
        self.inbox: dict[RunId, list[Message]] = {}
        self.outside = outside
        self.decisions: dict[RunId, list[Decision]] = {}
        self.at_work: set[tuple[RunId, int]] = set()
        self.accept(ROOT, StartRun(0, {}, "w"))
        self.advance(ROOT, 1)
        for run in list(self.inbox):  # children that begin with the root are there before anything else happens
            self.advance(run, len(self.inbox[run]))

    def copy(self) -> "Net":
        other = object.__new__(Net)
        other.programs = self.programs
        kept = {name: value for name, value in vars(self).items() if name != "programs"}
        vars(other).update(deepcopy(kept))
        return other

    def accept(self, run: RunId, message: Message) -> None:
        if run not in self.runs:
            assert isinstance(message, StartRun), (run, message)
            name = message.workflow or ""
            self.workflow_of[run] = name
            self.runs[run] = LiveRun(RunState(Head(run, name)))
        self.inbox.setdefault(run, []).append(message)

    def advance(self, run: RunId, count: int) -> None:
        """Take so many of what waits as one batch."""
        batch, self.inbox[run] = self.inbox[run][:count], self.inbox[run][count:]
        if not batch:
            return
        commit = advance(self.programs[self.workflow_of[run]], self.runs[run], batch)
        self.decisions.setdefault(run, []).extend(commit.entry.decisions if commit.entry is not None else ())
        for effect in commit.effects:
            match effect:
                case SendMessage():
                    self.accept(effect.run, effect.message)
                case StartTask():
                    self.at_work.add((run, effect.token))
                case StopTask():
                    self.at_work.discard((run, effect.token))

    def choices(self) -> Iterator[Delivery]:
        """Something comes from outside; or a run takes what waits for it, all or only the first."""
        for number in range(len(self.outside)):
            yield "outside", number
        for number, run in enumerate(self.runs):
            waiting = len(self.inbox.get(run, ()))
            if waiting:
                yield "all", number
            if waiting > 1:
                yield "first", number

    def do(self, choice: Delivery) -> None:
        kind, number = choice
        if kind == "outside":
            self.accept(*self.outside.pop(number))
            return
        run = list(self.runs)[number]
        self.advance(run, len(self.inbox[run]) if kind == "all" else 1)

    # what came of it

    def status(self, run: RunId = ROOT) -> str:
        return self.runs[run].state.head.status

    def output(self, run: RunId = ROOT) -> Any:
        return self.runs[run].state.head.result

    def replies(self, run: RunId = ROOT) -> dict[str, bool]:
        return {d.id: d.accepted for d in self.decisions[run] if isinstance(d, ReplyTo)}

    def ends(self, run: RunId = ROOT) -> int:
        return sum(isinstance(decision, EndRun) for decision in self.decisions[run])

    def count(self, kind: type[Decision], run: RunId = ROOT) -> int:
        return sum(isinstance(decision, kind) for decision in self.decisions[run])


def every_order(net: Net) -> Iterator[Net]:
    """All there is to come to, by every road."""
    choices = list(net.choices())
    if not choices:
        yield net
    for choice in choices:
        onward = net.copy()
        onward.do(choice)
        yield from every_order(onward)

"""A run with everything it stored, told one batch at a time."""

from jeton.actor.advance import Commit, LiveRun, advance
from jeton.actor.journal import first_hash
from jeton.actor.sections import load_run
from jeton.actor.turn import turn_of
from jeton.model.definition.task import Task
from jeton.model.definition.workflow import Library, Node, TaskTarget, Transition, Workflow
from jeton.model.ids import RunId, TokenId
from jeton.model.message import Message, TaskFinished
from jeton.model.state.run import Head, RunState
from jeton.planning.program.workflow import Program, compile_program

WORK = Node(TaskTarget(Task(steps=(), timeout_ms=1000)), output_mapping={"state.v": "result.v"})


def program(*transitions: Transition, **nodes: Node) -> Program:
    """A workflow whose first node is the initial one."""
    return compile_program(Workflow("w", next(iter(nodes)), nodes, transitions), Library())


def done(token: int, value: int = 1, attempt: int = 1, at: int = 5) -> TaskFinished:
    """A task that succeeded."""
    return TaskFinished(at, TokenId(token), attempt, {"v": value})


class Journal:
    """What a store would hold of one run."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.run = LiveRun(RunState(Head(RunId("r"), "w")))
        self.sections: dict[str, bytes] = {}
        self.entries: list[bytes] = []
        self.hash = first_hash(RunId("r"))

    def tell(self, *messages: Message, moves: int = 10_000) -> Commit:
        commit = advance(self.program, self.run, messages, moves)
        written = turn_of(self.program, self.run, commit, self.hash)
        if written.entry is not None:
            self.entries.append(written.entry.body)
            self.hash = written.hash
            for name, body in written.sections.items():
                if body is None:
                    self.sections.pop(name, None)
                else:
                    self.sections[name] = body
        return commit

    def reload(self) -> None:
        self.run = load_run(self.sections)

    def snapshot(self) -> dict[str, bytes]:
        return dict(self.sections)

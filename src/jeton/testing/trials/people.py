"""Simulated people, who answer every gate and send the signals that a run waits for, after a delay."""

from collections import Counter
from collections.abc import Collection
from random import Random

from jeton.executor.actions.sample import sample
from jeton.hosts.simulated.observer import Step
from jeton.hosts.simulated.world import World
from jeton.model.decision import AskInput, OpenGate, WaitForSignal
from jeton.model.definition.workflow import GateTarget, WaitTarget
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, Schema
from jeton.model.message import AnswerGate, SignalRun
from jeton.planning.program.talk import TalkProgram, approval_of


class People:
    """Answers depend on the schema and the node; only the delays depend on the seed.

    `sent_by_tasks` are names of signals that people leave to tasks of the workflow."""

    def __init__(self, world: World, seed: int, slowest_ms: int, sent_by_tasks: Collection[str]) -> None:
        self._world = world
        self._sent_by_tasks = sent_by_tasks
        self._pace = Random(f"{seed}/people")
        self._slowest_ms = slowest_ms
        self._asked: Counter[tuple[RunId, str, str]] = Counter()
        self._sent = 0

    def committed(self, step: Step) -> None:
        for decision in step.entry.decisions if step.entry is not None else ():
            match decision:
                case OpenGate(token, node):
                    self._answer(step, token, node)
                case AskInput(token, node, schema=schema):
                    answer = AnswerGate(0, self._id(), self._value(step, token, node, schema), None, token)
                    self._world.answer(step.run, answer, after_ms=self._delay_ms())
                case WaitForSignal(token, node):
                    self._signal(step, token, node)
                case _:
                    pass

    def _answer(self, step: Step, token: TokenId, node: str) -> None:
        if step.program.talk is not None:
            self._approve(step, step.program.talk, token, node)
            return
        target = step.program.nodes[node].definition.target
        if not isinstance(target, GateTarget):
            return
        names = [*target.assignees, *(f"person {n + 1}" for n in range(target.approvals))]
        # everybody gives the same answer, so that their order cannot matter
        value = self._value(step, token, node, target.schema)
        for by in names[: target.approvals]:
            self._world.answer(step.run, AnswerGate(0, self._id(), value, by, token), after_ms=self._delay_ms())

    def _approve(self, step: Step, talk: TalkProgram, token: TokenId, node: str) -> None:
        """Approve a tool call, or give a turn no more credits."""
        tool = talk.tools.get(node.removeprefix("tool:"))
        if tool is None:
            none = AnswerGate(0, self._id(), {"credits": 0}, None, token)
            self._world.answer(step.run, none, after_ms=self._delay_ms())
            return
        approval = approval_of(tool)
        names = [*approval.assignees, *(f"person {n + 1}" for n in range(approval.approvals))]
        for by in names[: approval.approvals]:
            answer = AnswerGate(0, self._id(), {"decision": "approve"}, by, token)
            self._world.answer(step.run, answer, after_ms=self._delay_ms())

    def _signal(self, step: Step, token: TokenId, node: str) -> None:
        """Send the signal, or the first of several: which one it is must not depend on the schedule."""
        target = step.program.nodes[node].definition.target
        if isinstance(target, WaitTarget) and not any(name in self._sent_by_tasks for name in target.hears):
            name, schema = next(iter(target.hears.items()))
            value = self._value(step, token, node, schema)
            self._world.signal(step.run, SignalRun(0, self._id(), name, value), after_ms=self._delay_ms())

    def _value(self, step: Step, token: TokenId, node: str, schema: Schema | None) -> Json:
        found = step.live.state.tokens.get(token)
        path = "" if found is None else found.path
        key = (step.run, node, path)
        self._asked[key] += 1
        workflow = step.live.state.head.workflow
        return sample(schema or {}, Random(f"{workflow}/{node}/{path}/{self._asked[key]}"))

    def _delay_ms(self) -> int:
        return self._pace.randint(1, self._slowest_ms)

    def _id(self) -> str:
        self._sent += 1
        return f"sent-{self._sent}"

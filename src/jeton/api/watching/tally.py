"""Counts what runs do, by reading the line of positions: at the cost of what happened since the last look.

Runs that were there before are known from a census; a new one by one look at its record, when it first appears.
"""

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from jeton.actor.queries.vitals import Census
from jeton.apply.record import events_of
from jeton.engine.engine import Engine
from jeton.engine.look.line import LineReader
from jeton.engine.look.position import behind
from jeton.model import event as e
from jeton.model.definition.task import Task
from jeton.model.definition.workflow import TaskTarget
from jeton.model.event import Event
from jeton.model.failure import Refused
from jeton.model.state.run import TERMINAL

log = logging.getLogger("jeton.server")

SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 1800, 3600, 86400)
UNKNOWN = "unknown"
MANUAL = "manual"
STATUSES: Mapping[type, str] = {
    e.RunSubmitted: "submitted",
    e.RunStarted: "running",
    e.RunResumed: "running",
    e.RunWaiting: "waiting",
    e.RunCompleted: "completed",
    e.RunFailed: "failed",
    e.RunCancelled: "cancelled",
    e.RunTimedOut: "timed_out",
    e.RunExhausted: "exhausted",
}
ENDS_OF_TOKENS: Mapping[type, str] = {
    e.TokenCompleted: "completed",
    e.TokenFailed: "failed",
    e.TokenTimedOut: "timed_out",
    e.TokenCancelled: "cancelled",
}
ENDS_OF_NODES: Mapping[type, str] = {e.NodeCompleted: "completed", e.NodeFailed: "failed", e.NodeSkipped: "skipped"}


@dataclass(slots=True)
class _Known:
    """A run that is under way."""

    workflow: str
    status: str | None  # None: it is not counted yet
    since: int
    flow: bool = False
    nodes: dict[int, str] = field(default_factory=dict[int, str])
    begun: dict[int, int] = field(default_factory=dict[int, int])
    gates: set[int] = field(default_factory=set[int])


class Histogram:
    """How many values are at most so large, for each bound; their sum, and their number."""

    def __init__(self) -> None:
        self.counts = [0] * (len(SECONDS) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        self.sum += value
        place = next((index for index, bound in enumerate(SECONDS) if value <= bound), len(SECONDS))
        self.counts[place] += 1

    def buckets(self) -> list[tuple[str, float]]:
        """Cumulative, as Prometheus has them."""
        found, so_far = list[tuple[str, float]](), 0
        for bound, count in zip((*SECONDS, "+Inf"), self.counts, strict=True):
            so_far += count
            found.append((str(bound), so_far))
        return found


class Tally:
    """Numbers about runs, from a census and the line behind it."""

    def __init__(self, engine: Engine, census: Census) -> None:
        self._engine = engine
        self._position = behind(census.position)
        self._reader: LineReader | None = None
        self._known = {run: _Known(*found) for run, found in census.under_way.items()}
        self._actions: dict[str, dict[str, str]] = {}  # by workflow and node
        self.runs = Counter[tuple[str, str]](census.runs)
        self.gates = census.gates
        self.started = Counter[tuple[str, str]]()
        self.ended = Counter[tuple[str, str]]()
        self.nodes = Counter[tuple[str, str, str]]()
        self.retries = Counter[str]()
        self.firings = Counter[tuple[str, str]]()
        self.credits = Counter[str]()
        self.tokens = Counter[tuple[str, str]]()
        self.run_s: dict[str, Histogram] = {}
        self.task_s: dict[str, Histogram] = {}

    async def catch_up(self) -> None:
        """Read what was committed since the last look."""
        while True:
            try:
                if self._reader is None:
                    self._reader = await self._engine.line_reader(after=self._position)
                for entry in await self._reader.read():
                    for event in events_of(entry.run, entry.entry):
                        await self._count(event)
            except Refused as refused:
                log.warning("metrics skip what was pruned: %s", refused.problem)
                self._position, self._reader = await self._engine.head(), None
                return
            if self._reader.caught_up:
                return

    async def _count(self, event: Event) -> None:
        run = self._known.get(event.run)
        if run is None:
            run = await self._get_to_know(event)
            if run is None:
                return
        if run.workflow not in self._actions:
            self._actions[run.workflow] = await self._actions_of(run.workflow)
        self._count_status(event, run)
        self._count_node(event, run)
        self._count_use(event, run)
        if type(event.fact) in STATUSES and STATUSES[type(event.fact)] in TERMINAL:
            self.gates -= len(run.gates)
            del self._known[event.run]

    async def _get_to_know(self, event: Event) -> _Known | None:
        row = await self._engine.browse.row(event.run)
        if row is None:
            return None  # it was pruned
        self.started[row.workflow, MANUAL if row.trigger is None else row.trigger.type] += 1
        run = self._known[event.run] = _Known(row.workflow, None, event.at)
        return run

    async def _actions_of(self, workflow: str) -> dict[str, str]:
        """What the nodes of a workflow do: the name of their task or action, or the kind of an action without one."""
        try:
            library = await self._engine.workflow(workflow)
        except Refused:
            return {}
        found = library.workflows.get(workflow)
        nodes = {} if found is None else found.nodes
        return {name: _action(node.target.task) for name, node in nodes.items() if isinstance(node.target, TaskTarget)}

    def _count_status(self, event: Event, run: _Known) -> None:
        status = STATUSES.get(type(event.fact))
        if status is None or status == run.status:
            return
        if run.status is not None:
            self.runs[run.workflow, run.status] -= 1
        self.runs[run.workflow, status] += 1
        run.status = status
        if status in TERMINAL:
            self.ended[run.workflow, status] += 1
            self.run_s.setdefault(run.workflow, Histogram()).add((event.at - run.since) / 1000)

    def _count_node(self, event: Event, run: _Known) -> None:
        match event.fact:
            case e.TokenCreated(token=token, node=node):
                run.nodes[token] = node
            case e.NodeStarted() | e.NodeSkipped() | e.NodeCompleted() | e.NodeFailed():
                run.flow = True
                if (status := ENDS_OF_NODES.get(type(event.fact))) is not None:
                    self.nodes[run.workflow, event.fact.node, status] += 1
            case e.TokenCompleted(token=token) | e.TokenFailed(token=token) | e.TokenTimedOut(token=token):
                self._end_token(event, run, token)
            case e.TokenCancelled(token=token):
                self._end_token(event, run, token)
            case e.GateOpened(token=token):
                run.gates.add(token)
                self.gates += 1
            case _:
                pass

    def _end_token(self, event: Event, run: _Known, token: int) -> None:
        node = run.nodes.pop(token, UNKNOWN)
        if not run.flow:
            self.nodes[run.workflow, node, ENDS_OF_TOKENS[type(event.fact)]] += 1
        if token in run.gates:
            run.gates.discard(token)
            self.gates -= 1

    def _count_use(self, event: Event, run: _Known) -> None:
        match event.fact:
            case e.TaskDispatched(token=token):
                run.begun[token] = event.at
            case e.TaskCompleted(token=token, node=node) | e.TaskFailedAt(token=token, node=node):
                begun = run.begun.pop(token, None)
                if begun is not None:
                    action = self._actions[run.workflow].get(node, UNKNOWN)
                    self.task_s.setdefault(action, Histogram()).add((event.at - begun) / 1000)
            case e.TaskRetrying(call=call):
                self.retries["task" if call is None else "call"] += 1
            case e.TriggerFired(trigger=str() as trigger, started=None):
                self.firings[trigger, "started"] += 1
            case e.TriggerRefused(trigger=trigger, code=code):
                self.firings[trigger, code] += 1
            case e.CreditsSettled(cost=cost):
                self.credits[run.workflow] += cost
            case e.TaskTokens(profile=profile, input=given, output=made):
                self.tokens[profile, "input"] += given
                self.tokens[profile, "output"] += made
            case _:
                pass


def _action(task: str | Task) -> str:
    if isinstance(task, str):
        return task
    first = task.steps[0].action if task.steps else UNKNOWN
    return first if isinstance(first, str) else first.kind

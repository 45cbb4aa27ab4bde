"""Plays a case through an engine, whichever host is below it: deploy, start, act as people do, and look."""

import asyncio
from collections import Counter

import msgspec

from jeton.actor.journal import encode_entry
from jeton.actor.starts import NewRun
from jeton.definitions import library_from
from jeton.definitions.bundle import joined
from jeton.engine.build.source import KINDS
from jeton.engine.engine import Engine
from jeton.engine.views.firings import FiringView
from jeton.executor import action_functions
from jeton.model.decision import CallWorkflow, Decision, ReplyTo
from jeton.model.definition.workflow import Library
from jeton.model.entry import Entry
from jeton.model.failure import Refused
from jeton.model.ids import RunId, gate_id
from jeton.model.message import AnswerGate, CancelRun, Message, PauseRun, SignalRun, UnpauseRun
from tests.conformance.case import LETS_GO, Act, Case, Data, FiringSeen, Outcome, ReplySeen, RunSeen, TokenSeen, tag
from tests.conformance.hosts import Opened

LONGEST_S = 20


def definitions_of(case: Case) -> Data:
    """The case's definitions but for its triggers, as a file has them."""
    flows = {} if case.flow is None else {"flows": {"w": case.flow}}
    workflows = {**({"w": case.workflow} if case.flow is None else {}), **case.others}
    project = {"project": {"settings": case.settings}} if case.settings else {}
    data: Data = {"workflows": workflows, "tasks": case.tasks, "actions": case.actions, **flows, **project}
    data |= {**case.agents, "tasks": {**case.agents.get("tasks", {}), **case.tasks}}
    return {name: section for name, section in data.items() if section}


def library_of(case: Case) -> Library:
    """The case's definitions, read and checked like anybody's."""
    known = Library(actions=action_functions(), triggers={trigger.name: trigger for trigger in case.triggers})
    loaded = library_from(definitions_of(case), known, kinds=KINDS)
    return joined(known, loaded.require())


async def play(case: Case, opened: Opened) -> Outcome:
    """Play a case to its end, and say what it came to."""
    if opened.remote and not case.triggers:
        deployed = await opened.face.deploy(definitions_of(case))
    else:
        deployed = await opened.engine.deploy_library(library_of(case), None)
    run = await _start(case, opened, deployed.versions["w"])
    async with asyncio.timeout(LONGEST_S), asyncio.TaskGroup() as tasks:
        people = People(case, opened, run, tasks)
        tasks.create_task(people.look_on(run))
    async with asyncio.timeout(LONGEST_S):
        await opened.engine.idle()
    return await _outcome(opened, run, people.told)


async def _start(case: Case, opened: Opened, version: int) -> RunId:
    if case.trigger is None:
        started = await opened.face.start("w", case.input, overrides=case.overrides, credits=case.credits)
        return started.id
    new = NewRun("w", version, case.input, overrides=case.overrides, trigger=case.trigger, credits=case.credits)
    return (await opened.host.start(new)).run


class People:
    """Do what the case says, each once, when a decision calls for it."""

    def __init__(self, case: Case, opened: Opened, root: RunId, tasks: asyncio.TaskGroup) -> None:
        self._acts = case.acts
        self._opened = opened
        self._root = root
        self._tasks = tasks
        self._met: Counter[int] = Counter()
        self.told: list[ReplySeen] = []  # by a server, which gives messages ids of its own

    async def look_on(self, run: RunId) -> None:
        """Follow a run, and those it calls, to their ends."""
        while await self._opened.host.reads.row(run) is None:
            await self._opened.sleep(1)
        async for entry in self._opened.engine.journal(run, follow=True):
            for decision in entry.decisions:
                for act in self._called_for(decision):
                    to = run if act.to == "there" else self._root
                    self._tasks.create_task(self._act(to, act.after_ms, act.tell(decision)))
                if isinstance(decision, CallWorkflow):
                    self._tasks.create_task(self.look_on(decision.child))

    def _called_for(self, decision: Decision) -> list[Act]:
        found: list[Act] = []
        for number, act in enumerate(self._acts):
            if act.when == tag(decision) and act.node in (None, getattr(decision, "node", None)):
                if self._met[number] == act.nth:
                    found.append(act)
                self._met[number] += 1
        return found

    async def _act(self, run: RunId, after_ms: int, message: Message) -> None:
        if after_ms:
            await self._opened.sleep(after_ms)
        face, host = self._opened.face, self._opened.host
        try:
            match message:
                case CancelRun(reason=reason):
                    await face.cancel(run, reason)
                case PauseRun():
                    await face.pause(run)
                case UnpauseRun():
                    await face.unpause(run)
                case AnswerGate() | SignalRun() if self._opened.remote:
                    self.told.append(await _told(face, run, message))
                case _:  # with an id of the case's own, to find the reply by
                    await host.deliver(run, msgspec.structs.replace(message, at=host.now()))
        except Refused as refused:
            if refused.code != "run_ended":
                raise


async def _told(face: Engine, run: RunId, message: AnswerGate | SignalRun) -> ReplySeen:
    """What a server says to an answer or a signal, as the run's reply has it."""
    try:
        if isinstance(message, SignalRun):
            reply = await face.signal(run, message.name, message.value, key=message.key)
            kept = "kept until somebody waits for it"
        else:
            gate = None if message.token is None else gate_id(run, message.token)
            node = None if gate is not None else message.node
            reply = await face.answer(run, message.value, gate=gate, node=node, path=message.path, by=message.by)
            kept = "kept until the gate opens"
    except Refused as refused:
        return ReplySeen(message.id, False, refused.problem)
    said = {"kept": kept, "heard_before": "it was received before"}
    return ReplySeen(message.id, True, said.get(reply.outcome, ""))


async def _outcome(opened: Opened, run: RunId, told: list[ReplySeen]) -> Outcome:
    """What a reader can tell."""
    engine, face = opened.engine, opened.face
    record = await face.get(run)
    entries = [entry async for entry in engine.journal(run)]
    children = await _below(face, run, 1)
    journals = [entries, *[[entry async for entry in engine.journal(child.run)] for child in children]]
    completed_at = record.completed_at
    assert completed_at is not None
    return Outcome(
        status=record.status,
        output=record.output,
        error_type=None if record.error is None else record.error.type,
        error_message="" if record.error is None else record.error.message,
        tokens=tuple(TokenSeen(t.node, t.status, t.path, t.branch_index) for t in await face.tokens(run)),
        events=tuple([event async for event in face.events(run) if event["run_id"] == run]),
        took_ms=round((completed_at - record.submitted_at).total_seconds() * 1000),
        sections=await _kept(opened, run),
        children=tuple(children),
        replies=tuple(reply for reply in (told if opened.remote else _replies(journals)) if reply.id != LETS_GO),
        decisions=tuple(tag(decision) for entry in entries for decision in entry.decisions),
        views=record.nodes,
        firings=tuple([await _firing(face, each) for each in reversed(await face.firings())]),
        journal=b"".join(encode_entry(entry) for entry in entries),
    )


def _replies(journals: list[list[Entry]]) -> list[ReplySeen]:
    decisions = [decision for journal in journals for entry in journal for decision in entry.decisions]
    return [ReplySeen(each.id, each.accepted, each.why) for each in decisions if isinstance(each, ReplyTo)]


async def _below(engine: Engine, run: RunId, depth: int) -> list[RunSeen]:
    """The runs it called, each followed by those that it called."""
    found: list[RunSeen] = []
    for listed in await engine.children(run):
        child = await engine.get(listed.run_id)  # lists of a server have no outputs
        error = None if child.error is None else child.error.type
        root = child.root_run_id
        found.append(RunSeen(child.run_id, child.workflow, child.status, child.output, root, depth, error))
        found += await _below(engine, child.run_id, depth + 1)
    return found


async def _firing(engine: Engine, firing: FiringView) -> FiringSeen:
    status = None if firing.run_id is None else (await engine.get(firing.run_id)).status
    return FiringSeen(firing.trigger, firing.type, firing.depth, status, firing.code)


async def _kept(opened: Opened, run: RunId) -> tuple[str, ...]:
    """The names of the sections that the stored run still has."""
    live = await opened.host.reads.live(run)
    assert live is not None
    state = live.state
    left = [f"tokens/{n}" for n in state.tokens] + [f"group/{n}" for n in state.groups]
    return (*left, *(f"slots/{slot}" for slot in state.slots), *(f"arrived/{a}" for a in state.arrived))

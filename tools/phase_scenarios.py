"""Small runs that together go through every phase there is: messages in, decisions out, without a host.

Times are milliseconds. Tokens are numbered from 0 in the order in which a run makes them, so messages can name them.
"""

from collections.abc import Iterator
from itertools import pairwise

import msgspec

from jeton.actor.advance import LiveRun, advance
from jeton.actor.firings import settle_firing
from jeton.actor.fork import shared_history
from jeton.actor.replay import replay
from jeton.actor.rows import FiringRow
from jeton.definitions import library_from
from jeton.model.decision import Decision
from jeton.model.definition.trigger import OnEvent, Trigger
from jeton.model.entry import Entry
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.message import (
    AlarmRang,
    AnswerGate,
    CancelRun,
    ChildEnded,
    CreditsEnded,
    ForkRun,
    Message,
    PauseRun,
    SignalRun,
    StartRun,
    TaskAsked,
    TaskFinished,
    TaskLost,
    TaskStarted,
    TaskSuspended,
    TurnOver,
    UnpauseRun,
)
from jeton.model.state.run import Head, RunState
from jeton.planning.program.compile import compile_definition
from jeton.planning.program.workflow import Program
from jeton.planning.triggers.firing import Delivery, Startable, plan_event

MOCK: JsonObject = {"kind": "mock", "implementation": {"output": {}}}
RETRIED: JsonObject = {
    "steps": [{"ref": "try", "action": MOCK, "on_failure": "retry"}],
    "retry": {"max_attempts": 2, "initial_delay_ms": 100},
    "timeout_ms": 1000,
}
FAILED = TaskFailed("broken", "it does not work")
START = StartRun(0, {})
FORK = ForkRun(50, RunId("run"), 0, 10, again=True)
EDITED = msgspec.structs.replace(FORK, writes={"state.x": 1})


class History(msgspec.Struct, frozen=True):
    """The decisions of one run, in order."""

    run: RunId
    program: Program
    decisions: tuple[Decision, ...]


def histories() -> Iterator[History]:
    """Every scenario."""
    for definition, messages in (*_work(), *_waits(), *_groups(), *_ends(), *_flows()):
        yield played(definition, *messages)


def played(definition: JsonObject, *messages: Message) -> History:
    """What a run of the first definition decides, each message a batch of its own. A fork goes on from the end."""
    library = library_from(definition).require()
    name = next(iter((*library.workflows, *library.flows)))
    program = compile_definition(library, name)
    run = LiveRun(RunState(Head(RunId("run"), name)))
    entries: list[Entry] = []
    for message in messages:
        if isinstance(message, ForkRun):
            entries = shared_history(entries, len(entries) - 1)
            run = replay(Head(RunId("fork"), name), entries)
        entry = advance(program, run, [message]).entry
        entries += [] if entry is None else [entry]
    return History(run.state.head.run, program, tuple(decision for entry in entries for decision in entry.decisions))


def firings() -> Iterator[tuple[str, str, str]]:
    """Deliveries to a trigger: what each was before, what it becomes, and by which message or for which reason."""
    on = OnEvent("order.placed", "1 / event.n > 0")
    trigger = Trigger("t", "w", on)
    startable = Startable("w", 1, {"type": "object", "required": ["order"]}, {})
    good: Json = {"n": 1, "order": 7}
    cases: tuple[tuple[Json, int, Startable | None, bool], ...] = (
        ({"n": -1}, 0, startable, False),
        ({"n": 0}, 0, startable, False),
        ({"n": 1}, 0, startable, False),
        (good, 9, startable, False),
        (good, 0, None, False),
        (good, 0, startable, True),
        (good, 0, startable, False),
    )
    for brings, depth, found, disabled in cases:
        planned = plan_event(trigger, on, Delivery("id", "event", 0, brings, "run", depth), found)
        if planned is None:
            yield "delivered", "ignored", "condition is false"
            continue
        first = settle_firing(planned, None, disabled, RunId("first")).row
        yield "delivered", _firing(first), first.code or "StartRun"
        now = plan_event(trigger, on, Delivery("id", "event", 0, good, "run", 0), startable)
        if now is not None:
            again = settle_firing(now, first, disabled=False, run=RunId("second"))
            yield _firing(first), _firing(again.row), "delivered again" + (", StartRun" if again.new else "")


def _firing(row: FiringRow) -> str:
    return "refused" if row.run is None else "fired"


_Scenario = tuple[JsonObject, tuple[Message, ...]]


def _workflow(nodes: JsonObject, *transitions: Json, **more: Json) -> JsonObject:
    initial = next(iter(nodes))
    return {"workflows": {"w": {"initial_node": initial, "nodes": nodes, "transitions": list(transitions), **more}}}


def _started(at: int, token: int = 0, attempt: int = 1) -> TaskStarted:
    return TaskStarted(at, TokenId(token), attempt)


def _finished(at: int, token: int = 0, attempt: int = 1, failure: TaskFailed | None = None) -> TaskFinished:
    return TaskFinished(at, TokenId(token), attempt, {}, failure)


def _lost(at: int, token: int = 0) -> TaskLost:
    return TaskLost(at, TokenId(token), 1)


def _work() -> Iterator[_Scenario]:
    """A task: done, failed, tried again, lost, late, asleep, asking."""
    again = msgspec.structs.replace(FAILED, retry=True)
    work = _workflow({"work": {"task": RETRIED}, "done": {}}, {"from": "work", "to": "done"})
    alone = _workflow({"work": {"task": RETRIED}})
    nap = TaskSuspended(20, TokenId(0), 1, 500, "nap")
    yield work, (START, _finished(10))
    yield work, (START, _started(5), _finished(10))
    yield alone, (START, _finished(10, failure=FAILED))
    yield alone, (START, _started(5), _finished(10, failure=FAILED))
    yield alone, (START, _finished(10, failure=again), AlarmRang(300), _finished(310, attempt=2))
    yield alone, (START, _started(5), _finished(10, failure=again), PauseRun(20), UnpauseRun(400), CancelRun(410))
    yield alone, (START, _finished(10, failure=again), CancelRun(20))
    yield alone, (START, _started(5), _lost(10), _started(15), AlarmRang(2000))
    yield alone, (START, *(_lost(10 * n) for n in range(1, 6)))
    yield alone, (START, *(message for n in range(1, 6) for message in (_started(10 * n), _lost(10 * n + 5))))
    yield alone, (START, _finished(10, failure=TaskFailed("timed_out", "too slow")))
    yield alone, (START, nap, AlarmRang(500), _started(510), _finished(520))
    yield alone, (START, _started(5), nap, CancelRun(30))
    yield alone, (START, _started(5), FORK, _finished(60))
    yield alone, (START, _started(5), EDITED, _finished(60))
    yield alone, (START, EDITED, _finished(60))
    yield alone, (START, nap, EDITED, _finished(60))
    asked, told = TaskAsked(20, TokenId(0), 1, "How many?", timeout_ms=900), AnswerGate(30, "a", 7, node="work")
    yield alone, (START, asked, told, _started(40), _finished(50))
    yield alone, (START, asked, told, msgspec.structs.replace(asked, continued=1), CancelRun(50))
    yield alone, (START, _started(5), asked, PauseRun(25), told, UnpauseRun(40), _finished(50))
    yield alone, (START, asked, AlarmRang(1000))
    yield alone, (START, asked, CancelRun(30))
    yield alone, (START, asked, EDITED, _finished(60))
    yield alone, (START, CancelRun(10))
    yield alone, (START, _started(5), CancelRun(10))


def _waits() -> Iterator[_Scenario]:
    """A timer, a gate, a signal and a called run: over, failed, late, cancelled."""
    timer = _workflow({"wait": {"wait": {"seconds": 1}}})
    stale = _workflow({"wait": {"wait": {"seconds": 1}, "output_mapping": {"output.x": "1 / input.zero"}}})
    yield timer, (START, AlarmRang(1000))
    yield timer, (START, CancelRun(10))
    yield stale, (StartRun(0, {"zero": 0}), AlarmRang(1000))
    gate = _workflow({"ask": {"gate": {"title": "Go?", "approvals": 2, "timeout_ms": 1000}}})
    ada, bob = (AnswerGate(10, who, True, who, node="ask") for who in ("ada", "bob"))
    yield gate, (START, ada, bob)
    yield gate, (ada, START, bob)
    yield gate, (START, AlarmRang(1000))
    yield gate, (START, CancelRun(10))
    loose = _workflow({"ask": {"gate": {"title": "Go?", "timeout_ms": 1000, "on_timeout": False}}})
    yield loose, (START, AlarmRang(1000))
    early = _workflow(
        {"wait": {"wait": {"seconds": 1}}, "ask": {"gate": {"title": "Go?"}}}, {"from": "wait", "to": "ask"}
    )
    yield early, (START, AnswerGate(10, "a", True, node="ask"), AlarmRang(1000))
    wrong = _workflow({"ask": {"gate": {"title": "Go?"}, "output_mapping": {"output.x": "1 / result"}}})
    yield wrong, (START, AnswerGate(10, "a", 0, node="ask"))
    agent: JsonObject = {
        **_workflow({"ask": {"agent": {"name": "bob", "timeout_ms": 1000}}}),
        "agents": {"bob": {"persona": "helper"}},
        "personas": {"helper": {"model_profile": "fake"}},
        "model_profiles": {"fake": {"provider": "scripted", "script": [{"text": "Hello."}]}},
    }
    over = TurnOver(10, TokenId(0), RunId("run.0"), 1, "completed", "Hello.")
    yield agent, (START, over)
    yield agent, (START, msgspec.structs.replace(over, status="failed"))
    yield agent, (START, AlarmRang(1000))
    yield agent, (START, CancelRun(10))
    signal = _workflow({"wait": {"wait": {"signal": "paid", "timeout_ms": 1000}}})
    yield signal, (START, SignalRun(10, "a", "paid", 1))
    yield signal, (START, AlarmRang(1000))
    yield signal, (START, CancelRun(10))
    poor = _workflow({"wait": {"wait": {"signal": "paid"}, "output_mapping": {"output.x": "1 / result"}}})
    yield poor, (START, SignalRun(10, "a", "paid", 0))
    call: JsonObject = {"call": {"workflow": "child", "timeout_ms": 1000}}
    caller: JsonObject = {
        "workflows": {
            "w": {"initial_node": "call", "nodes": call},
            "child": {"initial_node": "only", "nodes": {"only": {}}},
        }
    }
    child = RunId("run.0")
    yield caller, (START, ChildEnded(10, TokenId(0), child, "completed", {}))
    yield caller, (START, ChildEnded(10, TokenId(0), child, "failed"))
    yield caller, (START, AlarmRang(1000))
    yield caller, (START, CancelRun(10))
    yield caller, (START, EDITED)
    yield caller, (msgspec.structs.replace(START, credits=9), ChildEnded(10, TokenId(0), child, "exhausted"))
    asking: JsonObject = {
        "workflows": {"w": {"initial_node": "ask", "nodes": {"ask": {"agent": {"name": "bob", "timeout_ms": 1000}}}}},
        "model_profiles": {"fake": {"provider": "scripted", "script": [{"text": "Hello."}]}},
        "personas": {"helper": {"model_profile": "fake"}},
        "agents": {"bob": {"persona": "helper"}},
    }
    yield asking, (START, TurnOver(10, TokenId(0), child, 1, "completed", "Hello."))
    yield asking, (START, TurnOver(10, TokenId(0), child, 1, "failed"))
    yield asking, (START, AlarmRang(1000))
    yield asking, (START, CancelRun(10))
    yield asking, (START, EDITED)


def _groups() -> Iterator[_Scenario]:
    """Branches: arrived, stopped, abandoned, late, lost."""
    out: JsonObject = {"from": "split", "to": "work", "spawn_count": 2}

    def fan(**sync: Json) -> JsonObject:
        nodes: JsonObject = {"split": {}, "work": {"task": RETRIED}, "join": {}}
        return _workflow(nodes, out, {"from": "work", "to": "join", "synchronization": dict(sync)})

    yield fan(strategy="all"), (START, _finished(10, 1), _started(15, 2), _finished(20, 2))
    yield fan(strategy="any"), (START, _started(5, 2), _finished(10, 1))
    yield fan(strategy="all"), (START, _finished(10, 1), CancelRun(20))
    late = fan(strategy="all", timeout_ms=100)
    yield late, (START, _finished(10, 1), AlarmRang(200))
    yield late, (START, _finished(10, 1), _started(20, 2), AlarmRang(200))
    left = fan(strategy="any", on_early_complete="abandon")
    yield left, (START, _started(5, 2), _finished(10, 1))
    join: JsonObject = {"strategy": "all", "timeout_ms": 100}
    ends: tuple[tuple[JsonObject, Message], ...] = (
        ({"wait": {"seconds": 0.05}}, AlarmRang(50)),
        ({"gate": {"title": "Go?"}}, AnswerGate(50, "a", True, token=TokenId(2))),
        ({"wait": {"signal": "paid"}}, SignalRun(50, "a", "paid")),
        ({"workflow": "w"}, ChildEnded(50, TokenId(2), RunId("run.2"), "completed", {})),
    )
    for target, end in ends:
        slow = _workflow(
            {"split": {}, "quick": {}, "slow": target, "join": {}},
            {"from": "split", "to": "quick", "sibling_group": "g", "condition": "!has(input.stop)"},
            {"from": "split", "to": "slow", "sibling_group": "g", "condition": "!has(input.stop)"},
            {"from": "split", "to": "join", "priority": 2},
            {"from": "quick", "to": "join", "synchronization": join},
            {"from": "slow", "to": "join", "synchronization": join},
        )
        yield slow, (START, end)
        yield slow, (START, AlarmRang(200))
    held = _workflow(
        {"split": {}, "quick": {}, "slow": {"wait": {"seconds": 1}}, "join": {}},
        {"from": "split", "to": "quick", "sibling_group": "g"},
        {"from": "split", "to": "slow", "sibling_group": "g"},
        {"from": "quick", "to": "join", "synchronization": join},
        {"from": "slow", "to": "join", "synchronization": join},
    )
    yield held, (START, AlarmRang(200))


def _ends() -> Iterator[_Scenario]:
    """Runs that end otherwise than completed."""
    slow = _workflow({"work": {"task": RETRIED}}, timeout_ms=100)
    yield slow, (START, AlarmRang(200))
    yield slow, (CancelRun(0), START)
    waiting = _workflow({"wait": {"wait": {"seconds": 9}}}, timeout_ms=100)
    yield waiting, (START, AlarmRang(200))
    yield _workflow({"only": {}}), (START,)
    stuck = _workflow({"a": {}, "b": {}}, {"from": "a", "to": "b", "condition": "input.go"})
    yield stuck, (StartRun(0, {"go": False}),)
    chain = _workflow(
        {"a": {}, "wait": {"wait": {"seconds": 1}}, "b": {}}, {"from": "a", "to": "wait"}, {"from": "wait", "to": "b"}
    )
    yield chain, (StartRun(0, {}, credits=0),)
    yield chain, (StartRun(0, {}, credits=2), AlarmRang(1000))
    yield chain, (StartRun(0, {}, credits=9), CreditsEnded(10), AlarmRang(1000))
    yield chain, (StartRun(0, {}, credits=9), CreditsEnded(10))


def _flows() -> Iterator[_Scenario]:
    """Nodes of a flow: done, failed, skipped, held, and done again in a run that goes on."""

    def flow(on_error: str, **nodes: Json) -> JsonObject:
        names = list(nodes)
        wires: list[Json] = [{"from": a, "to": b} for a, b in pairwise(names)]
        return {"actions": {"work": MOCK}, "flows": {"f": {"nodes": nodes, "connections": wires, "on_error": on_error}}}

    chain = flow("continue", a={"type": "work"}, b={"type": "wait", "data": {"seconds": 1}})
    yield chain, (START, _started(5), _finished(10), AlarmRang(2000))
    waits = TaskFinished(10, TokenId(0), 1, {"_wait": {"seconds": 1}})
    yield chain, (START, waits, AlarmRang(1010))
    yield chain, (START, _started(5), waits, AlarmRang(1010))
    yield chain, (START, _finished(10, failure=FAILED), FORK, _finished(30, 1))
    beside: JsonObject = {
        "actions": {"work": MOCK},
        "flows": {"f": {"nodes": {"a": {"type": "work"}, "b": {"type": "work"}}, "on_error": "fail"}},
    }
    yield beside, (START, _started(5, 1), _finished(10, 0, failure=FAILED))
    yield flow("continue", a={"type": "divide"}), (START,)
    late = flow("continue", a={"type": "work"}, b={"type": "work", "run_when": "settled"})
    broke = (START, _finished(10, failure=FAILED))
    yield late, (*broke, _finished(20, 1), FORK)
    yield late, (*broke, _finished(20, 1, failure=FAILED), FORK)
    yield late, (*broke, FORK)
    yield late, (*broke, _started(15, 1), FORK)
    yield late, (*broke, TaskSuspended(20, TokenId(1), 1, 500, "nap"), FORK)
    yield late, (START, PauseRun(5), _finished(10, failure=FAILED), FORK)
    held: tuple[JsonObject, ...] = (
        {"type": "wait", "data": {"seconds": 1}},
        {"type": "gate", "data": {"title": "Go?"}},
    )
    for each in held:
        yield flow("continue", a={"type": "work"}, b={**each, "run_when": "settled"}), (*broke, FORK)
    handling: tuple[Json, ...] = ("route", {"default": {}})
    for on_error in handling:
        yield flow("continue", a={"type": "work", "on_error": on_error}), broke

"""A system clock that is set: lengths of time last as long as before, and points in time come when it shows them."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jeton.actor.starts import NewRun
from jeton.definitions import library_from
from jeton.definitions.bundle import bundle_of
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.definition.trigger import OnSchedule, Trigger
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import SignalRun
from jeton.model.state.run import TERMINAL
from tests.hosts.conftest import OpenHost
from tests.hosts.library import Definition
from tests.hosts.process import ROOT
from tests.hosts.trivial import HELD, TrivialWorkers

BEGIN_MS = 1_700_000_000_000
MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
JUMPS = [pytest.param(-HOUR_MS, id="an hour back"), pytest.param(DAY_MS, id="a day forward")]


class Clocks:
    """A clock that nobody can set, and the system clock."""

    def __init__(self) -> None:
        self._passed = 0
        self._begin = self._wall_begin = BEGIN_MS

    def now(self) -> int:
        return self._begin + self._passed

    def wall(self) -> int:
        return self._wall_begin + self._passed

    def let_pass(self, ms: int) -> None:
        self._passed += ms

    def jump(self, ms: int) -> None:
        self._wall_begin += ms

    def restart(self) -> None:
        """A new process takes its time from the system clock."""
        self._begin = self._wall_begin


def one(node: Definition) -> Definition:
    return {"initial_node": "a", "nodes": {"a": node}}


def shown(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat()


FAN_IN: Definition = {
    "initial_node": "split",
    "nodes": {"split": {}, "judge": {"task": "by_judge"}, "join": {}},
    "transitions": [
        {"from": "split", "to": "judge", "foreach": {"collection": "[1, 2]", "item_var": "item"}},
        {
            "from": "judge",
            "to": "join",
            "synchronization": {
                "merge": {"source": "_branch.output.n", "target": "state.ns"},
                "timeout_ms": MINUTE_MS,
                "on_timeout": "proceed_with_available",
            },
        },
    ],
}
FOREVER: Definition = {"wait": {"signal": "never"}}
LENGTHS: dict[str, Definition] = {
    "seconds": one({"wait": {"seconds": 60}}),
    "retry": one({"task": "shaky"}),
    "gate": one({"gate": {"title": "?", "timeout_ms": MINUTE_MS}}),
    "signal": one({"wait": {"signal": "go", "timeout_ms": MINUTE_MS}}),
    "task": one({"task": "held"}),
    "run": {**one(FOREVER), "timeout_ms": MINUTE_MS},
    "call": one({"workflow": "forever", "timeout_ms": MINUTE_MS}),
    "fan_in": FAN_IN,
}
BOTH: Definition = {
    "initial_node": "a",
    "nodes": {"a": {}, "length": {"wait": {"seconds": 60}}, "point": {"wait": {"until": "input.until"}}},
    "transitions": [{"from": "a", "to": "length"}, {"from": "a", "to": "point"}],
}
SOON: Definition = one({"wait": {"seconds": 0}})
AFTER_SIGNAL: Definition = {
    "initial_node": "a",
    "nodes": {"a": {"wait": {"signal": "go"}}, "b": {"wait": {"seconds": 60}}},
    "transitions": [{"from": "a", "to": "b"}],
}


def clocked() -> Library:
    act = {"steps": [{"action": "act"}]}
    retry = {"steps": [{"action": "act", "on_failure": "retry"}]}
    return library_from(
        {
            "workflows": {
                **LENGTHS,
                "forever": one(FOREVER),
                "until": one({"wait": {"until": "input.until"}}),
                "both": BOTH,
                "soon": SOON,
                "after_signal": AFTER_SIGNAL,
            },
            "flows": {
                "flow_length": {"nodes": {"w": {"type": "wait", "data": {"seconds": 60}}}, "connections": []},
                "flow_point": {
                    "nodes": {"w": {"type": "wait_until", "data": {"timestamp": shown(BEGIN_MS + MINUTE_MS)}}},
                    "connections": [],
                },
            },
            "tasks": {
                "held": {**act, "timeout_ms": MINUTE_MS},
                "by_judge": act,
                "shaky": {
                    **retry,
                    "retry": {"max_attempts": 2, "initial_delay_ms": MINUTE_MS, "max_delay_ms": MINUTE_MS},
                },
            },
            "actions": {"act": {"kind": "python", "implementation": {"function": "tests:nothing"}}},
        }
    ).require()


def answer(effect: StartTask) -> Json | TaskFailed:
    """Hold tasks that time out, and one of two branches; fail the first attempt of one that is retried."""
    match effect.node, effect.attempt, effect.token:
        case "a", 1, _:
            return TaskFailed("shaky", "not yet", retry=True)
        case "judge", _, 2:
            return HELD
        case _:
            return {"n": 1}


def held(effect: StartTask) -> Json | TaskFailed:
    return HELD


class Case:
    """A store on test clocks."""

    def __init__(self, open_host: OpenHost, host: SqliteHost, clocks: Clocks) -> None:
        self._open, self.host, self.clocks = open_host, host, clocks

    @classmethod
    async def open(cls, open_host: OpenHost, kind: str = "") -> "Case":
        clocks = Clocks()
        workers = TrivialWorkers(held if kind == "task" else answer)
        return cls(open_host, await open_host(workers, clock=clocks.now, wall=clocks.wall), clocks)

    async def start(self, workflow: str, input: Json = None) -> RunId:
        version = await self.host.deploy(bundle_of(clocked(), workflow), workflow)
        return (await self.host.start(NewRun(workflow, version, input or {}))).run

    async def reopen(self) -> None:
        await self.host.close(0.0)
        self.clocks.restart()
        workers = TrivialWorkers(answer)
        self.host = await self._open(workers, clock=self.clocks.now, wall=self.clocks.wall)

    async def settle(self) -> None:
        """Let everything that is due ring: a run that is due at once is the last of them."""
        await self.host.recover()
        await self.host.ended(await self.start("soon"))

    async def waits(self, run: RunId) -> bool:
        await self.settle()
        row = await self.host.reads.row(run)
        return row is not None and row.status not in TERMINAL


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("kind", [*LENGTHS, "flow_length"])
async def test_a_length_of_time_lasts_as_long_as_before(open_host: OpenHost, kind: str, jump: int) -> None:
    case = await Case.open(open_host, kind)
    run = await case.start(kind)
    case.clocks.let_pass(1000)
    await case.settle()
    case.clocks.jump(jump)
    assert await case.waits(run)
    case.clocks.let_pass(MINUTE_MS - 1001)
    assert await case.waits(run), "not a millisecond early"
    case.clocks.let_pass(1)
    await case.host.recover()
    row = await case.host.ended(run)
    assert row.ended_at == BEGIN_MS + MINUTE_MS


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("kind", ["until", "flow_point"])
async def test_a_point_in_time_comes_when_the_system_clock_shows_it(
    open_host: OpenHost, path: Path, kind: str, jump: int
) -> None:
    case = await Case.open(open_host)
    run = await case.start(kind, {"until": shown(BEGIN_MS + MINUTE_MS)})
    await case.settle()
    case.clocks.jump(jump)
    if jump < 0:
        case.clocks.let_pass(MINUTE_MS - jump - 1)
        assert await case.waits(run), "not a millisecond early"
        case.clocks.let_pass(1)
    await case.host.recover()
    await case.host.ended(run)
    assert case.clocks.wall() >= BEGIN_MS + MINUTE_MS
    assert case.clocks.now() == BEGIN_MS + max(0, MINUTE_MS - jump) * (jump < 0)
    await case.host.close(0.0)
    assert verify(path).ok


@pytest.mark.parametrize("kind", ["until", "flow_point"])
async def test_a_point_in_time_that_the_system_clock_shows_again_later_is_waited_for(
    open_host: OpenHost, kind: str
) -> None:
    case = await Case.open(open_host)
    case.clocks.let_pass(HOUR_MS)
    case.clocks.jump(-HOUR_MS)
    run = await case.start(kind, {"until": shown(BEGIN_MS + MINUTE_MS)})
    assert await case.waits(run), "by the time of the process it has passed"
    case.clocks.let_pass(MINUTE_MS)
    await case.host.recover()
    await case.host.ended(run)


async def test_a_run_that_waits_for_both_goes_on_with_each_in_its_time(open_host: OpenHost) -> None:
    case = await Case.open(open_host)
    run = await case.start("both", {"until": shown(BEGIN_MS + 30_000)})
    await case.settle()
    case.clocks.jump(-HOUR_MS)
    case.clocks.let_pass(MINUTE_MS)
    await case.settle()
    (still,) = (await live_nodes(case.host, run)).items()
    assert still == ("point", BEGIN_MS + 30_000), "the length is over, though its number is the larger one"
    case.clocks.let_pass(HOUR_MS)
    await case.host.recover()
    await case.host.ended(run)


async def live_nodes(host: SqliteHost, run: RunId) -> dict[str, int | None]:
    live = await host.reads.live(run)
    assert live is not None
    return {token.node: token.phase.wakes_at for token in live.state.tokens.values()}


@pytest.mark.parametrize("jump", JUMPS)
async def test_lengths_that_began_after_the_jump_last_as_long_too(open_host: OpenHost, jump: int) -> None:
    case = await Case.open(open_host)
    case.clocks.jump(jump)
    run = await case.start("seconds")
    case.clocks.let_pass(MINUTE_MS - 1)
    assert await case.waits(run)
    case.clocks.let_pass(1)
    await case.host.recover()
    await case.host.ended(run)


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_length_that_begins_with_a_message_of_another_process_lasts_as_long(
    open_host: OpenHost, path: Path, jump: int
) -> None:
    case = await Case.open(open_host)
    run = await case.start("after_signal")
    await case.settle()
    case.clocks.jump(jump)
    other = await SqliteHost.open(path, workers=None, owner=False, clock=case.clocks.wall)
    await other.deliver(run, SignalRun(other.now(), "s", "go"))
    await other.close()
    assert await case.waits(run)
    case.clocks.let_pass(MINUTE_MS - 1)
    assert await case.waits(run), "its own clock is another one"
    case.clocks.let_pass(1)
    await case.host.recover()
    await case.host.ended(run)


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("when", ["before the restart", "while the store is closed"])
async def test_after_a_restart_the_system_clock_says_how_much_is_left(
    open_host: OpenHost, jump: int, when: str
) -> None:
    case = await Case.open(open_host)
    length = await case.start("seconds")
    point = await case.start("until", {"until": shown(BEGIN_MS + MINUTE_MS)})
    await case.settle()
    if when == "before the restart":
        case.clocks.jump(jump)
        await case.settle()
        await case.reopen()
    else:
        await case.host.close(0.0)
        case.clocks.jump(jump)
        await case.reopen()
    if jump < 0:
        case.clocks.let_pass(MINUTE_MS - jump - 1)
        assert await case.waits(length)
        assert await case.waits(point)
        case.clocks.let_pass(1)
    await case.host.recover()
    assert {(await case.host.ended(run)).status for run in (length, point)} == {"completed"}


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_schedule_follows_the_system_clock_and_what_it_starts_does_not(open_host: OpenHost, jump: int) -> None:
    case = await Case.open(open_host)
    await case.host.deploy(bundle_of(clocked(), "seconds"), "seconds")
    await case.host.deploy_triggers({"daily": Trigger("daily", "seconds", OnSchedule("@daily", missed="all"))})
    await case.host.idle()
    case.clocks.jump(jump)
    if jump < 0:
        case.clocks.let_pass(DAY_MS)
    await case.host.idle()
    (firing,) = await case.host.reads.firings()
    assert firing.run is not None
    assert firing.source is not None
    assert datetime.fromisoformat(firing.source).timestamp() * 1000 <= case.clocks.wall()
    case.clocks.let_pass(MINUTE_MS - 1)
    assert await case.waits(firing.run)
    case.clocks.let_pass(1)
    await case.host.recover()
    await case.host.ended(firing.run)


SET_CLOCK = """
import asyncio, sys, time
from jeton.actor.starts import NewRun
from jeton.hosts.sqlite import SqliteHost
from tests.hosts.library import WAIT, library
from tests.hosts.test_clocks import one, shown
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work

set_by, real = 0, time.time_ns
time.time_ns = lambda: real() + set_by
time.time = lambda: time.time_ns() / 1e9

async def main():
    global set_by
    host = await SqliteHost.open(sys.argv[1], workers=TrivialWorkers(work))
    both = library(w=WAIT, u=one({"wait": {"until": "input.until"}}))
    versions = {name: await host.deploy(both, name) for name in ("w", "u")}
    hour = (await host.start(NewRun("w", versions["w"], {"s": 3600}))).run
    second = (await host.start(NewRun("w", versions["w"], {"s": 1}))).run
    until = {"until": shown(time.time() * 1000 + 3_600_000)}
    point = (await host.start(NewRun("u", versions["u"], until))).run
    set_by = -3600 * 10**9
    print((await host.ended(second)).status)
    set_by = 86400 * 10**9
    print((await host.ended(point)).status)
    print((await host.reads.row(hour)).status)
    await host.close(0.0)

asyncio.run(main())
"""


def test_a_process_whose_system_clock_is_set_goes_on_in_time(path: Path) -> None:
    words = [sys.executable, "-c", SET_CLOCK, str(path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["completed", "completed", "waiting"], done.stderr
    assert "the system clock was set by -3600.0 s" in done.stderr

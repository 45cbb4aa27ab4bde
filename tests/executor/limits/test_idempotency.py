"""`idempotency: {key, ttl_ms}`: once per key, across runs and crashes."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

import jeton
from jeton.executor.limits.idempotency import Claimed, Completed, IdempotencyStore, MemoryIdempotencyStore
from jeton.hosts.sqlite import SqliteHost
from jeton.model.definition.task import Action, Idempotency
from tests.executor.actions.given_action import Bench, failed


class Time:
    def __init__(self) -> None:
        self.now = 1_000

    def __call__(self) -> int:
        return self.now


@asynccontextmanager
async def keys_of(kind: str, folder: Path, clock: Time) -> AsyncGenerator[IdempotencyStore]:
    if kind == "memory":
        yield MemoryIdempotencyStore(clock)
        return
    host = await SqliteHost.open(folder / "store.db", workers=None, clock=clock)
    yield host.idempotency
    await host.close(0)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_the_life_of_a_key(kind: str, tmp_path: Path) -> None:
    clock = Time()
    async with keys_of(kind, tmp_path, clock) as keys:
        assert await keys.begin("k", "call-1") == Claimed("call-1")
        assert await keys.begin("k", "call-2") == Claimed("call-1"), "begun and not answered: the same call again"
        await keys.forget("k")
        assert await keys.begin("k", "call-3") == Claimed("call-3"), "it failed: the next is another"
        await keys.finish("k", {"a": [1]}, 500)
        assert await keys.begin("k", "call-4") == Completed({"a": [1]})
        clock.now += 499
        assert await keys.begin("k", "call-5") == Completed({"a": [1]})
        clock.now += 1
        assert await keys.begin("k", "call-6") == Claimed("call-6"), "it has expired"
        await keys.finish("k", None, None)
        clock.now += 10**12
        assert await keys.begin("k", "call-7") == Completed(None), "without a time it is for ever"
        assert await keys.begin("other", "call-8") == Claimed("call-8")


async def test_keys_are_there_after_a_restart_and_expired_ones_go(tmp_path: Path) -> None:
    clock = Time()
    async with keys_of("sqlite", tmp_path, clock) as keys:
        for n in range(120):
            await keys.begin(f"k{n}", "call")
            await keys.finish(f"k{n}", n, 10 if n else None)
        await keys.begin("under way", "call-1")
    clock.now += 100
    async with keys_of("sqlite", tmp_path, clock) as keys:
        assert await keys.begin("k0", "again") == Completed(0)
        assert await keys.begin("under way", "call-2") == Claimed("call-1")
        for n in range(3):
            await keys.begin(f"new{n}", "call")
    host = await SqliteHost.open(tmp_path / "store.db", workers=None, owner=False)
    with host._store.snapshot() as db:  # pyright: ignore[reportPrivateUsage]  (nobody else can count rows)
        assert db.execute("select count(*) from once").get == 5
    await host.close(0)


class Till:
    """Counts what it was asked to do."""

    def __init__(self, name: str) -> None:
        self.keys: list[str] = []
        self.fail = False
        self.wait: asyncio.Event | None = None

        @jeton.action(name=name)
        async def charge(order: int) -> dict[str, int]:
            self.keys.append(jeton.current_call().idempotency_key)
            if self.wait is not None:
                await self.wait.wait()
            if self.fail:
                raise ValueError("declined")
            return {"receipt": order * 10 + len(self.keys)}

        self.action = msgspec.structs.replace(charge.action, idempotency=Idempotency("input.order"))


async def test_a_second_run_gets_what_the_first_was_given(bench: Bench) -> None:
    till = Till("once_1")
    answers = [await bench.call(till.action, {"order": 4}, run=run) for run in ("r1", "r2", "r1")]
    assert answers == [{"receipt": 41}] * 3
    assert await bench.call(till.action, {"order": 5}) == {"receipt": 52}, "another key is another call"


async def test_two_at_the_same_time_make_one_call(bench: Bench) -> None:
    till = Till("once_2")
    till.wait = asyncio.Event()
    calls = [asyncio.ensure_future(bench.call(till.action, {"order": 4}, run=f"r{n}")) for n in range(5)]
    await asyncio.sleep(0.01)
    till.wait.set()
    assert await asyncio.gather(*calls) == [{"receipt": 41}] * 5
    assert len(till.keys) == 1


async def test_a_call_that_failed_may_be_made_again(bench: Bench) -> None:
    till = Till("once_3")
    till.fail = True
    assert failed(await bench.call(till.action, {"order": 4}, run="r1")).type == "ValueError"
    till.fail = False
    assert await bench.call(till.action, {"order": 4}, run="r2") == {"receipt": 42}
    assert till.keys == ["r1:7:1:s0", "r2:7:1:s0"]


async def test_a_call_that_was_cut_off_is_made_again_as_the_very_same(bench: Bench) -> None:
    till = Till("once_4")
    till.wait = asyncio.Event()
    first = asyncio.ensure_future(bench.call(till.action, {"order": 4}, run="r1"))
    await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.wait([first])
    till.wait.set()
    assert await bench.call(till.action, {"order": 4}, run="r2") == {"receipt": 42}
    assert till.keys == ["r1:7:1:s0", "r1:7:1:s0"], "the other side can tell that it is a repetition"


@pytest.mark.parametrize(
    ("key", "then"),
    [
        pytest.param("input.nowhere", "no_idempotency_key", id="a key that is missing"),
        pytest.param("1 / 0", "expression_error", id="one that cannot be worked out"),
    ],
)
async def test_an_action_without_its_key_is_not_run(bench: Bench, key: str, then: str) -> None:
    given = Action("mock", idempotency=Idempotency(key))
    assert failed(await bench.call(given)).type == then


async def test_keys_belong_to_their_action(bench: Bench) -> None:
    answers = [
        await bench.call(Action("mock", {"output": {"n": n}}, idempotency=Idempotency("'same'"))) for n in (1, 2, 1)
    ]
    assert answers == [{"n": 1}, {"n": 2}, {"n": 1}]


async def test_through_the_engine_across_runs_and_restarts(tmp_path: Path) -> None:
    till = Till("once_5")
    library: dict[str, Any] = {
        "actions": {"charge": msgspec.to_builtins(till.action)},
        "workflows": {"w": {"initial_node": "n", "nodes": {"n": {"action": "charge"}}}},
    }
    for _ in range(2):
        async with jeton.open(tmp_path / "store.db") as engine:
            await engine.deploy(library)
            for _ in range(2):
                run = await engine.start("w", {"order": 4})
                assert (await run.result()).status == "completed"
    assert len(till.keys) == 1


CRASHING = """
import asyncio, os, sys
import jeton

@jeton.action(name="charge")
async def charge(order: int) -> dict[str, int]:
    with open(sys.argv[2], "a") as note:
        note.write(jeton.current_call().idempotency_key.partition(":")[2] + "\\n")
    if sys.argv[3] == "crash":
        os.kill(os.getpid(), 9)
    return {"receipt": order}

action = {"kind": "python", "implementation": {"function": "charge"}, "idempotency": {"key": "input.order"}}
library = {"actions": {"pay": action}, "workflows": {"w": {"initial_node": "n", "nodes": {"n": {"action": "pay"}}}}}

async def main():
    async with jeton.open(sys.argv[1]) as engine:
        await engine.deploy(library)
        run = await engine.start("w", {"order": 4}, key=sys.argv[4])
        assert (await run.result()).status == "completed"

asyncio.run(main())
"""


def test_a_crash_in_the_middle_repeats_the_very_same_call_and_then_never_again(tmp_path: Path) -> None:
    note = tmp_path / "note"
    for mode, key in (("crash", "a"), ("work", "a"), ("crash", "b")):
        words = [sys.executable, "-c", CRASHING, str(tmp_path / "store.db"), str(note), mode, key]
        done = subprocess.run(words, timeout=60)
        assert done.returncode == (-9 if (mode, key) == ("crash", "a") else 0)
    assert note.read_text().splitlines() == ["0:1:n", "0:1:n"], "the third would have crashed, and was not called"

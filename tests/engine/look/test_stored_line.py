"""The line of positions in a file: beside its owner, after the owner's death, after pruning, in copies."""

import asyncio
import subprocess
import sys
from pathlib import Path

import jeton
from jeton.actor.retention import Rule
from jeton.engine.look.position import LineEntry, Position
from jeton.engine.stores import open_host
from jeton.hosts.sqlite.tools.backup import backup
from jeton.hosts.sqlite.tools.verify import verify
from tests.engine.waits import LIBRARY, parked

ROOT = Path(__file__).parents[3]
KILLED = """
import asyncio, os, sys
import jeton
from tests.engine.waits import LIBRARY

async def main():
    async with jeton.open(sys.argv[1]) as engine:
        await engine.deploy(LIBRARY)
        for n in range(3):
            await (await engine.start("slip", {"n": 7})).result()
        print(await engine.head(), flush=True)
        os.kill(os.getpid(), 9)

asyncio.run(main())
"""


async def stored(path: Path, after: Position | str | None = None) -> list[LineEntry]:
    async with jeton.open(path, owner=False) as engine:
        return [entry async for entry in engine.line(after)]


async def test_a_reader_goes_on_behind_its_position_after_the_death_of_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=ROOT, capture_output=True, text=True)
    position = done.stdout.strip()
    before = await stored(path)
    assert await stored(path, position) == []
    async with jeton.open(path, grace_s=0) as engine:
        run = await engine.start("slip", {"n": 7})
        await run.result()
        later = [entry async for entry in engine.line(position)]
    assert {entry.run for entry in later} == {run.id}
    assert await stored(path) == [*before, *later]


async def test_a_reader_beside_the_owner_is_told_of_new_entries(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    async with jeton.open(path, grace_s=0) as engine, jeton.open(path, owner=False) as beside:
        await engine.deploy(LIBRARY)
        run = await parked(engine, "outer")
        reader = await beside.line_reader(run.id)
        seen = await reader.read()
        assert reader.caught_up
        waiting = asyncio.create_task(reader.wait())
        await engine.answer(run.id, {"ok": True})
        await asyncio.wait_for(waiting, 20)
        await run.result()
        while not reader.ended:
            seen += await reader.read()
            await asyncio.wait_for(reader.wait(), 20)
        assert seen == [entry async for entry in engine.line(run=run.id)]


async def test_no_position_is_given_again_when_the_newest_run_was_pruned_and_the_store_opened_anew(
    tmp_path: Path,
) -> None:
    path, copy = tmp_path / "runs.db", tmp_path / "copy.db"
    given: list[int] = []
    for _ in range(3):
        async with open_host(path, workers=None, durability="full", owner=True, grace_s=0) as host:
            engine = jeton.Engine(host)
            await engine.deploy(LIBRARY)
            run = await engine.start("ask", {"what": "it"})
            await run.cancel()
            given += [entry.position async for entry in engine.line()]
            assert (await host.prune([Rule("run", 0)])).runs == 1
    assert given == list(range(1, len(given) + 1))
    backup(path, copy, 0)
    for each in (path, copy):
        assert verify(each).ok
        async with jeton.open(each, owner=False) as engine:
            assert await engine.head() == Position(len(given) + 1)

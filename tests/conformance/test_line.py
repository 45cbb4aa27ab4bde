"""The line of positions, on every host: all runs in the order of their commits, from any position on, each once."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from jeton.actor.retention import Rule
from jeton.engine.engine import Engine
from jeton.engine.look import line as line_module
from jeton.engine.look.position import LineEntry, Position
from jeton.model.failure import Refused
from jeton.model.json import JsonObject
from tests.conformance.hosts import Opened, postgres, simulated, sqlite
from tests.engine.waits import LIBRARY

HOSTS = [
    pytest.param(sqlite, id="sqlite"),
    pytest.param(postgres, id="postgres"),
    pytest.param(simulated, id="simulated"),
]


@pytest.fixture(params=HOSTS)
async def opened(request: pytest.FixtureRequest) -> AsyncGenerator[Opened, None]:
    async with request.param() as host:
        await host.engine.deploy(LIBRARY)
        yield host


async def some_runs(engine: Engine) -> tuple[str, str]:
    """Runs that went on side by side: one that called others, and one more."""
    outer, other = await engine.start("outermost"), await engine.start("slip", {"n": 7})
    await engine.idle()
    await engine.start("slip", {"n": 3})
    await engine.answer(outer.id, {"ok": True})
    await outer.result()
    return outer.id, other.id


async def read(engine: Engine, run: str | None = None, after: Position | str | None = None) -> list[LineEntry]:
    return [entry async for entry in engine.line(after, run=run)]


def told(entries: list[LineEntry]) -> list[tuple[Position, JsonObject]]:
    return [each for entry in entries for each in entry.events()]


async def test_the_line_has_every_entry_of_every_run_once(opened: Opened) -> None:
    engine = opened.engine
    await some_runs(engine)
    entries = await read(engine)
    places = [entry.position for entry in entries]
    assert places == sorted(set(places))
    for run in {entry.run for entry in entries}:
        own = [entry.entry for entry in entries if entry.run == run]
        assert own == [entry async for entry in engine.journal(run)]
    assert {entry.run for entry in entries} >= {row.run_id for row in await engine.list()}
    assert await engine.head() == Position(places[-1] + 1)


@pytest.mark.parametrize("short", [0, 10_000], ids=["by the tree", "by the line"])
@pytest.mark.parametrize("whole", [True, False], ids=["all runs", "one tree"])
async def test_a_stream_goes_on_from_any_position(
    opened: Opened, whole: bool, short: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_module, "SHORT_LINE", short)
    monkeypatch.setattr(line_module, "PAGE", 3)
    outer, _ = await some_runs(opened.engine)
    run = None if whole else outer
    events = told(await read(opened.engine, run))
    assert {str(event["run_id"]).split(".")[0] for _, event in events} >= {outer}
    assert whole or {str(event["run_id"]) for _, event in events} == {outer, f"{outer}.0", f"{outer}.0.0"}
    for number, (position, _) in enumerate(events, 1):
        assert told(await read(opened.engine, run, str(position))) == events[number:]


async def test_a_position_is_found_by_the_number_of_an_event(opened: Opened) -> None:
    outer, _ = await some_runs(opened.engine)
    events = told(await read(opened.engine, outer))
    own = [(position, event["seq"]) for position, event in events if event["run_id"] == outer]
    assert [seq for _, seq in own] == list(range(len(own)))
    for position, seq in own:
        assert await opened.engine.position(outer, int(str(seq))) == position
    assert await opened.engine.position(outer, -1) == Position(1)


async def test_a_follower_sees_what_is_committed_until_the_tree_has_ended(opened: Opened) -> None:
    engine = opened.engine
    run = await engine.start("outermost")
    await engine.idle()
    seen: list[LineEntry] = []

    async def follow() -> None:
        async for entry in engine.line(run=run.id, follow=True):
            seen.append(entry)

    following = asyncio.create_task(follow())
    await engine.start("slip", {"n": 7})
    await engine.answer(run.id, {"ok": True})
    await asyncio.wait_for(following, 20)
    assert seen == await read(engine, run.id)
    assert {entry.run for entry in seen} == {run.id, f"{run.id}.0", f"{run.id}.0.0"}


async def test_a_cancelled_tree_is_followed_to_the_end_of_its_last_run(opened: Opened) -> None:
    run = await opened.engine.start("outermost")
    await opened.engine.idle()
    await run.cancel()
    entries = [entry async for entry in opened.engine.line(run=run.id, follow=True)]
    ends = [event["run_id"] for _, event in told(entries) if event["type"] == "run.cancelled"]
    assert sorted(map(str, ends)) == [run.id, f"{run.id}.0", f"{run.id}.0.0"]
    reader = await opened.engine.line_reader(run.id, Position(entries[-1].position + 1))
    assert await reader.read() == []
    assert reader.ended


async def test_a_follower_of_all_runs_is_woken_by_each_commit(opened: Opened) -> None:
    engine = opened.engine
    reader = await engine.line_reader(after=await engine.head())
    assert await reader.read() == []
    assert reader.caught_up
    waiting = asyncio.create_task(reader.wait())
    run = await engine.start("slip", {"n": 7})
    await asyncio.wait_for(waiting, 20)
    assert (await reader.read())[0].run == run.id


async def test_positions_are_not_given_again_and_readers_behind_pruned_history_are_told(opened: Opened) -> None:
    engine, host = opened.engine, opened.host
    await some_runs(engine)
    await engine.idle()
    head = await engine.head()
    before = {row.run_id for row in await engine.list()}
    assert (await host.prune([Rule("run", 0)])).runs == len(before)
    run = await engine.start("slip", {"n": 7})
    await run.result()
    entries = await read(engine)  # whoever names no position is given what there is
    assert {entry.run for entry in entries} == {run.id}
    assert entries[0].position >= head.entry
    assert await read(engine, after=head) == entries
    with pytest.raises(Refused) as refused:
        await read(engine, after=Position(head.entry - 1))
    assert refused.value.code == "history_pruned"


async def test_a_pruned_history_of_one_run_is_told_to_its_readers_only(opened: Opened) -> None:
    engine, host = opened.engine, opened.host
    done, parked = await engine.start("slip", {"n": 7}), await engine.start("ask", {"what": "it"})
    await engine.idle()
    assert (await host.prune([Rule("history", 0)])).entries > 0
    assert {entry.run for entry in await read(engine, parked.id, Position(1))} == {parked.id}
    with pytest.raises(Refused) as refused:
        await read(engine, done.id)
    assert refused.value.code == "history_pruned"


async def test_a_position_that_the_line_has_not_reached_is_refused(opened: Opened) -> None:
    run = await opened.engine.start("slip", {"n": 7})
    await run.result()
    head = await opened.engine.head()
    for ahead in (Position(head.entry + 1), Position(head.entry, 1)):
        for of in (None, run.id):
            with pytest.raises(Refused) as refused:
                await read(opened.engine, of, ahead)
            assert refused.value.code == "bad_cursor"

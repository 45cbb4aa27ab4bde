"""Conversations get as long and as many as they are to be measured, and are measured."""

from pathlib import Path

import jeton
from benchmarks.report import PAGE, table
from benchmarks.talk import CLAIMS, reopened, turns, wait


async def test_turns_are_measured_beside_the_tenth(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    found = await turns(store, 12, pairs=1)
    assert all(value > 0 for value in found.values())
    assert {name for claim in CLAIMS[:3] for name in (claim.figure, claim.beside)} == {*found}
    async with jeton.open(store) as engine:
        assert sorted(row.turns for row in await engine.conversations()) == [10, 13]


async def test_conversations_wait_and_another_process_opens_their_store(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    await wait(store, 3)
    async with jeton.open(store) as engine:
        assert [row.status for row in await engine.conversations()] == ["waiting"] * 3
        assert len(await engine.gates()) == 3
    assert all(value > 0 for value in reopened(store, times=1))


def test_the_page_has_the_last_figures() -> None:
    titles = [line.split("|")[1].strip() for line in table(dict.fromkeys(FIGURES, 1.0), CLAIMS).splitlines()[2:6]]
    assert titles == [claim.title for claim in CLAIMS]
    assert all(f"| {title} |" in PAGE.read_text() for title in titles)


FIGURES = [name for claim in CLAIMS for name in (claim.figure, claim.beside) if name is not None]

"""The stopwatches are on functions that exist, and that a node really comes through."""

import asyncio

from benchmarks.stopwatch import Stopwatch
from benchmarks.where import COMMIT, ENCODING, HAND_OFF, REST, ROWS, STATEMENTS, WAITING, chains, table, watching
from jeton.hosts.sql.loop.runs import Runs


def test_every_row_has_its_share() -> None:
    turn = Runs._step  # pyright: ignore[reportPrivateUsage]
    watches = Stopwatch(REST), Stopwatch(HAND_OFF)
    with watching(*watches):
        assert Runs._step is not turn  # pyright: ignore[reportPrivateUsage]
        wall, (loop, writer) = asyncio.run(chains(3, watches))
        for _ in range(5):  # on a busy machine the writer may never be waited for
            if HAND_OFF not in writer:
                wall, (loop, writer) = asyncio.run(chains(3, watches))
    assert Runs._step is turn, "and nothing stays behind"  # pyright: ignore[reportPrivateUsage]
    assert set(loop) == set(ROWS) - {STATEMENTS, COMMIT}
    assert set(writer) == {ENCODING, HAND_OFF, STATEMENTS, COMMIT, WAITING}
    assert all(value > 0 for value in (wall, *loop.values(), *writer.values()))


def test_the_table_has_a_row_for_each_place_and_both_sums() -> None:
    loop: dict[str, float] = dict.fromkeys(ROWS, 2.0)
    writer = {row: 3.0 if row == WAITING else 0.0 for row in ROWS}
    lines = table(20.5, [loop, writer]).splitlines()
    assert lines[2] == "| planning | 2.0 |  |"
    assert lines[-2:] == [
        f"| **together** | {2.0 * len(ROWS):.1f} | 3.0 |",
        "| **wall time without the stopwatch** | 20.5 | 20.5 |",
    ]

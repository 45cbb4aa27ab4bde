"""Every thing that grows can be made, and measured; the picture is one."""

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.adapter import Peer
from benchmarks.growth import PANELS, measure_point
from benchmarks.growth_report import Point, chart, table

POINTS = [
    Point("tokens", 10, "message, µs", 200.0, 1.0),
    Point("tokens", 1_000, "message, µs", 300.0, 1.5),
    Point("runs", 0, "W2 node, µs", 150.0, 1.0),
    Point("runs", 0, "opening, ms", 5.0, 0.9),
]


@pytest.mark.parametrize(
    ("panel", "size", "runs", "status", "tokens"),
    [
        pytest.param("tokens", 15, 1, "waiting", {"start": 1, "hold": 1, "nap": 5}, id="five beside the ten"),
        pytest.param("history", 3, 1, "waiting", {"start": 1, "hold": 2, "begin": 1, "tick": 3}, id="three iterations"),
        pytest.param("ended", 4, 4, "completed", {"n0": 1}, id="four runs that ended"),
        pytest.param("parked", 5, 5, "waiting", {"nap": 1}, id="five runs that wait"),
    ],
)
async def test_a_store_has_what_it_is_to_be_measured_with(
    panel: str, size: int, runs: int, status: str, tokens: dict[str, int], tmp_path: Path
) -> None:
    peer = Peer()
    await peer.setup(tmp_path)
    measure = await PANELS[panel].prepare(peer, size)
    stored = await peer.engine.list()
    assert [run.status for run in stored] == [status] * runs
    assert Counter(token.node for token in await peer.engine.tokens(stored[0].run_id)) == tokens
    assert all(value > 0 for value in (await measure()).values())
    await peer.teardown()


def test_a_point_is_measured_beside_the_smallest_in_processes_of_their_own() -> None:
    (point,) = measure_point("tokens", 12, rounds=1)
    assert (point.panel, point.size, point.figure) == ("tokens under way in a run", 12, "message, µs")
    assert point.value > 0


def test_a_row_a_size_and_a_table_a_thing() -> None:
    assert table(POINTS) == (
        "| tokens | message, µs |\n| ---: | ---: |\n| 10 | 200 (×1.00) |\n| 1,000 | 300 (×1.50) |\n"
        "\n"
        "| runs | W2 node, µs | opening, ms |\n| ---: | ---: | ---: |\n| 0 | 150 (×1.00) | 5.00 (×0.90) |\n"
    )


def test_the_picture_has_a_panel_a_thing_and_its_sizes() -> None:
    picture = ElementTree.fromstring(chart(POINTS))
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text in ("tokens", "runs", "10", "1,000", "message", "W2 node", "opening")] == [
        "tokens",
        "10",
        "1,000",
        "message",
        "runs",
        "W2 node",
    ]
    lines = [line.get("points") for line in picture.iter("{http://www.w3.org/2000/svg}polyline")]
    assert lines == ["0,75 270,38", "0,75"]

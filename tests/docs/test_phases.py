"""The phases that docs/architecture.md shows are those of the code."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from jeton.model.definition.workflow import Library
from jeton.testing import World
from tests.docs.markdown import ROOT
from tests.simulation import scenario
from tests.simulation.stories import flows, waits
from tools.draw_phases import PAGE, Arrows, arrows_of, blocks, diagrams, redrawn
from tools.phase_scenarios import History

SEEDS = 20


def test_the_page_shows_what_is_drawn() -> None:
    text = PAGE.read_text()
    assert redrawn(text) == text, "run `make docs`"


def test_no_state_is_left_out() -> None:
    assert {name for name, _ in blocks()} == {"token", "run", "gate", "node", "firing"}


def test_every_refusal_of_a_delivery_is_drawn() -> None:
    """A refusal's code is the first thing it is made with."""
    codes: set[str] = set()
    for file in (ROOT / "src").rglob("*.py"):
        codes.update(re.findall(r"\bRefusal\(\s*\"(\w+)\"", file.read_text()))
    assert codes
    assert diagrams()["firing"].arrows["delivered", "refused"] == codes


def histories_of(world: World) -> Iterator[History]:
    for run in world.store.runs():
        decisions = tuple(decision for entry in scenario.journal(world, run) for decision in entry.decisions)
        yield History(run, world.program(run), decisions)


@pytest.fixture(scope="module")
def known() -> dict[str, Arrows]:
    return {name: diagram.arrows for name, diagram in diagrams().items()}


def unknown(known: dict[str, Arrows], world: World) -> list[str]:
    """Arrows that the histories of a world show, and no diagram has."""
    return [
        f"{kind}: {source} --> {target}: {name}"
        for kind, arrows in arrows_of(histories_of(world)).items()
        for (source, target), names in arrows.items()
        for name in names - known[kind].get((source, target), set())
    ]


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> list[World]:
    """Every world that a scenario makes."""
    made: list[World] = []

    class Kept(World):
        def __init__(self, library: Library, **given: Any) -> None:
            super().__init__(library, **given)
            made.append(self)

    for module in (scenario, waits, flows):
        monkeypatch.setattr(module, "World", Kept)
    return made


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_runs_show_no_other_arrows(seed: int, known: dict[str, Arrows], worlds: list[World]) -> None:
    scenario.play(scenario.scenario_from(seed))
    waits.play_waits(waits.waits_from(seed))
    flows.play_flow(flows.flows_from(seed))
    assert len(worlds) == 3
    assert [arrow for world in worlds for arrow in unknown(known, world)] == []

"""The collector's thresholds belong to the program: they come back, and what it chose itself stays."""

import gc
from collections.abc import Generator
from pathlib import Path

import pytest

import jeton
from jeton.engine import collecting
from jeton.engine.collecting import ALLOCATIONS


@pytest.fixture(autouse=True)
def thresholds(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    monkeypatch.setattr(collecting, "_open", 0)  # whatever engines other tests of this process have left open
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


async def test_it_looks_less_often_until_the_last_engine_is_closed(tmp_path: Path) -> None:
    gc.set_threshold(700, 10, 10)
    async with jeton.open(tmp_path / "a.db"):
        async with jeton.open(tmp_path / "b.db"):
            assert gc.get_threshold() == (ALLOCATIONS, 10, 10)
        assert gc.get_threshold() == (ALLOCATIONS, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("chosen", [0, 100_000], ids=["switched off", "less often still"])
async def test_what_the_program_chose_stays(tmp_path: Path, chosen: int) -> None:
    gc.set_threshold(chosen, 10, 10)
    async with jeton.open(tmp_path / "a.db"):
        assert gc.get_threshold() == (chosen, 10, 10)
    assert gc.get_threshold() == (chosen, 10, 10)

"""What the tests of real actions share."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from jeton.executor.artifacts import Artifacts
from tests.executor.actions.given_action import Bench


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncGenerator[Bench]:
    bench = Bench(tmp_path, artifacts=Artifacts(tmp_path / "artifacts"))
    yield bench
    await bench.close()

"""What a host tells of itself and of its runs, on every host."""

from collections import Counter
from collections.abc import AsyncGenerator

import pytest

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


async def test_a_census_counts_every_run_at_a_position_of_the_line(opened: Opened) -> None:
    engine = opened.engine
    outer = await engine.start("outermost")
    await engine.idle()
    for _ in range(2):
        await (await engine.start("slip", {"n": 3})).result()
    found = await engine.census()
    records = await engine.list(limit=100)
    assert found.runs == Counter((record.workflow, record.status) for record in records)
    assert sum(count for (workflow, _), count in found.runs.items() if workflow == "slip") == 2
    assert {run: each[:2] for run, each in found.under_way.items()} == {
        record.run_id: (record.workflow, record.status) for record in records if record.completed_at is None
    }
    assert outer.id in found.under_way
    assert found.gates == len(await engine.gates())
    assert [entry async for entry in engine.line(await engine.head())] == []
    assert found.position == (await engine.head()).entry - 1


async def test_a_host_that_can_write_has_not_failed(opened: Opened) -> None:
    await (await opened.engine.start("slip", {"n": 3})).result()
    found = await opened.engine.vitals()
    assert found.failed is None
    assert min(found.commits, found.commit_s, found.commit_entries, found.inbox, found.bytes) >= 0

"""A folder with a library and a store for each test; for tests marked with `both`, also one behind a server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.served import ServedVerbs
from tests.cli.verbs import Verbs


@pytest.fixture
def jeton(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Verbs]:
    if getattr(request, "param", "store") == "store":
        yield Verbs(tmp_path)
        return
    served = ServedVerbs(tmp_path)
    yield served
    served.stop()

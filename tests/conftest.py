"""What every test shares."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.executor.secrets.canary import found_in

# A deadline per example measures the machine, not the code; a failure prints what reproduces it. `make test` tries the
# same examples each time, so that it tells about a change; `make long` sets JETON_EXPLORE and looks for new ones.
settings.register_profile("jeton", deadline=None, print_blob=True, derandomize="JETON_EXPLORE" not in os.environ)
settings.load_profile("jeton")


@pytest.fixture(scope="session", autouse=True)
def canary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """After the last test: no store, log or artifact that any of them wrote has the secret in it."""
    yield
    found = list(found_in(tmp_path_factory.getbasetemp()))
    assert not found, f"a secret was written to {found}"

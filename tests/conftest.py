"""What every test shares."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.executor.secrets.canary import found_in

# A deadline per example measures the machine, not the code; a failure prints what reproduces it.
settings.register_profile("jeton", deadline=None, print_blob=True)
settings.load_profile("jeton")


@pytest.fixture(scope="session", autouse=True)
def canary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """After the last test: no store, log or artifact that any of them wrote has the secret in it."""
    yield
    found = list(found_in(tmp_path_factory.getbasetemp()))
    assert not found, f"a secret was written to {found}"

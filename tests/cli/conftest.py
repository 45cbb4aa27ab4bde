"""A folder with a library and a store for each test."""

from pathlib import Path

import pytest

from tests.cli.verbs import Verbs


@pytest.fixture
def jeton(tmp_path: Path) -> Verbs:
    return Verbs(tmp_path)

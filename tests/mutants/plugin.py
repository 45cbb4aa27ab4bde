"""A pytest plugin: run the tests of a list, in its order; or write down how long each test takes."""

import os
from pathlib import Path

import pytest

from tests.mutants.reach import TIMES

CHOSEN = "JETON_MUTANT_TESTS"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHOSEN in os.environ:
        chosen = {test: place for place, test in enumerate(Path(os.environ[CHOSEN]).read_text().splitlines())}
        items[:] = sorted((item for item in items if item.nodeid in chosen), key=lambda item: chosen[item.nodeid])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if TIMES in os.environ:
        with Path(os.environ[TIMES]).open("a") as file:
            file.write(f"{report.nodeid}\t{report.duration:.4f}\n")

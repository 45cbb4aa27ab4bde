"""What was read can be written again, and reads the same: every definition of the scenarios and the examples."""

from pathlib import Path

import msgspec
import pytest

from jeton.actor.definitions import encode_bundle
from jeton.definitions import library_from, load_library
from jeton.definitions.bundle import bundle_of
from jeton.definitions.write import written
from jeton.engine.build.source import KINDS
from jeton.model.definition.workflow import Library
from tests.conformance.case import Case
from tests.conformance.play import library_of
from tests.conformance.test_scenarios import ROWS

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.yaml"))
FILES = [file for file in EXAMPLES if load_library(file).ok]  # the others need functions of a module


def check_bundles(library: Library) -> None:
    for name in (*library.workflows, *library.flows):
        stored = msgspec.json.decode(encode_bundle(bundle_of(library, name)), type=Library)
        assert library_from(written(stored), kinds=KINDS).require() == stored


@pytest.mark.parametrize("case", ROWS)
def test_the_definition_of_a_scenario(case: Case) -> None:
    check_bundles(library_of(case))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_an_example(file: Path) -> None:
    check_bundles(load_library(file, kinds=KINDS).require())

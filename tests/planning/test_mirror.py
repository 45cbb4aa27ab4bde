"""Each planning module has a test of its own: the module of the same path here that imports it."""

import ast
from pathlib import Path

import pytest

import jeton.planning

SOURCE = Path(jeton.planning.__path__[0])
TESTS = Path(__file__).parent
MODULES = sorted(
    path.relative_to(SOURCE).with_suffix("") for path in SOURCE.rglob("*.py") if path.name != "__init__.py"
)


def imported_by(path: Path) -> set[str]:
    """The modules that a file imports something from."""
    return {
        node.module
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module
    }


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_planning_module_is_imported_by_a_test_of_its_own(module: Path) -> None:
    test = TESTS / module.parent / f"test_{module.name}.py"
    assert test.exists(), f"write {test.relative_to(TESTS.parent.parent)}"
    assert ".".join(("jeton", "planning", *module.parts)) in imported_by(test)


def test_there_are_modules_to_look_for() -> None:
    assert Path("plan_run") in MODULES
    assert Path("tokens/fan_in") in MODULES

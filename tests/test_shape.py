"""The shape of the source: nothing grows into the place where things go."""

import ast
from collections import Counter
from pathlib import Path

import jeton

SOURCE = Path(jeton.__file__).parent
LONGEST_FUNCTION = 70
LONGEST_MODULE = 450
WIDEST_FOLDER = 20
MODULES = sorted(SOURCE.rglob("*.py"))


def test_no_module_is_longer_than_one_can_keep_in_mind() -> None:
    lengths = {str(file.relative_to(SOURCE)): len(file.read_text(encoding="utf-8").splitlines()) for file in MODULES}
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_no_function_is_longer_than_a_screen() -> None:
    long: dict[str, int] = {}
    for file in MODULES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    long[f"{file.relative_to(SOURCE)}:{node.name}"] = length
    assert long == {}


def test_no_folder_has_more_modules_than_one_can_name() -> None:
    tests = Path(__file__).parent
    folders = Counter(str(file.parent) for file in [*MODULES, *tests.rglob("*.py")])
    assert {folder: count for folder, count in folders.items() if count > WIDEST_FOLDER} == {}

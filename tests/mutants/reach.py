"""Which tests run the code that a mutant changes, and how long each takes: found in one run without any mutant.

The copy of the tree that is tried for this calls `hit` in front of each statement that a mutant changes. A test is
noted where the code is run on its behalf, also by a process that it started.
"""

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.mutants.mutant import Mutant

HITS, TIMES = "JETON_MUTANT_HITS", "JETON_TEST_TIMES"
NOTES = '''"""Notes the tests that reach a mutant."""
import os

_seen = set()

def hit(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if (number, test) not in _seen:
        _seen.add((number, test))
        file = os.open(os.environ["JETON_MUTANT_HITS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, f"{number}\\t{test}\\n".encode())
        os.close(file)
'''


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Reached(NamedTuple):
    """What a run of the tests without a mutant has found."""

    times: dict[str, float]  # in seconds, of every test that was run
    tests: dict[int, set[str]]  # by the number of the mutant

    def chosen(self, number: int, wanted: Sequence[str]) -> list[str]:
        """The tests that can notice a mutant, of those that are wanted: the quickest first.

        All of them, if no test runs its code in particular: it runs when the module is imported."""
        possible = [test for test in self.times if any(belongs(test, each) for each in wanted)]
        reaching = [test for test in possible if test in self.tests.get(number, ())]
        if not reaching and "" in self.tests.get(number, ()):
            reaching = possible
        return sorted(reaching, key=self.times.__getitem__)


def belongs(test: str, wanted: str) -> bool:
    """Whether a test is the one that is named, or one of the folder, file or table that is named."""
    return test == wanted or test.startswith((f"{wanted}::", f"{wanted}[", f"{wanted}/"))


def place_of(mutant: Mutant, text: str) -> int:
    """The line of the first character that the mutant changes. Raises RuntimeError if it fits no single place."""
    if text.count(mutant.old) != 1:
        raise RuntimeError(f"'{mutant.name}' fits {text.count(mutant.old)} places of {mutant.file}, and must fit one")
    kept = next((at for at, pair in enumerate(zip(mutant.old, mutant.new, strict=False)) if pair[0] != pair[1]), None)
    kept = min(len(mutant.old), len(mutant.new)) if kept is None else kept
    kept += len(mutant.old[kept:]) - len(mutant.old[kept:].lstrip())
    changed = min(kept, len(mutant.old.rstrip()) - 1)  # the last of it, if something is only put in behind it
    return text.count("\n", 0, text.index(mutant.old) + changed) + 1


def note_hits(tree: Path, mutants: Sequence[Mutant]) -> set[int]:
    """Let the code say which mutants it comes to. Returns those that no function holds."""
    (tree / "src" / "reached.py").write_text(NOTES)
    outside: set[int] = set()
    for file in dict.fromkeys(mutant.file for mutant in mutants):
        text = (tree / file).read_text()
        module = ast.parse(text)
        for number, mutant in enumerate(mutants):
            if mutant.file == file and not _note(module, place_of(mutant, text), number):
                outside.add(number)
        (tree / file).write_text(ast.unparse(ast.fix_missing_locations(module)))
    return outside


def _note(module: ast.Module, line: int, number: int) -> bool:
    """Put a note in front of the innermost statement at a line. Returns False if it is in no function."""
    inside = False
    node: ast.AST = module
    place: tuple[list[ast.stmt], int] | None = None
    while True:
        found = next((at for at in _statements(node) if _spans(at[0][at[1]], line)), None)
        if found is None:
            break
        body, index = found
        node = body[index]
        place = found if inside else None
        inside = inside or isinstance(node, _DEFINITIONS[:2])
    if place is None and isinstance(node, _DEFINITIONS[:2]):
        place = (node.body, 0)  # its decorators, arguments or docstring
    if place is None:
        return False
    body, index = place
    (note,) = ast.parse(f"__import__('reached').hit({number})").body
    body.insert(index, note)
    return True


def _statements(node: ast.AST) -> list[tuple[list[ast.stmt], int]]:
    """The places of the statements right inside a node."""
    lists: list[list[Any]] = [value for _, value in ast.iter_fields(node) if isinstance(value, list)]
    cases = [part for value in lists for part in value if isinstance(part, ast.match_case | ast.ExceptHandler)]
    lists += [case.body for case in cases]
    return [(value, index) for value in lists for index, part in enumerate(value) if isinstance(part, ast.stmt)]


def _spans(statement: ast.stmt, line: int) -> bool:
    """Whether the line is in the statement, or in its decorators. Notes that were put in are on line 1."""
    decorators = statement.decorator_list if isinstance(statement, _DEFINITIONS) else []
    first = min([statement.lineno, *(each.lineno for each in decorators)])
    return first <= line <= (statement.end_lineno or 0)


def read_reached(hits: Path, times: Path, outside: set[int]) -> Reached:
    """What the run has noted. A mutant outside of all functions may be noticed by any test."""
    taken: dict[str, float] = {}
    for line in times.read_text().splitlines():
        test, _, seconds = line.rpartition("\t")
        taken[test] = taken.get(test, 0.0) + float(seconds)
    tests: dict[int, set[str]] = {number: {""} for number in outside}
    for line in hits.read_text().splitlines() if hits.exists() else ():
        number, _, test = line.partition("\t")
        tests.setdefault(int(number), set()).add(test)
    return Reached(taken, tests)

"""Every mutant fits the source as it is, so that a change of the code is followed by a change of its mutants."""

from pathlib import Path

import pytest

from tests.mutants.mutant import Mutant
from tests.mutants.mutants import MUTANTS
from tests.mutants.reach import note_hits

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fits_exactly_one_place_and_is_still_python(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text()
    assert text.count(mutant.old) == 1
    compile(text.replace(mutant.old, mutant.new), mutant.file, "exec")


SOURCE = '''def outer(x):
    """Something."""
    match x:
        case 1:
            return one(x)
        case _ if x > 2:
            try:
                y = two(x)
            except ValueError:
                y = three(x)
    return y
'''


@pytest.mark.parametrize(
    ("old", "new", "before"),
    [
        pytest.param("one(x)", "", "return one(x)", id="in a case"),
        pytest.param("three(x)\n", "three(x)\n    y = 2\n", "y = three(x)", id="put in behind a statement"),
        pytest.param("    return y", "    y = 2\n    return y", "return y", id="put in before a statement"),
        pytest.param("x > 2", "x > 3", "match x:", id="what decides between cases"),
        pytest.param("outer(x)", "outer(y)", "match x:", id="the arguments"),
    ],
)
def test_a_note_stands_before_the_statement_that_a_mutant_changes(
    tmp_path: Path, old: str, new: str, before: str
) -> None:
    (tmp_path / "src").mkdir()
    file = tmp_path / "src" / "module.py"
    file.write_text(SOURCE)
    assert note_hits(tmp_path, [Mutant("m", "src/module.py", old, new)]) == set()
    lines = [line.strip() for line in file.read_text().splitlines()]
    noted = lines.index("__import__('reached').hit(0)")
    assert next(line for line in lines[noted + 1 :] if "Something" not in line) == before

"""What `import jeton` gives, and what it costs."""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import jeton
import jeton.testing

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python-api.md"


def test_the_list_is_sorted_and_everything_on_it_is_there() -> None:
    assert jeton.__all__ == sorted(jeton.__all__)
    for name in jeton.__all__:
        assert getattr(jeton, name).__name__ == name


@pytest.mark.parametrize("module", [jeton, jeton.testing], ids=lambda module: module.__name__)
def test_the_documentation_lists_the_same_names(module: ModuleType) -> None:
    (section,) = (part for part in PAGE.read_text().split("\n## ") if part.startswith(f"{module.__name__}\n"))
    documented = re.findall(r"^\| `(\w+)` \| \S", section, re.MULTILINE)
    assert sorted(documented) == module.__all__


def test_a_name_nobody_promised_is_not_there() -> None:
    with pytest.raises(AttributeError, match="nothing_such"):
        jeton.nothing_such  # noqa: B018  (the access is the test)


def test_importing_jeton_loads_nothing_else() -> None:
    heavy = ("asyncio", "apsw", "click", "msgspec", "rich")
    code = f"import sys, jeton; print([n for n in sys.modules if n.startswith('jeton.') or n in {heavy}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

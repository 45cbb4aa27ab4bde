"""docs/semantics/interfaces.md has every verb, every exit code, every type of event and every field of a record."""

import re
from typing import get_args

from jeton import RunRecord
from jeton.cli.main import VERBS
from jeton.cli.options import Exit
from jeton.model.event import Fact
from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs" / "semantics" / "interfaces.md").read_text()


def section(title: str) -> str:
    found = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    assert found, f"there is no section '{title}'"
    return found


def test_verbs() -> None:
    words = {word for code in re.findall(r"`([^`]+)`", section("Command line")) for word in code.split()}
    assert sorted(set(VERBS) - words) == []


def test_exit_codes() -> None:
    assert {int(code) for code in re.findall(r"^\| (\d) \|", section("Exit codes"), re.MULTILINE)} == {*map(int, Exit)}


def test_types_of_events() -> None:
    listed: set[str] = set()
    for prefixes, names in re.findall(r"^\| (`.*?) \| (.*) \|$", section("Events"), re.MULTILINE):
        groups = [re.findall(r"`(\w+)`", group) for group in names.split(";")]
        for prefix, group in zip(re.findall(r"`(\w+)\.`", prefixes), groups, strict=True):
            listed.update(f"{prefix}.{name}" for name in group)
    assert listed == {str(fact.__struct_config__.tag) for fact in get_args(Fact)}


def test_fields_of_a_record() -> None:
    named = set(re.findall(r"`(\w+)`", section("The record")))
    assert sorted(set(RunRecord.__struct_fields__) - named) == []

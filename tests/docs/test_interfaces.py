"""The rules have every verb, exit code, type of event, field of a record and type of failure that the code has."""

import re
from typing import get_args

from jeton import RunRecord
from jeton.cli.main import VERBS
from jeton.cli.options import Exit
from jeton.model.codes import FAILURES
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


def test_failure_types() -> None:
    """All but the type of a failure that is only supposed, and of a run that cannot be read."""
    rules = (ROOT / "docs" / "semantics" / "tasks-and-actions.md").read_text().partition("\n## Failure types\n")[2]
    named = set(re.findall(r"`(\w+)`", rules))
    assert set(dict(FAILURES)) - named == {"supposed", "run_damaged"}

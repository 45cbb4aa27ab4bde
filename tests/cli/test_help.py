"""The help texts of all verbs."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from jeton.cli.main import SECTIONS, VERBS, main

FOLDER = Path(__file__).parents[2] / "src" / "jeton" / "cli" / "verbs"


def command_of(verb: str) -> click.Command:
    found = main.get_command(click.Context(main), verb)
    assert found is not None
    return found


def test_the_overview_lists_every_verb_once() -> None:
    lines = CliRunner().invoke(main, ["--help"]).output.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ") and line.split()[0] in VERBS] == list(VERBS)
    assert [line for line in lines if line.removesuffix(":") in SECTIONS.values()] == [
        f"{t}:" for t in SECTIONS.values()
    ]


def test_every_module_of_a_verb_is_listed() -> None:
    files = {f"{file.parent.name}.{file.stem}" for file in FOLDER.glob("*/*.py") if file.stem != "__init__"}
    assert files == {module for module, _ in VERBS.values()}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_says_what_it_and_each_of_its_options_does(verb: str) -> None:
    command = command_of(verb)
    assert command.name == verb
    assert command.help
    assert command.help[0].isupper()
    assert VERBS[verb][1].endswith(".")
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert [each.name for each in options if not each.help] == []


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_json_for_machines_and_takes_a_store(verb: str) -> None:
    command = command_of(verb)
    inner = [*command.commands.values()] if isinstance(command, click.Group) and not command.params else [command]
    for each in inner:
        assert {"as_json", "store"} <= {option.name for option in each.params}, each.name

"""`jeton init`: a small project to begin with."""

from importlib.resources import files
from pathlib import Path

import click

from jeton.cli.options import json_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors
from jeton.model.failure import Refused

TEMPLATES = files("jeton.cli") / "templates"
# By file of the project: its template, under a name that no tool takes for source of this repository.
PROJECT = {
    "README.md": "README.md.txt",
    "actions.py": "actions.py.txt",
    "greeting.yaml": "greeting.yaml.txt",
    "test_greeting.py": "test_greeting.py.txt",
}


@click.command("init")
@click.argument("folder", type=click.Path(file_okay=False), default=".")
@click.option("--store", hidden=True, help="Accepted by every verb; not used.")
@json_option
def command(folder: str, store: str | None, as_json: bool) -> None:
    """Write a small project into FOLDER: a workflow, its actions, a test and a README.

    Exits with 5 if one of the files is already there; nothing is written then.
    """
    with reporting_errors(as_json):
        _write(Path(folder))
        if as_json:
            echo_json({"folder": folder, "files": list(PROJECT)})
            return
        for name in PROJECT:
            echo(printable(str(Path(folder, name))))
        echo(f"\nto run it: cd {printable(folder)} && jeton run greeting.yaml --app actions.py")


def _write(folder: Path) -> None:
    taken = [name for name in PROJECT if (folder / name).exists()]
    if taken:
        problem = f"{', '.join(taken)} already exists in {folder}"
        raise Refused("file_exists", problem, "name another folder, or move what is there")
    folder.mkdir(parents=True, exist_ok=True)
    for name, template in PROJECT.items():
        (folder / name).write_text((TEMPLATES / template).read_text(encoding="utf-8"), encoding="utf-8")

"""What is in deploy/ names numbers, verbs and options that there are."""

import json
import re

import click
import yaml

from jeton.cli.main import main
from tests.api.test_metrics import NAMES
from tests.docs.markdown import ROOT

DEPLOY = ROOT / "deploy"
SUFFIXES = re.compile(r"_(bucket|sum|count)$")


def queries() -> list[str]:
    rules = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"][0]["rules"]
    panels = json.loads((DEPLOY / "grafana.json").read_text())["panels"]
    return [rule["expr"] for rule in rules] + [each["expr"] for panel in panels for each in panel["targets"]]


def test_every_number_that_is_asked_for_is_there() -> None:
    named = {SUFFIXES.sub("", name) for query in queries() for name in re.findall(r"\bjeton_\w+", query)}
    assert named <= set(NAMES)
    assert set(NAMES) - named == set()


def test_the_documented_numbers_are_those_that_there_are() -> None:
    page = (ROOT / "docs" / "how-to" / "serving.md").read_text().partition("## Metrics")[2].partition("\n## ")[0]
    assert set(re.findall(r"`(jeton_\w+?)(?:\{[\w,]+\})?`", page)) - {"jeton_user_NAME"} == set(NAMES)


def test_every_option_is_one_of_the_verb() -> None:
    serve = main.get_command(click.Context(main), "serve")
    assert serve is not None
    known = {option for each in serve.params for option in each.opts}
    for name in ("Dockerfile", "jeton.service"):
        lines = [
            line for line in (DEPLOY / name).read_text().splitlines() if "jeton serve" in line or '"serve"' in line
        ]
        assert lines
        used = {option for line in lines for option in re.findall(r"--[a-z-]+\b", line)}
        assert used <= known

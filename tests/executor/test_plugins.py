"""Plugins: kinds of action in other packages. The example is tested as it is installed, the page as it is written."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest
import yaml

import jeton
import jeton.plugins
from jeton.executor import actions, check_implementation, kind_names
from jeton.model.definition.task import Action
from jeton.model.json import JsonObject

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "plugin"
PAGE = (ROOT / "docs" / "how-to" / "plugins.md").read_text()
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
TOTALS = PLUGIN / "totals.yaml"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugin in it, put there by pip."""
    folder = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder), str(PLUGIN)]
    subprocess.run(pip, check=True, capture_output=True, timeout=120)
    return folder


def command(*words: str, plugins: Path | None) -> tuple[int, dict[str, object]]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src") if plugins is None else f"{plugins}:{ROOT / 'src'}"}
    run = [sys.executable, "-m", "jeton.cli.main", *words, "--json"]
    done = subprocess.run(run, capture_output=True, text=True, env=env, timeout=60)
    return done.returncode, json.loads(done.stdout)


def test_an_installed_plugin_is_found_and_its_action_runs(installed: Path, tmp_path: Path) -> None:
    given = json.dumps({"text": "name;points\nAda;7\nBob;3\n"})
    words = ("run", str(TOTALS), "--input", given, "--store", str(tmp_path / "s.db"))
    code, record = command(*words, plugins=installed)
    assert (code, record["output"]) == (0, {"names": ["Ada", "Bob"]})


def test_an_installed_plugin_checks_what_is_written_for_it(installed: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text(TOTALS.read_text().replace('delimiter: ";"', 'delimiter: ";;", colums: [x]'))
    code, report = command("check", str(broken), plugins=installed)
    assert (code, problems(report)) == (2, [("bad_implementation", 8)])
    broken.write_text(TOTALS.read_text().replace('delimiter: ";"', 'delimiter: ";;"'))
    code, report = command("check", str(broken), plugins=installed)
    assert (code, problems(report)) == (2, [("bad_implementation", 8)])


def test_without_the_plugin_the_kind_is_unknown() -> None:
    code, report = command("check", str(TOTALS), plugins=None)
    assert (code, problems(report)) == (2, [("unknown_kind", 8)])


def problems(report: dict[str, object]) -> list[tuple[object, object]]:
    found = report["problems"]
    assert isinstance(found, list)
    return [(problem["code"], problem["line"]) for problem in found]  # pyright: ignore  (plain JSON)


@pytest.fixture
def broken_plugin(monkeypatch: pytest.MonkeyPatch) -> str:
    entry_point = EntryPoint("broken", "no_such_module:Kind", actions.ENTRY_POINTS)

    def entry_points(group: str) -> EntryPoints:
        return EntryPoints([entry_point] if group == entry_point.group else [])

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    return entry_point.name


def test_a_plugin_that_cannot_be_imported_harms_only_its_own_actions(broken_plugin: str) -> None:
    assert broken_plugin in kind_names()
    (problem,) = check_implementation(Action(broken_plugin))
    assert problem.path == "kind"
    assert check_implementation(Action("assert", {"that": "true"})) == ()


def test_the_page_describes_all_that_is_public_and_nothing_else() -> None:
    reference = PAGE.partition("## Reference")[2]
    described = re.findall(r"^\| `(\w+)` \|", reference, re.MULTILINE)
    assert described == sorted(jeton.plugins.__all__) == jeton.plugins.__all__
    assert all(hasattr(jeton.plugins, name) for name in described)


@pytest.mark.parametrize(
    ("title", "of"),
    [
        pytest.param("method", jeton.plugins.Kind, id="methods of a kind"),
        pytest.param("attribute", jeton.plugins.ActionCall, id="attributes of a call"),
        pytest.param("attribute of `resources`", jeton.plugins.Resources, id="attributes of the resources"),
        pytest.param("function", jeton.plugins.ModelClient, id="functions of a model client"),
        pytest.param("attribute of a model call", jeton.plugins.ModelCall, id="attributes of a model call"),
    ],
)
def test_what_the_page_names_is_there(title: str, of: type) -> None:
    table = PAGE.partition(f"| {title} |")[2].partition("\n\n")[0]
    named = [name for row in table.splitlines()[2:] for name in re.findall(r"`(?:await )?(\w+)", row.split("|")[1])]
    assert named
    assert [name for name in named if not hasattr(of, name)] == []


async def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    blocks = dict(reversed(BLOCK.findall(PAGE)))
    exec(blocks["python"], {"__name__": "page"})
    (given,) = re.findall(r"With the input `(.*?)` the output is", PAGE)
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(yaml.safe_load(blocks["yaml"]))
        record = await (await engine.start("names", json.loads(given))).result()
    assert (record.status, record.output) == ("completed", json.loads(blocks["json"]))


async def test_an_action_of_the_page_asks_and_is_told_by_another_process(tmp_path: Path) -> None:
    _, asks = [text for language, text in BLOCK.findall(PAGE) if language == "python"]
    exec(asks, {"__name__": "page"})
    action = {"kind": "confirm", "implementation": {"title": "Go on?"}}
    nodes = {"ask": {"action": action, "output_mapping": {"output.go": "result.confirmed"}}}
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy({"workflows": {"w": {"initial_node": "ask", "nodes": nodes}}})
        run = await engine.start("w", {})
        await engine.idle()
        (gate,) = await engine.gates()
        assert (gate.title, gate.schema, gate.approvals) == ("Go on?", {"type": "boolean"}, 1)
    async with jeton.open(tmp_path / "store.db") as engine:
        with pytest.raises(jeton.Refused) as refused:
            await engine.answer(run.id, "yes")
        assert refused.value.code == "answer_refused"
        await engine.answer(run.id, True)
        record = await engine.ended(run.id)
    assert (record.status, record.output) == ("completed", {"go": True})


async def test_the_provider_of_the_page_answers(tmp_path: Path) -> None:
    exec(dict(BLOCK.findall(PAGE))["py"], {"__name__": "page"})
    ask: JsonObject = {
        "action": {"kind": "llm", "implementation": {"model_profile": "bird", "prompt": "{{ input.say }}"}}
    }
    library: JsonObject = {
        "model_profiles": {"bird": {"provider": "parrot"}},
        "workflows": {
            "talk": {"initial_node": "ask", "nodes": {"ask": {**ask, "output_mapping": {"output.said": "result.text"}}}}
        },
    }
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library)
        said = await (await engine.start("talk", {"say": "Pieces of eight"})).result()
        silent = await (await engine.start("talk", {"say": ""})).result()
    assert said.output == {"said": "Pieces of eight "}
    assert silent.error is not None
    assert silent.error.type == "parrot_silent"

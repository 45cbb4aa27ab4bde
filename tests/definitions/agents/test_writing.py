"""Definitions written back as a file: reading them gives the same."""

import json
from pathlib import Path

import pytest
import yaml

from jeton.definitions import library_from, load_library
from jeton.definitions.bundle import bundle_of, deployable
from jeton.definitions.write import written
from jeton.model.definition.workflow import Library
from tests.definitions.agents.given_agents import SHOP
from tests.definitions.given import loaded

SHOPPING = loaded(SHOP).require()


def test_a_library_with_everything_is_read_back_the_same() -> None:
    again = library_from(written(SHOPPING))
    assert again.problems == ()
    assert again.library == SHOPPING


@pytest.mark.parametrize("name", deployable(SHOPPING))
def test_so_is_every_bundle(name: str) -> None:
    bundle = bundle_of(SHOPPING, name)
    assert library_from(written(bundle)).require() == bundle


def test_it_is_written_as_an_author_would() -> None:
    plain = written(SHOPPING)
    assert isinstance(plain["tools"], dict)
    assert plain["tools"]["expert"] == {"agent": "eve", "mode": "loop_in"}
    assert plain["tools"]["search"] == {"mcp": {"server": "web", "tool": "search/all"}, "untrusted": False}
    assert plain["agents"] == {
        "bob": {"persona": "helper", "description": "Helps.", "tags": ["shop"]},
        "eve": {"persona": "judge"},
        "zoe": {"persona": "judge"},
    }
    assert isinstance(plain["model_profiles"], dict)
    assert isinstance(plain["model_profiles"]["fast"], dict)
    assert plain["model_profiles"]["fast"]["api_key"] == {"secret": "KEY"}


def test_it_can_be_a_file_of_either_kind(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(written(SHOPPING), sort_keys=False))
    (tmp_path / "b.json").write_text(json.dumps(written(SHOPPING)))
    assert load_library(tmp_path / "a.yaml").require() == SHOPPING
    assert load_library(tmp_path / "b.json").require() == SHOPPING


def test_a_script_from_a_file_is_written_into_its_profile(tmp_path: Path) -> None:
    (tmp_path / "talk.json").write_text('[{"text": "Hello."}]')
    (tmp_path / "a.yaml").write_text("model_profiles: {fake: {provider: scripted, script: talk.json}}")
    library = load_library(tmp_path / "a.yaml").require()
    assert library_from(written(library)).require() == library
    empty = library_from({"model_profiles": {"fake": {"provider": "scripted", "script": []}}}).require()
    assert library_from(written(empty)).require() == empty


def test_nothing_is_written_for_what_is_not_there() -> None:
    assert written(Library()) == {}

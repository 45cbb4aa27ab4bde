"""The same definition is the same version, however it is written."""

import pytest

from jeton.definitions import Version, definition_hash, library_from, version_of
from jeton.model.definition.workflow import Workflow


def workflow(**more: object) -> Workflow:
    body = {"initial_node": "a", "nodes": {"a": {"input_mapping": {"x": "input.x", "y": 1}}}, **more}
    return library_from({"workflows": {"w": body}}).require().workflows["w"]


PLAIN = definition_hash(workflow())


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"description": "Other words."}, id="a description"),
        pytest.param({"tags": ["new"]}, id="tags"),
        pytest.param({"nodes": {"a": {"input_mapping": {"y": 1, "x": "input.x"}}}}, id="the order of keys"),
        pytest.param({"on_no_match": "".join(("fa", "il")), "transitions": []}, id="a default written out"),
        pytest.param({"limits": {"max_tokens": int("200000")}}, id="a large default written out"),
    ],
)
def test_what_changes_nothing_it_does_is_the_same_version(more: dict[str, object]) -> None:
    assert definition_hash(workflow(**more)) == PLAIN


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"nodes": {"a": {"input_mapping": {"x": "input.x", "y": 2}}}}, id="another literal"),
        pytest.param({"nodes": {"a": {"input_mapping": {"x": "input.x", "y": "1"}}}}, id="an expression for a literal"),
        pytest.param({"timeout_ms": 5}, id="a timeout"),
        pytest.param({"input_schema": {"description": "x"}}, id="a description inside a schema"),
    ],
)
def test_what_changes_something_is_a_new_one(more: dict[str, object]) -> None:
    assert definition_hash(workflow(**more)) != PLAIN


def test_the_name_is_no_part_of_it() -> None:
    task = {"steps": [{"action": {"kind": "mock"}}]}
    tasks = library_from({"tasks": {"one": task, "two": task}}).require().tasks
    assert definition_hash(tasks["one"]) == definition_hash(tasks["two"])


def test_the_hash_is_stable_over_releases() -> None:
    """A store holds hashes made by earlier programs: another hash is a new version of all that anybody deployed."""
    assert PLAIN == "fff9df506de7204302c15706411d014dd7ac753bee959158652223d28fad4c49"


@pytest.mark.parametrize(
    ("found", "known", "version"),
    [
        pytest.param("a", [], Version(1, True), id="the first is version 1"),
        pytest.param("b", ["a"], Version(2, True), id="another hash is the next version"),
        pytest.param("b", ["a", "b"], Version(2, False), id="the newest again is nothing new"),
        pytest.param("a", ["a", "b"], Version(1, False), id="an older one again is what it was"),
    ],
)
def test_a_version(found: str, known: list[str], version: Version) -> None:
    assert version_of(found, known) == version

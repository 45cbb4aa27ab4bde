"""Versions of definitions: which one a run gets, and which one it calls."""

import hashlib
from typing import Any

import msgspec
import pytest

from jeton.actor.definitions import Bundles, bundle_hash, called_bundles, encode_bundle
from jeton.definitions import definition_hash, library_from
from jeton.definitions.bundle import bundle_of
from jeton.hosts.simulated.memory.definitions import Definitions
from jeton.model.definition.trigger import OnRequest, Trigger
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from tests.definitions.agents.given_agents import SHOP
from tests.definitions.given import loaded


def library(child: dict[str, Any] | None = None, settings: dict[str, Any] | None = None, **top: Any) -> Library:
    calls = {"initial_node": "call", "nodes": {"call": {"workflow": "c"}}, **top}
    called: dict[str, Any] = {"initial_node": "end", "nodes": {"end": child or {}}}
    other: dict[str, Any] = {"initial_node": "end", "nodes": {"end": {}}}
    workflows = {"w": calls, "c": called, "other": other}
    return library_from({"workflows": workflows, "project": {"settings": settings or {}}}).require()


OLD, NEW = library(), library({"output_mapping": {"output.n": 1}})


class Stored:
    """Two versions of a workflow and of the one that it calls; the first of each was deployed last."""

    def __init__(self) -> None:
        self.asked = 0

    def bundle(self, name: str, version: int | None) -> tuple[bytes, int] | None:
        self.asked += 1
        found = {1: OLD, 2: NEW}.get(version or 1)
        return None if found is None or name == "nowhere" else (encode_bundle(bundle_of(found, name)), version or 1)

    def version_of(self, name: str, hash: str) -> int | None:
        versions = {bundle_hash(bundle_of(found, name)): number for number, found in ((1, OLD), (2, NEW))}
        return versions.get(hash)


def test_a_version_is_decoded_and_compiled_once() -> None:
    stored = Stored()
    bundles = Bundles(stored)
    first = bundles.program("w", 2)
    assert bundles.program("w", 2) == first
    assert bundles.find("w", 2) == (first[1], 2)
    assert stored.asked == 1


def test_who_owns_the_store_need_not_ask_which_version_is_the_newest() -> None:
    stored = Stored()
    bundles = Bundles(stored)
    for _ in range(2):
        assert bundles.find("w") == (bundle_of(OLD, "w"), 1)
    assert stored.asked == 2
    bundles.cache_newest()
    for _ in range(2):
        assert bundles.find("w") == (bundle_of(OLD, "w"), 1)
    assert stored.asked == 3
    bundles.set_newest("w", 2)
    assert bundles.find("w") == (bundle_of(NEW, "w"), 2)


@pytest.mark.parametrize(
    ("version", "reference", "called"),
    [
        pytest.param(1, "c", ("c", 1), id="the version it was deployed with"),
        pytest.param(2, "c", ("c", 2), id="which is another for another version"),
        pytest.param(2, "c@7", ("c", 7), id="or the one that it names"),
    ],
)
def test_which_version_a_run_calls(version: int, reference: str, called: tuple[str, int]) -> None:
    bundles = Bundles(Stored())
    for _ in range(2):
        assert bundles.child("w", version, reference) == called


def test_what_is_not_there_is_refused() -> None:
    bundles = Bundles(Stored())
    assert bundles.find("nowhere") is None
    assert bundles.startable(Trigger("t", "nowhere", OnRequest())) is None
    with pytest.raises(Refused, match="version 9 of workflow 'w' is not in this store"):
        bundles.program("w", 9)


@pytest.mark.parametrize(("start", "version"), [("w", 1), ("w@2", 2)])
def test_what_a_trigger_starts(start: str, version: int) -> None:
    found = Bundles(Stored()).startable(Trigger("t", start, OnRequest()))
    assert found is not None
    assert (found.workflow, found.version) == ("w", version)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        pytest.param(library(), True, id="the same"),
        pytest.param(library(description="calls another"), True, id="however it is described"),
        pytest.param(library({"output_mapping": {"output.n": 1}}), False, id="not if what it calls is another"),
        pytest.param(library(settings={"triggers": {"max_depth": 9}}), False, id="nor under other settings"),
    ],
)
def test_bundles_that_do_the_same_have_one_hash(other: Library, same: bool) -> None:
    assert (bundle_hash(bundle_of(OLD, "w")) == bundle_hash(bundle_of(other, "w"))) == same


def test_what_a_workflow_calls_is_stored_beside_it() -> None:
    assert called_bundles("w", OLD) == [("c", bundle_of(OLD, "c"))]
    assert called_bundles("c", OLD) == []


SHOPPING = loaded(SHOP).require()


def test_agents_are_stored_beside_what_asks_them() -> None:
    called = dict(called_bundles("triage", bundle_of(SHOPPING, "triage")))
    assert sorted(called) == ["agent:bob", "agent:eve", "assemble", "extract", "shorten", "write_report"]
    assert all(bundle == bundle_of(SHOPPING, name) for name, bundle in called.items())
    assert "agent:bob" in dict(called_bundles("agent:eve", SHOPPING))


CHANGES = {
    "the instructions": ("You are {{", "Say that you are {{"),
    "what a model is told of a tool": ("Refund an order.", "Refund an order that was paid."),
    "the target of a tool": ("{workflow: write_report", "{workflow: shorten"),
    "a limit": ("recent_turns: 5", "recent_turns: 6"),
    "a fallback": ("fallbacks: [slow, fake]", "fallbacks: [fake]"),
    "a script": ("text: Done.", "text: Ready."),
    "a prompt": ("system: You judge.", "system: Judge."),
    "a workflow that assembles": ("a: {type: merge}", "b: {type: merge}"),
    "the persona of an agent that it asks": ("tools: [ask_bob, judge]", "tools: [judge]"),
    "the prices": ("output: 400", "output: 401"),
}
SAME = {
    "a description of the agent": ("description: Helps.", "description: Helps people."),
    "a tag": ("tags: [shop]", "tags: [store]"),
    "another agent": ("zoe: {persona: judge}", "zoe: {persona: helper}"),
    "a workflow that it never calls": ("a: {action: unused}", "b: {action: unused}"),
    "a default that is written out": ("bob: {persona", "bob: {tags: [], persona"),
}


@pytest.mark.parametrize(("change", "is_new"), [*((c, True) for c in CHANGES), *((c, False) for c in SAME)])
def test_what_makes_a_new_version_of_an_agent(change: str, is_new: bool) -> None:
    old, new = {**CHANGES, **SAME}[change]
    assert old in SHOP
    changed = loaded(SHOP.replace(old, new)).library
    for name in ("agent:bob", "triage"):
        assert (bundle_hash(bundle_of(changed, name)) != bundle_hash(bundle_of(SHOPPING, name))) == is_new


def test_agents_elsewhere_do_not_change_the_hash_of_a_workflow() -> None:
    """Hashes in stores that were written before there were agents must stay the same."""
    with_agents = bundle_of(SHOPPING, "other")
    alone = Library(workflows=with_agents.workflows, actions=with_agents.actions, settings=with_agents.settings)
    assert with_agents == msgspec.structs.replace(alone, model_profiles=SHOPPING.model_profiles)
    parts = {"workflows", "flows", "tasks", "actions"}
    hashes = {part: {name: definition_hash(each) for name, each in getattr(alone, part).items()} for part in parts}
    plain = msgspec.json.encode({**hashes, "settings": alone.settings}, order="deterministic")
    assert bundle_hash(alone) == hashlib.sha256(plain).hexdigest()


def test_an_agent_is_called_in_the_version_it_was_deployed_with() -> None:
    newer = loaded(SHOP.replace("recent_turns: 5", "recent_turns: 6")).require()
    stored = Definitions()
    versions = [stored.deploy(bundle_of(library, "triage"), "triage") for library in (SHOPPING, newer, SHOPPING)]
    assert versions == [1, 2, 1]
    assert stored.deploy(bundle_of(newer, "agent:bob"), "agent:bob") == 2
    assert stored.bundles.child("triage", 1, "agent:bob") == ("agent:bob", 1)
    assert stored.bundles.child("triage", 2, "agent:bob") == ("agent:bob", 2)
    assert stored.bundles.child("triage", 2, "agent:bob@1") == ("agent:bob", 1)

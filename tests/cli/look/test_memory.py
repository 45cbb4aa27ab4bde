"""`jeton memory`: what an agent remembers is listed, searched, exported and deleted, beside an owner too."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

import jeton as library
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.json import Json, JsonObject
from tests.cli.served import both
from tests.cli.verbs import Verbs

PATIENCE_S = 20.0
WRITE: JsonObject = {
    "kind": "memory",
    "implementation": {"operation": "write", "agent": "bob"},
}
FILE: JsonObject = {
    "model_profiles": {"fake": {"provider": "scripted", "script": [{"text": "Hello."}]}},
    "personas": {"helper": {"model_profile": "fake"}},
    "agents": {"bob": {"persona": "helper"}, "eve": {"persona": "helper"}},
    "workflows": {
        "learn": {"initial_node": "a", "nodes": {"a": {"action": WRITE, "output_mapping": {"output.id": "result.id"}}}}
    },
}


class Remembering:
    """A store with an agent, and what it remembers."""

    def __init__(self, jeton: Verbs) -> None:
        self.jeton = jeton
        jeton.library.write_bytes(msgspec.json.encode(FILE))

    def learn(self, content: str, **more: Json) -> str:
        """The id of a new memory."""
        given = json.dumps({"type": "fact", "content": content, **more})
        return str(self.jeton.run("learn", "--input", given)["output"]["id"])


@pytest.fixture
def remembering(jeton: Verbs) -> Remembering:
    return Remembering(jeton)


def bytes_of(jeton: Verbs) -> bytes:
    """All that the store's own files have, without the library."""
    files = [file for file in jeton.folder.rglob("*") if file.is_file() and file.name.startswith(jeton.store.name)]
    return b"".join(file.read_bytes() for file in files if not file.name.endswith("-shm"))


@both
def test_memories_are_listed_and_searched(jeton: Verbs, remembering: Remembering) -> None:
    oslo = remembering.learn("Anna lives in Oslo", significance=1)
    tea = remembering.learn("Anna likes tea", metadata={"cups": 3})
    found = jeton.json("memory", "bob")
    assert [memory["id"] for memory in found["memories"]] == [tea, oslo]
    assert "next" not in found
    memory = found["memories"][0]
    assert (memory["metadata"], memory["source"]["tainted"]) == ({"cups": 3}, False)
    assert set(memory) >= {"id", "agent", "user", "type", "content", "significance", "created_at", "superseded_by"}
    page = jeton.json("memory", "bob", "list", "--limit", "1")
    assert [memory["id"] for memory in page["memories"]] == [tea]
    rest = jeton.json("memory", "bob", "list", "--limit", "1", "--after", page["next"])
    assert [memory["id"] for memory in rest["memories"]] == [oslo]
    (hit,) = jeton.json("memory", "bob", "search", "where", "is", "Oslo?")["memories"]
    assert hit["id"] == oslo
    assert set(hit["scores"]) >= {"text", "significance", "recency", "total"}
    assert jeton.json("memory", "bob", "search", '"NOT AND (') == {"memories": []}
    assert jeton.json("memory", "bob", "--type", "wish") == {"memories": []}
    assert jeton.json("memory", "bob", "--user", "anna") == {"memories": []}
    assert jeton.json("memory", "eve") == {"memories": []}


@both
def test_people_see_tables(jeton: Verbs, remembering: Remembering) -> None:
    old = remembering.learn("Anna lives in Oslo")
    remembering.learn("Anna lives in \x1b[31mBergen\nnow" + "w" * 200, supersedes=old)
    shown = jeton("memory", "bob").stdout
    assert old not in shown
    assert "\x1b[31m" not in shown
    assert len(shown.splitlines()) == 2
    assert "(superseded) Anna lives in Oslo" in jeton("memory", "bob", "--superseded").stdout
    assert jeton("memory", "bob", "search", "Rome").stdout == "nothing is remembered about that\n"
    assert jeton("memory", "eve").stdout == "nothing is remembered\n"
    assert "there are more: --after" in jeton("memory", "bob", "--superseded", "--limit", "1").stdout
    assert jeton("memory", "bob", "delete", old).stdout.startswith("deleted 1 memory\nstill in the history of: ")


@both
def test_an_export_has_everything(jeton: Verbs, remembering: Remembering) -> None:
    long = "whales " * 2000
    old = remembering.learn("Anna lives in Oslo")
    new = remembering.learn("Anna lives in Bergen", supersedes=old)
    remembering.learn(long)
    exported = json.loads(jeton("memory", "bob", "export").stdout)
    assert exported == jeton.json("memory", "bob", "export")
    assert exported["agent"] == "bob"
    assert [memory["content"] for memory in exported["memories"]] == [
        "Anna lives in Oslo",
        "Anna lives in Bergen",
        long,
    ]
    assert [memory["superseded_by"] for memory in exported["memories"]] == [new, None, None]


@pytest.mark.parametrize("owned", [False, True], ids=["without an owner", "beside one"])
def test_a_deletion_is_final_and_says_whose_history_still_has_it(
    jeton: Verbs, remembering: Remembering, owned: bool
) -> None:
    ran = jeton.run("learn", "--input", '{"type": "fact", "content": "Anna lives in Oslo"}')
    other = remembering.learn("Anna likes tea")
    id = ran["output"]["id"]
    if owned:
        with library.open_sync(jeton.store, work=False):
            deleted = jeton.json("memory", "bob", "delete", id)
    else:
        deleted = jeton.json("memory", "bob", "delete", id)
    assert deleted == {"deleted": True, "conversations": [ran["run_id"]]}
    assert [memory["id"] for memory in jeton.json("memory", "bob")["memories"]] == [other]
    assert jeton.json("memory", "bob", "delete", id, exits=3)["code"] == "unknown_memory"
    assert b"Anna lives in Oslo" in bytes_of(jeton), "the run that wrote it has it in its history"
    jeton.json("prune", "--older-than", "0s")
    assert jeton.json("memory", "bob", "delete", other) == {"deleted": True, "conversations": []}
    assert verify(jeton.store).ok
    assert b"likes" not in _memory_pages(jeton)


def _memory_pages(jeton: Verbs) -> bytes:
    """The store without what pruning left in free pages, which is not the memory's."""
    copy = jeton.folder / "copy.db"
    jeton.json("backup", str(copy))
    return copy.read_bytes()


def test_what_is_not_there(jeton: Verbs, remembering: Remembering) -> None:
    assert jeton.json("memory", "bob", exits=3)["code"] == "no_store"
    remembering.learn("Anna lives in Oslo")
    assert jeton.json("memory", "nobody", exits=3)["code"] == "unknown_agent"
    assert jeton.json("memory", "eve", "delete", "m1", exits=3)["code"] == "unknown_memory"
    for wrong in (("bob", "search"), ("bob", "delete"), ("bob", "list", "more"), ("bob", "forget"), ()):
        assert jeton("memory", *wrong).exit_code == 2


def test_a_process_deletes_beside_another_that_owns_the_store(jeton: Verbs, remembering: Remembering) -> None:
    """Two processes, as at home: one that runs workflows, and one that forgets."""
    gone, kept = remembering.learn("zanzibarically " * 1000), remembering.learn("Anna likes tea")
    jeton.json("prune", "--older-than", "0s")
    env = {**os.environ, "JETON_STORE": str(jeton.store)}
    line = [sys.executable, "-m", "jeton.cli.main"]
    owner = subprocess.Popen(
        [*line, "resume", "--watch"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _await_owner(jeton.store, owner)
        done = subprocess.run(
            [*line, "memory", "bob", "delete", gone, "--json"], env=env, capture_output=True, text=True, timeout=60
        )
        assert json.loads(done.stdout) == {"deleted": True, "conversations": []}, done.stderr
        assert owner.poll() is None
        assert not [file for file in _artifacts(jeton.store) if b"zanzibar" in file.read_bytes()]
    finally:
        owner.terminate()
        owner.wait(timeout=30)
    assert [memory["id"] for memory in jeton.json("memory", "bob")["memories"]] == [kept]
    assert verify(jeton.store).ok


def _await_owner(store: Path, owner: "subprocess.Popen[bytes]") -> None:
    record = store.with_name(f"{store.name}-lock")
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with_pid = record.exists() and f'"pid":{owner.pid},' in record.read_text()
        if with_pid and store.with_name(f"{store.name}-advancing").exists():
            return
        assert owner.poll() is None
        time.sleep(0.05)
    raise AssertionError("the owner did not open the store in time")


def _artifacts(store: Path) -> list[Path]:
    folder = store.with_name(f"{store.name}-artifacts")
    return [file for file in folder.rglob("*") if file.is_file()]

"""Verbs that the other files do not run through a server too: definitions, conversations, keys, queries, files."""

import json
import os
import pty
import select
import subprocess
import sys

import msgspec

from jeton.actor.access.keys import SavedQuery
from jeton.engine.engine import Engine
from tests.cli.act.test_chat import AGENT
from tests.cli.served import both
from tests.cli.verbs import Verbs

BROKEN = "workflows:\n  w: {initial_node: a, nodes: {a: {taks: x}}}\n"


def agent_file(jeton: Verbs) -> str:
    file = jeton.folder / "agent.json"
    file.write_bytes(msgspec.json.encode(AGENT))
    return str(file)


def talked(jeton: Verbs, *messages: str, exits: int = 0) -> str:
    options = [part for text in messages for part in ("--message", text)]
    return str(jeton.json("chat", agent_file(jeton), "bob", *options, exits=exits)["conversation_id"])


@both
def test_definitions_are_checked(jeton: Verbs) -> None:
    broken = jeton.folder / "broken.yaml"
    broken.write_text(BROKEN)
    assert jeton.json("check", str(jeton.library)) == {"ok": True, "problems": []}
    found = jeton.json("check", str(broken), exits=2)
    assert [(each["file"], each["line"], each["code"]) for each in found["problems"]] == [
        (str(broken), 2, "unknown_key")
    ]
    missing = jeton.json("check", "nowhere.yaml", str(broken), exits=3)
    assert {each["code"] for each in missing["problems"]} == {"file_not_found", "unknown_key"}


@both
def test_definitions_are_simulated(jeton: Verbs) -> None:
    report = jeton.json("simulate", str(jeton.library), "panel", "--seeds", "3", "--faults")
    assert (report["ok"], report["seeds"], report["problems"]) == (True, 3, [])
    assert jeton("simulate", str(jeton.library), "panel", "--seeds", "3").stdout.endswith("3 seeds, one outcome\n")
    assert jeton.json("simulate", str(jeton.library), exits=2)["code"] in ("which_workflow", "ambiguous")
    refused = jeton.json("simulate", str(jeton.library), "double", "--input", '{"n": "x"}', exits=2)
    assert refused["code"] == "input_invalid"


@both
def test_a_file_is_drawn(jeton: Verbs) -> None:
    assert jeton.json("draw", str(jeton.library), "panel", "--format", "mermaid")["picture"].startswith("flowchart TD")


@both
def test_conversations_are_shown_listed_explained_forked_and_replayed(jeton: Verbs) -> None:
    talk = talked(jeton, "hi", "you?")
    shown = jeton.json("show", talk)
    assert [turn["replies"] for turn in shown["turns"]] == [["One."], ["Two."]]
    (row,) = jeton.json("ls", "--conversations", "--agent", "bob")["conversations"]
    assert (row["id"], row["agent"], row["turns"]) == (talk, "bob", 2)
    assert jeton.json("ls", "--conversations", "--agent", "eve") == {"conversations": []}
    given = jeton.json("explain", talk, "--turn", "2")
    assert [message["role"] for message in given["messages"]][-1] == "user"
    assert jeton.json("explain", talk, "--turn", "9", exits=3)["code"] == "unknown_turn"
    forked = jeton.json("fork", talk, "--at", "2", "--message", "and now?")
    assert forked["conversation_id"] != talk
    assert [turn["message"] for turn in forked["turns"]] == ["hi", "and now?"]
    replayed = jeton.json("replay", talk)
    assert [(turn["turn"], turn["same"]) for turn in replayed["turns"]] == [(1, True), (2, True)]
    assert jeton.json("events", talk)["events"][0]["type"] == "run.submitted"


@both
def test_a_turn_that_waits_for_approval_is_answered_or_stopped(jeton: Verbs) -> None:
    talk = talked(jeton, "pay", exits=4)
    (gate,) = jeton.json("gates", talk)["gates"]
    assert jeton.json("answer", talk, "--gate", gate["id"], "--value", '{"decision": "maybe"}', exits=5)
    stopped = jeton.json("cancel", talk, "--reason", "enough")
    assert [turn["status"] for turn in stopped["turns"]] == ["cancelled"]
    assert jeton.json("gates", talk) == {"gates": []}


@both
def test_a_file_goes_with_what_is_said(jeton: Verbs) -> None:
    picture = jeton.folder / "cat.png"
    picture.write_bytes(b"a cat")
    said = ("--message", "look", "--attach", str(picture), "--user", "ann", "--wait", "20")
    (turn,) = jeton.json("chat", agent_file(jeton), "bob", *said)["turns"]
    (attached,) = turn["attachments"]
    assert (attached["name"], attached["media_type"], attached["size"]) == ("cat.png", "image/png", 5)
    assert turn["caller"]["user"] == "ann"


@both
def test_a_run_is_exported_and_can_be_imported(jeton: Verbs) -> None:
    run = jeton.run("double", "--input", '{"n": 4}')["run_id"]
    out = jeton.folder / "run.json"
    assert jeton.json("export", run, "--out", str(out))["bytes"] == out.stat().st_size
    other = Verbs(jeton.folder)
    other.store = jeton.folder / "other.db"
    assert other.json("import", str(out))["run_id"] == run
    assert other.json("show", run)["output"] == {"n": 8}
    assert jeton.json("export", "nobody", exits=3)["code"] == "unknown_run"
    talk = talked(jeton, "hi")
    script = json.loads(jeton("export", talk, "--as", "script").stdout)["model_profiles"]["recorded"]["script"]
    assert [entry["text"] for entry in script] == ["One."]
    spans = json.loads(jeton("export", run, "--as", "spans").stdout)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert [span["name"] for span in spans] == ["run double"]


@both
def test_a_store_is_verified(jeton: Verbs) -> None:
    jeton.run("double", "--input", '{"n": 4}')
    assert jeton.json("verify") == {"ok": True, "problems": []}


@both
def test_keys_are_made_listed_and_revoked(jeton: Verbs) -> None:
    jeton.run("double", "--input", '{"n": 4}')
    made = jeton.json("keys", "add", "ci", "--scope", "read,run", "--person", "ann", "--expires", "1")
    assert made["key"].startswith("jtn_")
    (listed,) = jeton.json("keys", "ls")["keys"]
    assert listed == {key: value for key, value in made.items() if key != "key"}
    assert (listed["scopes"], listed["person"], listed["revoked_at"]) == (["read", "run"], "ann", None)
    assert jeton.json("keys", "revoke", listed["id"])["revoked_at"] is not None
    assert jeton.json("keys", "revoke", "00000000", exits=3)["code"] == "unknown_key"
    assert jeton.json("keys", "add", "ci", "--scope", "fly", exits=2)["code"] == "bad_argument"


@both
def test_runs_are_found_by_queries(jeton: Verbs) -> None:
    jeton.run("double", "--input", '{"n": 4}', "--key", "order-7")
    failed = jeton.run("broken", exits=1)["run_id"]
    waiting = jeton.parked("ship")
    save(jeton, SavedQuery("stuck", "status:waiting node:gate", 1))
    assert [run["run_id"] for run in jeton.json("ls", "--query", "stuck")["runs"]] == [waiting]
    assert jeton.json("ls", "--query", "stuck", "--search", "workflow:double")["runs"] == []
    assert [run["run_id"] for run in jeton.json("ls", "--search", "error:assertion")["runs"]] == [failed]
    assert jeton.json("ls", "--query", "nobody", exits=3)["code"] == "unknown_query"
    assert jeton.json("ls", "--search", "colour:red", exits=2)["code"] == "bad_query"
    assert jeton.json("ls", "--after", "nobody") == {"runs": []}
    listed = jeton.json("ls")["runs"][0]
    assert (listed["waiting_at_node"], listed["waiting_label"]) == ("gate", "Ship it?")


def save(jeton: Verbs, query: SavedQuery) -> None:
    from jeton.cli.store import ask

    async def saved(engine: Engine) -> None:
        await engine.access.save_query(query)

    ask(str(jeton.store), saved)


@both
def test_a_person_talks_at_a_terminal(jeton: Verbs) -> None:
    """Lines that are sent, an approval that is answered in place, and the streamed answers."""
    ours, theirs = pty.openpty()
    env = {**os.environ, **jeton.environment(), "COLUMNS": "200"}
    line = [sys.executable, "-m", "jeton.cli.main", "chat", agent_file(jeton), "bob", *jeton.where()]
    process = subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, env=env, close_fds=True)
    os.close(theirs)
    seen = Screen(ours)
    seen.until(b"/quit leaves")
    for typed, answer, turn in (
        (b"hi\n", b"One.", b"hi"),
        (b"pay\n", b"approve? yes", None),
        (b"yes\n", b"Paid.", b"pay"),
    ):
        os.write(ours, typed)
        seen.until(answer)
        ended = turn is None  # an answer is shown before its turn has ended
        while not ended:
            os.write(ours, b"/turns\n")
            ended = b"completed: " in seen.until(b": " + (turn or b""))[-len(b"[2] completed: pay") :]
    os.write(ours, b"/quit\n")
    assert process.wait(30) == 0


LONGEST_SILENCE_S = 60  # a terminal that is silent for so long waits for something else than the test does


class Screen:
    """What a terminal has shown so far."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._unread = b""

    def until(self, text: bytes) -> bytes:
        """Read until the terminal shows this. Returns what it has shown so far, this included."""
        while text not in self._unread:
            ready, _, _ = select.select([self._terminal], [], [], LONGEST_SILENCE_S)
            assert ready, f"the terminal does not show {text!r}, but {self._unread!r}"
            self._unread += os.read(self._terminal, 4096)
        before, _, self._unread = self._unread.partition(text)
        return before + text


@both
def test_what_is_deployed_is_started_by_its_name(jeton: Verbs) -> None:
    jeton.json("run", str(jeton.library), "double", "--input", '{"n": 1}')
    started = jeton.json("start", "double", "--input", '{"n": 21}', "--key", "once")
    assert (started["status"], started["output"]) == ("completed", {"n": 42})
    assert jeton.json("start", "double", "--input", '{"n": 21}', "--key", "once")["run_id"] == started["run_id"]

"""Verbs say the same about a store and about the server that owns it, and exit alike."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from jeton.api.serving.files import Files
from jeton.api.serving.serve import Serving, serve
from jeton.api.state import Settings
from jeton.cli.main import main

Data = dict[str, Any]

LIBRARY = """
workflows:
  sums:
    input_schema: {type: object, required: [numbers], properties: {numbers: {type: array, items: {type: integer}}}}
    state_schema: {type: object, properties: {seen: {type: array, items: {}}}}
    initial_node: begin
    nodes:
      begin: {}
      each: {action: {kind: mock, implementation: {output: {n: 1}}}}
      done: {output_mapping: {output.count: "size(state.seen)"}}
    transitions:
      - {from: begin, to: each, foreach: {collection: input.numbers, item_var: n}, sibling_group: all}
      - from: each
        to: done
        synchronization:
          strategy: all
          sibling_group: all
          merge: {source: _branch.output, target: state.seen, strategy: append}
  asks:
    initial_node: ask
    nodes:
      ask: {gate: {title: "go on?", schema: {type: object, required: [ok], properties: {ok: {type: boolean}}}}}
      done: {output_mapping: {output.said: result}}
    transitions: [{from: ask, to: done}]
  fails:
    initial_node: broken
    nodes:
      broken: {action: {kind: fail, implementation: {type: bad_day, message: "not today"}}}
triggers:
  by_hand: {type: event, name: order.placed, start: sums}
"""


class Server:
    """A server in a thread of this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url, self.key = "", ""
        self._ready = threading.Event()
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._failed = error
            self._ready.set()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()

        def ready(serving: Serving) -> None:
            self.url, self.key = serving.url, serving.key or ""
            self._ready.set()

        files = Files((str(self.folder / "library.yaml"),))
        await serve(self.folder / "s.db", Settings(), 0, ready, files.deploy, self._stop)

    def __enter__(self) -> "Server":
        self._thread.start()
        assert self._ready.wait(60)
        if self._failed is not None:
            raise self._failed
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    def ask(self, *words: str) -> Result:
        """A verb through the server."""
        return CliRunner().invoke(main, [*words, "--url", self.url], env={"JETON_KEY": self.key})

    def read(self, *words: str) -> Result:
        """The same verb on the store."""
        return CliRunner().invoke(main, [*words, "--store", str(self.folder / "s.db")])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "library.yaml").write_text(LIBRARY)
    with Server(folder) as found:
        yield found


def started(server: Server, name: str, given: str = "{}", *more: str) -> Data:
    done = server.ask("run", str(server.folder / "library.yaml"), name, "--input", given, "--json", *more)
    assert done.exit_code in (0, 1, 4), done.output
    found: Data = json.loads(done.stdout)
    return found


def test_a_run_is_started_followed_and_looked_at(server: Server) -> None:
    record = started(server, "sums", '{"numbers": [1, 2, 3]}')
    assert (record["status"], record["output"]) == ("completed", {"count": 3})
    run = record["run_id"]
    for words in (
        ("show", run),
        ("tokens", run),
        ("context", run),
        ("context", run, "--token", "1"),
        ("explain", run),
        ("explain", run, "--token", "1"),
        ("explain", run, "--transition", "0"),
        ("events", run),
        ("events", run, "--after", "10"),
        ("events", run, "--trace"),
        ("gates",),
        ("triggers",),
    ):
        there, here = server.ask(*words, "--json"), server.read(*words, "--json")
        assert (there.exit_code, json.loads(there.output)) == (here.exit_code, json.loads(here.output)), words
        assert server.ask(*words).output == server.read(*words).output, words


def test_lists_are_the_same_but_for_outputs(server: Server) -> None:
    runs = [started(server, "sums", '{"numbers": [1]}')["run_id"] for _ in range(3)]
    there, here = server.ask("ls", "--json"), server.read("ls", "--json")
    assert there.exit_code == 0, there.output
    listed = json.loads(there.output)["runs"]
    assert [run["run_id"] for run in listed] == [run["run_id"] for run in json.loads(here.output)["runs"]]
    assert not any(run["output"] for run in listed)
    pages = json.loads(server.ask("ls", "--json", "--limit", "1", "--after", runs[2]).output)["runs"]
    assert [run["run_id"] for run in pages] == [runs[1]]
    assert json.loads(server.ask("ls", "--workflow", "asks", "--json").output) == {"runs": []}


def test_gates_are_answered_and_runs_controlled(server: Server) -> None:
    waits = started(server, "asks", "{}", "--wait", "0.5")
    run = waits["run_id"]
    assert waits["status"] == "waiting"
    there, here = server.ask("gates", run, "--json"), server.read("gates", run, "--json")
    assert json.loads(there.output) == json.loads(here.output)
    assert server.ask("answer", run, "--value", '{"ok": 3}', "--json").exit_code == 5
    assert server.ask("pause", run, "--json").exit_code == 0
    assert server.ask("unpause", run, "--json").exit_code == 0
    answered = server.ask("answer", run, "--value", '{"ok": true}', "--json")
    assert answered.exit_code == 0, answered.output
    assert json.loads(server.read("show", run, "--json").output)["status"] == "completed"
    cancelled = server.ask("cancel", run, "--json")
    assert (cancelled.exit_code, json.loads(cancelled.output)["outcome"]) == (5, "ended")


@pytest.mark.parametrize(
    "words",
    [
        ("show", "nothing"),
        ("explain", "nothing"),
        ("cancel", "nothing"),
        ("signal", "nothing", "name"),
        ("answer", "nothing", "--value", "{}"),
        ("fire", "nothing"),
    ],
)
def test_refusals_are_the_same(server: Server, words: tuple[str, ...]) -> None:
    there, here = server.ask(*words, "--json"), server.read(*words, "--json")
    assert there.exit_code == here.exit_code != 0
    assert json.loads(there.output)["code"] == json.loads(here.output)["code"]


def test_a_run_that_fails_exits_with_one_and_can_be_retried(server: Server) -> None:
    library = str(server.folder / "library.yaml")
    done = server.ask("run", library, "fails", "--json")
    record = json.loads(done.stdout)
    assert (done.exit_code, record["status"], record["error"]["type"]) == (1, "failed", "bad_day")
    again = server.ask("retry", record["run_id"], "--json")
    assert again.exit_code == 1, again.output
    invalid = server.ask("run", library, "sums", "--input", '{"numbers": "x"}', "--json")
    assert (invalid.exit_code, json.loads(invalid.stdout)["code"]) == (2, "input_invalid")


def test_verbs_on_a_file_say_so(server: Server) -> None:
    for words in (("resume",), ("backup", "copy.db"), ("import", "run.json"), ("serve",), ("mcp", "pins")):
        done = server.ask(*words, "--json")
        assert (done.exit_code, json.loads(done.output)["code"]) == (5, "unsupported_store"), words


def test_a_server_that_is_not_there_and_a_key_that_is_none(server: Server) -> None:
    gone = CliRunner().invoke(main, ["ls", "--url", "http://127.0.0.1:9", "--json"], env={"JETON_KEY": server.key})
    assert json.loads(gone.output)["code"] == "server_unavailable"
    stranger = CliRunner().invoke(main, ["ls", "--url", server.url, "--json"], env={"JETON_KEY": "jtn_no"})
    assert json.loads(stranger.output)["code"] == "key_refused"
    both = CliRunner().invoke(main, ["ls", "--url", server.url, "--store", "x.db"])
    assert both.exit_code == 2

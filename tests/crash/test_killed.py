"""`kill -9` of `jeton run` at a random moment, twenty times in a row, then `jeton resume`."""

import json
import random
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from jeton.hosts.sqlite.file.advancing import read_set_aside

APP = '''
import os
import jeton

@jeton.action
def charge(n: int) -> dict[str, int]:
    """An effect that its key makes happen once, as a careful service would."""
    key = jeton.current_call().idempotency_key.replace(":", "_")
    with open("asked", "a") as asked:
        asked.write(key + "\\n")
    try:
        os.close(os.open(f"effects/{key}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        pass
    return {"n": n * 2}
'''
LIBRARY = """
workflows:
  w:
    initial_node: s
    nodes:
      s: {}
      charge: {action: charge, input_mapping: {n: item}, output_mapping: {state.n: result.n}}
      pause: {wait: {seconds: 0.02}}
      end: {}
    transitions:
      - {from: s, to: charge, foreach: {collection: input.items, item_var: item, max_parallel: 2}}
      - {from: charge, to: pause}
      - from: pause
        to: end
        synchronization: {merge: {source: _branch.output.n, target: state.all, strategy: collect}}
    output_mapping: {all: state.all}
"""
ITEMS = 150
KILLS = 20


def jeton(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "jeton.cli.main", *words, "--app", "app.py", "--store", "store.db", "--json"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_until_there(file: Path) -> None:
    deadline = monotonic() + 60
    while not file.exists():
        assert monotonic() < deadline, f"there is no {file}"
        sleep(0.01)


@pytest.mark.long
def test_a_run_that_is_killed_twenty_times_ends_with_the_right_output_and_no_effect_twice(tmp_path: Path) -> None:
    chance = random.Random()
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "library.yaml").write_text(LIBRARY)
    (tmp_path / "effects").mkdir()
    given = json.dumps({"items": list(range(ITEMS))})
    for number in range(KILLS):
        running = jeton(tmp_path, "run", "library.yaml", "w", "--input", given, "--key", "k")
        if number == 0:  # on a busy machine the others may be killed before they do anything
            wait_until_there(tmp_path / "asked")
        sleep(chance.uniform(0.3, 2.0))  # a moment nobody chose: there is no clock of ours to move here
        running.kill()
        running.communicate()
        assert read_set_aside(tmp_path / "store.db") == {}, "the run is innocent"
    resumed = jeton(tmp_path, "resume")
    _, said = resumed.communicate(timeout=120)
    assert resumed.returncode == 0, said
    ended = jeton(tmp_path, "run", "library.yaml", "w", "--input", given, "--key", "k")
    record = json.loads(ended.communicate(timeout=120)[0])
    assert record["status"] == "completed", record
    assert record["output"] == {"all": [n * 2 for n in range(ITEMS)]}
    asked = (tmp_path / "asked").read_text().split()
    assert sorted(set(asked)) == sorted(path.name for path in (tmp_path / "effects").iterdir())
    assert len(set(asked)) == ITEMS, "one key for each branch, however often it was asked for"


POISON = """
import os
import jeton

@jeton.action
def poison() -> None:
    with open("begun", "a") as begun:
        begun.write("x")
    os._exit(9)
"""
POISONED = """
workflows:
  w: {initial_node: a, nodes: {a: {action: poison}}}
  sound: {initial_node: a, nodes: {a: {output_mapping: {output.ok: true}}}}
"""


def test_a_task_that_ends_its_engine_each_time_is_given_up_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(POISON)
    (tmp_path / "library.yaml").write_text(POISONED)
    died = jeton(tmp_path, "run", "library.yaml", "w", "--key", "k")
    died.communicate(timeout=120)
    deaths = int(died.returncode == 9)
    while (resumed := jeton(tmp_path, "resume")).wait(120) == 9:
        resumed.communicate()
        deaths += 1
        assert deaths < 10, "it goes on for ever"
    resumed.communicate()
    assert (deaths, (tmp_path / "begun").read_text()) == (5, "x" * 5)
    ended = jeton(tmp_path, "run", "library.yaml", "w", "--key", "k")
    record = json.loads(ended.communicate(timeout=120)[0])
    assert record["error"]["type"] == "worker_lost", record
    assert "5 workers got this task, and each ended or stopped answering" in record["error"]["message"]
    other = jeton(tmp_path, "run", "library.yaml", "sound")
    assert json.loads(other.communicate(timeout=120)[0])["output"] == {"ok": True}

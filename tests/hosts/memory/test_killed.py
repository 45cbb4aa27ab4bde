"""A process that is killed while it writes to a memory has written all of it or nothing, and once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jeton.executor.memory import NewMemory
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.tools.verify import verify
from tests.hosts.memory.child import SCOPE
from tests.hosts.process import ROOT

LONG = "gigantically " * 1000
CONTENTS = [pytest.param("Anna lives in Oslo", id="short", marks=pytest.mark.long), pytest.param(LONG, id="long")]


def child(*words: str, failpoint: str | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **({} if failpoint is None else {"JETON_FAILPOINT": failpoint})}
    line = [sys.executable, "-m", "tests.hosts.memory.child", *words]
    return subprocess.run(line, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)


async def contents(path: Path, *, superseded: bool = False) -> list[str]:
    host = await SqliteHost.open(path, workers=None)
    found = [memory.content async for memory in host.memory.export(SCOPE) if superseded or not memory.superseded_by]
    await host.close(0.0)
    return found


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("place", ["before_commit", "after_commit"])
async def test_a_call_that_is_repeated_after_a_kill_writes_once(path: Path, place: str, content: str) -> None:
    killed = child("write", str(path), content, failpoint=f"{place}:1")
    assert killed.returncode == -9
    assert await contents(path) == ([content] if place == "after_commit" else [])
    again = child("write", str(path), content)
    assert again.stdout.startswith("m")
    assert await contents(path) == [content]
    assert verify(path).ok


@pytest.mark.parametrize("place", ["before_commit", "after_commit"])
async def test_one_that_supersedes_is_written_with_its_mark_on_the_old(path: Path, place: str) -> None:
    host = await SqliteHost.open(path, workers=None)
    old = await host.memory.write(NewMemory("r0:1:1:s0", SCOPE, "fact", "Anna lives in Oslo"))
    await host.close(0.0)
    assert child("write", str(path), "Anna lives in Bergen", old.id, failpoint=f"{place}:1").returncode == -9
    there = ["Anna lives in Bergen"] if place == "after_commit" else ["Anna lives in Oslo"]
    assert await contents(path) == there
    assert child("write", str(path), "Anna lives in Bergen", old.id).returncode == 0
    assert await contents(path) == ["Anna lives in Bergen"]
    assert verify(path).ok


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("place", ["before_commit", "after_commit"])
async def test_a_deletion_that_is_killed_is_whole_or_was_none(path: Path, place: str, content: str) -> None:
    id = child("write", str(path), content).stdout.strip()
    assert child("delete", str(path), id, failpoint=f"{place}:1").returncode == -9
    assert await contents(path) == ([] if place == "after_commit" else [content])
    assert child("delete", str(path), id).stdout.strip() == ("0" if place == "after_commit" else "1")
    assert await contents(path) == []
    assert verify(path).ok
    assert child("write", str(path), content).stdout.strip() == id, "the call was made, and is not made again"
    assert await contents(path) == []

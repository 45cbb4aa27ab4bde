"""A process that spends credits is killed at its Nth commit: none is lost, and none is spent twice."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jeton.hosts.sqlite.tools.verify import verify
from tests.crash.paid import BALANCE, OWN, spend, spend_own


def kill(what: str, store: Path, place: str, nth: int) -> None:
    env = {**os.environ, "JETON_FAILPOINT": f"{place}:{nth}"}
    done = subprocess.run([sys.executable, "-m", "tests.crash.paid", what, str(store)], env=env, check=False)
    assert done.returncode in (-signal.SIGKILL, 0)  # commits may be shared, and then there are fewer


@pytest.mark.parametrize("nth", range(2, 22, 4))
@pytest.mark.parametrize("place", ["before_commit", "after_commit"])
async def test_a_killed_process_neither_loses_nor_doubles_a_credit(tmp_path: Path, place: str, nth: int) -> None:
    store = tmp_path / "runs.db"
    kill("spend", store, place, nth)
    left, granted, used = await spend(store)
    assert (granted, left + used) == (0, BALANCE)
    assert verify(store).problems == ()


@pytest.mark.parametrize("nth", range(2, 30, 4))
@pytest.mark.parametrize("place", ["before_commit", "after_commit"])
async def test_a_killed_tree_spends_what_it_was_given_and_no_more(tmp_path: Path, place: str, nth: int) -> None:
    store = tmp_path / "runs.db"
    kill("spend_own", store, place, nth)
    assert await spend_own(store) == [OWN] * 3
    assert verify(store).problems == ()

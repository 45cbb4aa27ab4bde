"""A process that spends credits is killed at its Nth commit: none is lost, and none is spent twice."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jeton.hosts.sqlite.verify import verify
from tests.crash.paid import BALANCE, spend


@pytest.mark.parametrize("nth", range(2, 22, 4))
@pytest.mark.parametrize("place", ["before_commit", "after_commit"])
async def test_a_killed_process_neither_loses_nor_doubles_a_credit(tmp_path: Path, place: str, nth: int) -> None:
    store = tmp_path / "runs.db"
    env = {**os.environ, "JETON_FAILPOINT": f"{place}:{nth}"}
    done = subprocess.run([sys.executable, "-m", "tests.crash.paid", str(store)], env=env, check=False)
    assert done.returncode in (-signal.SIGKILL, 0)  # commits may be shared, and then there are fewer
    left, granted, used = await spend(store)
    assert (granted, left + used) == (0, BALANCE)
    assert verify(store).problems == ()

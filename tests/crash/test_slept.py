"""A process whose nodes sleep is killed at its Nth commit: what was done before a sleep is not done again after it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jeton.hosts.sqlite.tools.verify import verify
from tests.crash.slept import RUNS, sleep


@pytest.mark.parametrize("nth", range(2, 20, 3))
@pytest.mark.parametrize("place", ["before_commit", "after_commit", "before_effects"])
async def test_a_killed_process_goes_on_behind_its_sleeps(tmp_path: Path, place: str, nth: int) -> None:
    store = tmp_path / "runs.db"
    env = {**os.environ, "JETON_FAILPOINT": f"{place}:{nth}"}
    done = subprocess.run([sys.executable, "-m", "tests.crash.slept", str(store)], env=env, check=False)
    assert done.returncode in (-signal.SIGKILL, 0)  # commits may be shared, and then there are fewer
    slept = await sleep(store)
    assert len(set(map(str, slept.given))) == RUNS
    assert sorted(map(str, slept.fell_asleep)) == sorted(map(str, slept.woke_up)) == sorted(map(str, slept.given))
    assert set(slept.attempts) <= {1}  # a sleep may be over before the run could say that it began
    assert verify(store).problems == ()

"""A process that fires triggers is killed at its Nth commit: every delivery starts one run, and no second."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jeton.hosts.sqlite.tools.verify import verify
from tests.crash.fired import DELIVERIES, fire_all


@pytest.mark.parametrize("nth", range(2, 22, 4))
@pytest.mark.parametrize("place", ["before_commit", "after_commit"])
async def test_a_killed_process_has_fired_each_delivery_once(tmp_path: Path, place: str, nth: int) -> None:
    store = tmp_path / "runs.db"
    env = {**os.environ, "JETON_FAILPOINT": f"{place}:{nth}"}
    done = subprocess.run([sys.executable, "-m", "tests.crash.fired", str(store)], env=env, check=False)
    assert done.returncode in (-signal.SIGKILL, 0)  # the last commits may be shared, and then there are fewer
    if store.exists():
        assert verify(store).problems == ()
    assert set((await fire_all(store)).values()) == {len(DELIVERIES)}
    assert set((await fire_all(store)).values()) == {len(DELIVERIES)}

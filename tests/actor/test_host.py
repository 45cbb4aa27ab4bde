"""The host protocol, as the type checkers see it: both hosts fulfil it, and one that lacks something does not."""

import subprocess
import sys
from pathlib import Path

from jeton.actor.host import Host, Reads
from jeton.actor.workers import Workers
from jeton.executor import Executor
from jeton.hosts.simulated.host import SimulatedHost
from jeton.hosts.simulated.reads import SimulatedReads
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.reads import SqliteReads

# checked by mypy and pyright, not when it is run
HOSTS: tuple[type[Host], ...] = (SqliteHost, SimulatedHost)
READS: tuple[type[Reads], ...] = (SqliteReads, SimulatedReads)
WORKERS: tuple[type[Workers], ...] = (Executor,)

ROOT = Path(__file__).parents[2]
CODE = """
from jeton.actor.host import Host
from jeton.actor.starts import NewRun
from jeton.hosts.simulated.host import SimulatedHost
from jeton.hosts.sqlite import SqliteHost


class Forgetful(SimulatedHost):
    async def start(self, new: NewRun) -> None:  # type: ignore[override]
        pass


hosts: tuple[type[Host], ...] = (SqliteHost, SimulatedHost)
not_one: type[Host] = Forgetful
"""


def test_mypy_takes_both_hosts_and_no_other() -> None:
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "-c", CODE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    (problem, *_) = done.stdout.splitlines()
    assert 'expression has type "type[Forgetful]", variable has type "type[Host]"' in problem
    assert "Found 1 error in 1 file" in done.stdout

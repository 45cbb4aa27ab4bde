"""A worker of a cluster, which is killed, stopped and woken by the test.

usage: python -m tests.cluster.worker URL EFFECTS     EFFECTS: a file to which each attempt of a task is appended
"""

import asyncio
import os
import sys
from pathlib import Path

from jeton.hosts.postgres.host import PgHost
from jeton.model.definition.task import Task
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask
from jeton.model.ids import RunId
from tests.hosts.trivial import Finished, Noted, Started, TrivialWorkers
from tests.hosts.works import work


class LoggingWorkers(TrivialWorkers):
    """Appends the key of each attempt to a file."""

    def __init__(self, effects: Path) -> None:
        super().__init__(work)
        self._file = os.open(effects, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def start(
        self,
        run: RunId,
        effect: StartTask,
        task: Task,
        bundle: Library,
        started: Started,
        noted: Noted,
        finished: Finished,
    ) -> None:
        os.write(self._file, f"{run}:{effect.token}:{effect.attempt}\n".encode())
        super().start(run, effect, task, bundle, started, noted, finished)


async def main(url: str, effects: Path) -> None:
    """Work until killed."""
    await PgHost.open(url, workers=LoggingWorkers(effects))
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))

"""The process that does the jobs: `python -m jeton.api.apart.worker SECONDS [APP]`. It ends when its input does."""

import os
import pickle
import struct
import sys
import traceback
from typing import IO, Final

from jeton.api.apart.jobs import FailedJob, Job, Result, done
from jeton.engine.build.app import import_app

LENGTH: Final = struct.Struct(">Q")
READY: Final = b"+"  # written first: from then on, time counts
MEMORY: Final = 2 << 30
NICENESS: Final = 2


def main() -> None:
    """Do one job after the other."""
    seconds = int(sys.argv[1])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed does not mix with the answers
    os.nice(NICENESS)
    for app in sys.argv[2:]:
        import_app(app)
    answers.write(READY)
    answers.flush()
    while (job := _read(sys.stdin.buffer)) is not None:
        _limit(seconds)
        content = pickle.dumps(_result(job))
        answers.write(LENGTH.pack(len(content)) + content)
        answers.flush()


def _result(job: Job) -> Result:
    try:
        return done(job)
    except (MemoryError, RecursionError):
        return FailedJob("", bounded=True)
    except Exception:
        return FailedJob(traceback.format_exc(), bounded=False)


def _read(source: IO[bytes]) -> Job | None:
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    job: Job = pickle.loads(source.read(LENGTH.unpack(head)[0]))
    return job


def _limit(seconds: int) -> None:
    """Bound this process, also for the case that the server has died and nobody ends it."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


if __name__ == "__main__":
    main()

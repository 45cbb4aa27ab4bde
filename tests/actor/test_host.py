"""The host protocol, as the type checkers see it: both hosts fulfil it, and one that lacks something does not.

What is checked here is checked by mypy, which reports an ignored error that is none, and by pyright."""

from inspect import iscoroutinefunction

from jeton.actor.host import Host, Reads
from jeton.actor.starts import NewRun
from jeton.actor.workers import Workers
from jeton.executor import Executor
from jeton.hosts.simulated.host import SimulatedHost
from jeton.hosts.simulated.reads import SimulatedReads
from jeton.hosts.sql.reads import SqlReads
from jeton.hosts.sqlite import SqliteHost

HOSTS: tuple[type[Host], ...] = (SqliteHost, SimulatedHost)
READS: tuple[type[Reads], ...] = (SqlReads, SimulatedReads)
WORKERS: tuple[type[Workers], ...] = (Executor,)


class ForgetfulHost(SimulatedHost):
    async def start(self, new: NewRun) -> None:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        pass


NO_HOST: type[Host] = ForgetfulHost  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]


def test_the_hosts_have_every_method_that_is_awaited() -> None:
    members = {name for name, member in vars(Host).items() if iscoroutinefunction(member)}
    assert {"start", "deliver"} <= members
    for host in HOSTS:
        assert members <= set(dir(host))

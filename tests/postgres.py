"""A PostgreSQL server for tests: of the binaries that Debian installs, in a folder of its own, on a socket."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from pwd import getpwnam
from secrets import token_hex

import psycopg

from jeton.hosts.postgres.host import prepare_store


def binaries() -> Path | None:
    """The folder of the newest server that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
    return found[-1] if found and (found[-1] / "postgres").exists() else None


class Server:
    """A running server. It does not sync its files, unless `durable`."""

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        found = binaries()
        assert found is not None, "PostgreSQL is not installed: run `make postgres`"
        self.binaries = found
        self.folder = folder
        self.durable = durable
        self.user = _unprivileged()
        if self.user is not None:
            os.chown(folder, getpwnam(self.user).pw_uid, -1)
        folder.chmod(0o711)
        self._run("initdb", "-D", str(folder / "data"), "-U", "jeton", "-A", "trust", "-E", "UTF8", "--no-sync")
        self._process: subprocess.Popen[bytes] | None = None

    def _run(self, program: str, *arguments: str) -> None:
        line = [str(self.binaries / program), *arguments]
        done = subprocess.run(line, user=self.user, cwd=self.folder, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        settings = {
            "unix_socket_directories": str(self.folder),
            "listen_addresses": "",
            "max_connections": "300",
            "shared_buffers": "32MB",
            "autovacuum_naptime": "5s",
            "fsync": "on" if self.durable else "off",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        line = [str(self.binaries / "postgres"), "-D", str(self.folder / "data"), *options]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                line, user=self.user, cwd=self.folder, stdout=log, stderr=log, start_new_session=True
            )
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
                return
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self.folder / "log").read_text()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT ends its sessions, SIGQUIT is a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def url(self, database: str) -> str:
        """The address of a database."""
        return f"postgresql://jeton@/{database}?host={self.folder}"

    def new_database(self, template: str = "template1") -> str:
        """The address of a new database: empty, or a copy of another."""
        name = f"test_{token_hex(6)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as db:
            db.execute(f"create database {name} template {template} strategy file_copy".encode())
        return self.url(name)

    @cached_property
    def new_store(self) -> Callable[[], str]:
        """Makes stores without runs, and gives their addresses: copies of one, because that is quicker."""
        first = self.new_database()
        prepare_store(first, create=True)
        return partial(self.new_database, first.partition("@/")[2].partition("?")[0])

    def drop(self, url: str) -> None:
        """Drop a database, and end its sessions."""
        name = url.partition("@/")[2].partition("?")[0]
        with psycopg.connect(self.url("postgres"), autocommit=True) as db:
            db.execute(f"drop database {name} with (force)".encode())


def _unprivileged() -> str | None:
    """The user that the server runs as: PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            getpwnam(name)
            return name
        except KeyError:
            continue
    raise AssertionError("there is no user that PostgreSQL could run as")


@contextmanager
def running(*, durable: bool = False) -> Generator[Server]:
    """A server, in a folder that is removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="jeton-pg-"))
    server = Server(folder, durable=durable)
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)

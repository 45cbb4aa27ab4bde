"""Verbs as a user calls them at a server: the same verbs, with `--url` and the key in the environment."""

from pathlib import Path

import pytest

from tests.api.listed import Server
from tests.cli.verbs import Verbs

both = pytest.mark.parametrize("jeton", ["store", "url"], indirect=True)
"""A test that runs once on a store, and once through a server."""


class ServedVerbs(Verbs):
    """A folder with a library, and a server that owns the store in it."""

    served = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._server = Server(self.store).start()

    def stop(self) -> None:
        self._server.stop()

    def environment(self) -> dict[str, str]:
        return {"JETON_KEY": self._server.key, "JETON_STORE": str(self.folder / "none.db")}

    def where(self) -> list[str]:
        return ["--url", self._server.url]

    def parked(self, name: str) -> str:
        run = str(self.run(name, "--wait", "0", exits=4)["run_id"])
        self._server.call(lambda engine: engine.idle())
        return run

    def drive(self) -> None:
        self._server.call(lambda engine: engine.idle())

"""Runs, definitions and compiled programs of a host, looked up. Raises Refused for what is not there."""

from jeton.actor.advance import LiveRun
from jeton.actor.host import Host
from jeton.actor.rows import RunRow
from jeton.engine.arguments import check_texts
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.reference import Reference
from jeton.planning.program.compile import compile_definition
from jeton.planning.program.workflow import Program


class Lookup:
    """Looks up runs and definitions for the parts of an engine. Programs are compiled once."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._programs: dict[tuple[str, int], Program] = {}

    async def row(self, run: str) -> RunRow:
        """A run's row."""
        row = await self.row_unless_set_aside(run)
        if row is None:
            raise self.host.set_aside[RunId(run)]
        return row

    async def row_unless_set_aside(self, run: str) -> RunRow | None:
        """A run's row; None if it is set aside and has none, because its start ends the process."""
        check_texts(run=run)
        row = await self.host.reads.row(RunId(run))
        if row is None and RunId(run) not in self.host.set_aside:
            raise Refused("unknown_run", f"there is no run '{run}' in this store", "list the runs there are")
        return row

    async def live(self, run: RunId) -> LiveRun:
        """The state of a run that has a row."""
        live = await self.host.reads.live(run)
        assert live is not None, "a run with a row has sections"
        return live

    async def tree(self, run: RunId) -> list[RunId]:
        """The run, and every run it called, however deep."""
        found = [run]
        for each in found:
            found += [row.run for row in await self.host.reads.children(each)]
        return found

    async def bundle(self, name: str, version: int | None = None) -> tuple[Library, int]:
        """A deployed version of a workflow; without a number, the one deployed last."""
        check_texts(workflow=name)
        found = await self.host.reads.bundle(name, version)
        if found is None:
            called = Reference(name, version)
            raise Refused("unknown_workflow", f"no workflow '{called}' is deployed in this store", "deploy it first")
        return found

    async def program(self, name: str, version: int) -> Program:
        """A deployed version, compiled."""
        if (name, version) not in self._programs:
            bundle, _ = await self.bundle(name, version)
            self._programs[name, version] = compile_definition(bundle, name)
        return self._programs[name, version]

"""What queries see beside the rows of runs: gates, usage, snapshots and artifacts, as each turn says."""

import msgspec

from jeton.actor.queries.snapshots import Snapshot
from jeton.actor.rows import GateRow, TokensUsed, Usage
from jeton.actor.turn import Turn
from jeton.executor.artifacts import ArtifactReference, MemoryArtifactIndex
from jeton.model.ids import RunId, TokenId, names_below


class ArtifactTable(MemoryArtifactIndex):
    """Which runs hold which artifacts."""

    def inherit(self, run: RunId, caller: RunId) -> None:
        """A run holds what its caller does."""
        for (_, *rest), held in [item for item in self._held.items() if item[0][0] == caller]:
            self._held.setdefault((run, rest[0], rest[1]), held)

    def remove_run(self, run: RunId) -> None:
        """Remove everything that a run holds."""
        self._held: dict[tuple[RunId, str, str], ArtifactReference] = {
            key: held for key, held in self._held.items() if key[0] != run
        }


class Tables:
    """Written with each commit, in the same transaction."""

    def __init__(self) -> None:
        self._gates: dict[tuple[RunId, TokenId], GateRow] = {}
        self._usage: dict[tuple[str, RunId, str], Usage] = {}  # by day, run and node
        self._snapshots: dict[RunId, tuple[int, Snapshot]] = {}  # after which entry
        self.artifacts = ArtifactTable()

    def write(self, turn: Turn) -> None:
        """Take over what a turn changed."""
        head, queries = turn.head, turn.queries
        for gate in queries.gates:
            self._gates[head.run, gate.token] = gate
        for token in queries.closed_gates:
            self._gates.pop((head.run, token), None)
        for spent in queries.credits:
            used = self._used(head.run, spent.node, spent.day, head.workflow)
            self._usage[spent.day, head.run, spent.node] = msgspec.structs.replace(
                used, credits=used.credits + spent.credits, shortfall=used.shortfall + spent.shortfall
            )
        for counted in queries.tokens:
            used = self._used(head.run, counted.node, counted.day, head.workflow)
            before = used.tokens.get(counted.profile, TokensUsed(0, 0))
            used.tokens[counted.profile] = TokensUsed(before.input + counted.input, before.output + counted.output)
        if queries.snapshot is not None:
            self._snapshots[head.run] = head.entries - 1, queries.snapshot
        if turn.first and head.parent is not None and head.parent.inherit_artifacts:
            self.artifacts.inherit(head.run, head.parent.run)

    def _used(self, run: RunId, node: str, day: str, workflow: str) -> Usage:
        return self._usage.setdefault((day, run, node), Usage(run, node, day, workflow, 0, 0, {}))

    def remove(self, run: RunId) -> None:
        """Remove what belongs to a run alone. What it used stays on record."""
        self._snapshots.pop(run, None)
        self.artifacts.remove_run(run)

    def gates(self, run: RunId | None) -> list[GateRow]:
        """Open gates, oldest first: of one run, or of all."""
        found = [gate for gate in self._gates.values() if run in (None, gate.run)]
        return sorted(found, key=lambda gate: (gate.since, gate.run, gate.token))

    def usage(self, run: RunId | None, workflow: str | None, day: str | None, *, below: bool) -> list[Usage]:
        """What was used, by day, run and node; with `below`, also by the runs that a run called."""
        first, last = names_below(run) if run is not None and below else ("", "")
        return [
            used
            for _, used in sorted(self._usage.items(), key=lambda item: item[0])
            if (run is None or used.run == run or first < used.run < last)
            and workflow in (None, used.workflow)
            and day in (None, used.day)
        ]

    def snapshot_after(self, run: RunId) -> int | None:
        """The entry that the run's snapshot was taken after."""
        found = self._snapshots.get(run)
        return None if found is None else found[0]
